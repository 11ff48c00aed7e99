// LoadedSegment: a segment file of either kind, as it was read, and which of its blocks are intact.
//
// Threads  plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/record/block_format.h"
#include "logging/record/lsn.h"
#include "logging/record/record_format.h"

namespace mneme {

// A block; of a segment in persistent memory, records that follow one another without a hole.
struct LoadedBlock {
  StreamPosition begin;
  uint32_t used_bytes = 0;  // cut where the incarnation ends
  uint64_t offset = 0;      // of its first payload byte in the file
  bool payload_is_intact = false;

  StreamPosition end() const { return begin + used_bytes; }
};

struct LoadedSegment {
  std::vector<LoadedBlock>
      blocks;  // with an intact header, in the order of their place; they need not follow one another
  std::vector<std::byte> bytes;  // the blocks' payload bytes, one block's after the other's
  Lsn durable;                   // the highest durable LSN in their headers
  uint32_t progress = 0;         // the highest in their headers
  // where the first block lies that is not what was written, and that no crash leaves so
  std::optional<uint64_t> rotten_at;
  uint64_t file_bytes = 0;
  // its header page says how large the file is: made by a program that begins pepoch.log with a slot
  bool is_sized = false;
  RecordLayout layout;
  std::optional<NvmExtent> nvm;  // of a segment in persistent memory
  // A ring in persistent memory (nvm_ring.h) has no blocks: `bytes` is the whole ring as it lies in the file.
};

// Waits, no longer than `patience`, until the file has no writer: a writer holds it locked.
Result<void> wait_until_quiet(const File& file, std::chrono::milliseconds patience);

}  // namespace mneme
