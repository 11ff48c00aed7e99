// FileDevice: the log in segment files, as blocks that are written once, through an IoQueue.
//
// Flow        append() lays whole records out in blocks -> one chain (write, fdatasync) -> wait() takes those that ended
// Invariants  a chain begins and ends on a record boundary and lies in one segment. Chains end in any order; durable
//             is the end of the longest prefix of them, so what a failed chain held back stays held back.
//             Each append pads its last block: a block that was written is never written again, so no crash can harm
//             what was durable.
// Threads     as LogDevice says.
// Errors      the first failed chain, or the missing next segment, ends the log. Nothing is retried.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "base/aligned_bytes.h"
#include "logging/io_queue.h"
#include "logging/log_device.h"
#include "logging/segment_supply.h"

namespace mneme {

struct FileDeviceOptions {
  Lsn begin = kFirstLsn;
  size_t segment_bytes = 0;
  size_t largest_record_bytes = 0;
  uint32_t chains = 4;     // in flight at most
  size_t chain_bytes = 0;  // of one chain, at most; room for the largest record
  bool direct_io = true;
  bool omit_sync = false;  // only to test that a missing sync is caught
};

class FileDevice : public LogDevice {
 public:
  // Returns once the first segment is ready.
  static Result<std::unique_ptr<FileDevice>> open(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                                                  const FileDeviceOptions& options);

  Lsn append(const LogBuffer& buffer, Lsn begin, Lsn end) override;
  Lsn wait(std::chrono::nanoseconds limit) override;
  void wake() override { queue_->wake(); }
  DeviceCounters counters() const override;
  std::optional<Error> failure() const override;

 private:
  // A chain in flight.
  struct Chain {
    uint32_t slot;  // which of buffers_, and the chain's tag
    Lsn end;
    std::shared_ptr<Segment> segment;  // stays open until its chains have ended
    uint64_t offset;
    bool ended = false;
  };
  // The records that a chain takes: up to `end`, in `blocks` blocks.
  struct Run {
    Lsn end;
    uint32_t blocks;
  };

  FileDevice(ManifestFile& manifest, std::unique_ptr<IoQueue> queue, const FileDeviceOptions& options);
  Run longest_run(const LogBuffer& buffer, Lsn begin, Lsn end, uint32_t block_limit);
  void lay_out(const LogBuffer& buffer, Lsn begin, const Run& run, std::byte* blocks);
  bool next_segment();
  void finish(const IoCompletion& completion);
  void fail(Error error);

  const FileDeviceOptions options_;

  // Owned by the flusher.
  std::shared_ptr<Segment> segment_;
  uint32_t next_block_ = 0;
  Lsn durable_;
  std::vector<AlignedBytes> buffers_;
  std::vector<uint32_t> free_slots_;
  std::deque<Chain> in_flight_;            // in log order
  std::vector<IoCompletion> completions_;  // of one wait()
  bool failed_ = false;

  // Written by the flusher, read by counters(); relaxed: they order nothing.
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> device_bytes_{0};
  std::atomic<uint64_t> segment_waits_{0};

  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;

  // Last, in this order: the supply's thread wakes the queue, and both end before the buffers go.
  std::unique_ptr<IoQueue> queue_;
  SegmentSupply supply_;
};

}  // namespace mneme
