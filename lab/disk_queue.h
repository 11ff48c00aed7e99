// DiskQueue: the queue by which the laboratory's log is written: a disk with a volatile cache, of which each
// write, each sector and each sync is an event.
//
// Flow        submit(): the write goes into the cache (logging/device/write_cache.h) -> a sync writes its
//             sectors to the file, one by one, in an order drawn from the seed
// Invariants  a chain has ended when submit() returns. The file holds what the medium holds. What is in the
//             cache alone is unsynced(): when the power fails each of its sectors is kept or lost, by itself.
// Threads     one.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "lab/journal.h"
#include "logging/device/io_queue.h"
#include "logging/device/write_cache.h"

namespace mneme::lab {

struct UnsyncedSector {
  uint32_t segment = 0;
  uint64_t offset = 0;  // in its file
  std::vector<std::byte> bytes;
};

// What a disk keeps while its queues come and go.
struct DiskState {
  Journal* journal = nullptr;              // nullptr: nobody looks
  std::vector<UnsyncedSector> unsynced{};  // in the order of the writes
  uint64_t seed = 1;
};

class DiskQueue final : public IoQueue {
 public:
  explicit DiskQueue(DiskState& state);

  int attach(int handle) override;
  void detach(int name) override { files_.erase(name); }
  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override;
  void wake() override {}
  bool ends_in_submit() const override { return true; }

 private:
  IoCompletion run(const IoChain& chain);
  int write_sector(int name, uint64_t offset, ByteSpan bytes);
  void add(Json event) const {
    if (state_.journal != nullptr) state_.journal->add(std::move(event));
  }

  DiskState& state_;
  std::map<int, int> files_;          // descriptors
  std::map<int, uint32_t> segments_;  // the numbers of the files that were written
  int next_name_ = 0;
  WriteCache cache_;
  std::vector<IoCompletion> ended_;
};

}  // namespace mneme::lab
