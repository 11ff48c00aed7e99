// RemoteSegments: the segments of a log that goes round on other machines (log servers, a replicated log): an
// engine's own copy of each, how many there may be, and when one is free again. SepLog's cyclic log files.
//
// Flow        make(), by the segment supply -> copy(), fill(), by the queue -> a checkpoint passes it -> it
//             leaves the manifest, and its memory serves the next one; take_dropped() reports it to the queue
// Invariants  there are never more than `files`: the next one is made once a checkpoint has made an older one
//             superfluous, so nothing that recovery needs is ever written over. A segment leaves the manifest
//             before it is dropped. space() gets scarce when the last one is begun, so that a whole segment
//             is left for what is under way.
// Threads     make: the supply's. copy, fill, take_dropped, give_back, save_after: the flusher. space: any.
// Waiting     make(), for a checkpoint.
// Errors      the manifest can't be replaced, or a copy not be saved: a sentence.
// Source      SepLog, section 3: cyclic redo logs, and section 4.2: the second copy, on the engine's machine.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/function_ref.h"
#include "base/memory/aligned_bytes.h"
#include "base/result.h"
#include "logging/device/io_queue.h"
#include "logging/device/log_device.h"
#include "logging/directory/manifest.h"
#include "logging/directory/segment_supply.h"

namespace mneme {

// An engine's copy of a segment. The supply makes it; the flusher's alone from then on.
struct SegmentCopy {
  uint32_t number = 0;
  AlignedBytes bytes;
  uint64_t filled = 0;  // of them, which are the segment's

  explicit SegmentCopy(size_t size) : bytes(size) {}
  ByteSpan content() const { return ByteSpan(bytes.span()).first(filled); }
};

class RemoteSegments {
 public:
  RemoteSegments(ManifestFile& manifest, size_t segment_bytes, uint32_t files);

  // As SegmentMaker says. The segment's handle is its number.
  Result<std::shared_ptr<Segment>> make(uint32_t number, FunctionRef<bool()> closing);
  // The copy of a segment that was made.
  std::shared_ptr<SegmentCopy> copy(uint32_t number) const;
  // The copies of those that were dropped since it was called last; to be given back when the queue no longer
  // sends from them.
  std::vector<std::shared_ptr<SegmentCopy>> take_dropped();
  void give_back(std::shared_ptr<SegmentCopy> copy);
  LogSpace space();
  // Takes what a chain writes behind the rest of the copy, with which its segment begins where it is the
  // first.
  void fill(SegmentCopy& copy, const IoChain& chain);
  // Writes every segment into its file, durably: from then on they lie in the directory. For a log that has
  // ended, as `why` says; returns that, and what became of it.
  Error save_after(const std::string& why);

 private:
  struct Entry {
    std::shared_ptr<SegmentCopy> copy;
    std::optional<StreamPosition> begin;  // nothing: not begun
  };

  Result<void> save();
  Result<void> drop_superfluous();
  // The segment's first record stands there: the ones before lie below.
  void begins_at(uint32_t number, StreamPosition begin);
  Result<void> remove_leftover(const std::string& file);
  std::shared_ptr<SegmentCopy> free_copy();
  void update_space();

  ManifestFile& manifest_;
  const size_t segment_bytes_;
  const uint32_t files_;

  // Written under the mutex; read by space(). Relaxed: a reader that sees it late is late by as much.
  std::atomic<LogSpace> space_{LogSpace::kEnough};

  mutable std::mutex mutex_;   // guards all below; never held while the manifest is written
  std::deque<Entry> entries_;  // by number
  std::vector<std::shared_ptr<SegmentCopy>> spare_;
  bool has_ended_ = false;  // save() was called: no more are made
  std::vector<std::shared_ptr<SegmentCopy>> dropped_;
};

}  // namespace mneme
