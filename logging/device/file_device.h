// FileDevice: the log in segment files, as blocks that are written once, through an IoQueue.
//
// Flow        append() lays whole records out in blocks -> one chain (write, sync) -> wait() takes those that
//             ended
// Stripes     one for each directory, with a segment of its own: chains go to them in turns, so that their
//             devices work side by side. Readers put the blocks in order by LSN.
// Invariants  a chain begins and ends on a record boundary and lies in one segment. Chains end in any order;
//             what a failed chain held back stays held back (flush_order.h). Each append pads its last block:
//             a block that was written is never written again, so no crash can harm what was durable.
// Threads     as LogDevice says.
// Errors      the first failed chain, or the missing next segment, ends the log. Nothing is retried.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/memory/aligned_bytes.h"
#include "logging/device/flush_order.h"
#include "logging/device/io_queue.h"
#include "logging/device/log_device.h"
#include "logging/directory/segment_supply.h"

namespace mneme {

struct FileDeviceOptions {
  StreamPosition begin = kFirstPosition;
  size_t segment_bytes = 0;
  uint32_t segments_ahead = 1;    // ready before the first append, a stripe; later one is
  bool segments_at_need = false;  // SegmentSupplyOptions::at_need
  bool reuses_segments = true;    // takes files that a checkpoint has passed, where segments are files
  size_t largest_record_bytes = 0;
  uint32_t chains = 4;    // in flight at most
  size_t unit_bytes = 0;  // of one chain, at most, unless one record needs more
  bool direct_io = true;
  IoChain::Durability durability = IoChain::Durability::kSync;
  std::vector<std::string> directories{""};  // one a stripe, as SegmentSupplyOptions says
  // For a logger (epoch_log.h): its number, and what numbers the segments of all loggers; else the device's
  // own does.
  std::optional<uint32_t> logger{};
  std::shared_ptr<SegmentNumbers> numbers{};
  // For a stream (distributed_log.h): what is durable over all of them, in the commit order.
  std::function<Lsn()> durable_gsn{};
  // And how its records follow one another, where they come from a ring in persistent memory (nvm_ring.h).
  std::optional<RecordLayout> destaged_from{};
  SegmentMaker make_segment{};  // where segments are no files in the directories
};

class FileDevice : public LogDevice {
 public:
  // Returns once the first segment is ready.
  static Result<std::unique_ptr<FileDevice>> open(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                                                  const FileDeviceOptions& options);

  StreamPosition append(const LogSource& source, StreamPosition begin, StreamPosition end) override;
  StreamPosition wait(std::chrono::nanoseconds limit) override;
  void wake() override { queue_->wake(); }
  bool ends_in_append() const override { return queue_->ends_in_submit(); }
  DeviceCounters counters() const override;
  std::optional<Error> failure() const override;

  // A sentence for each thing that had to be done without.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  // A chain in flight, by its slot: that is its tag, too, and says which of buffers_ it uses.
  struct Chain {
    std::shared_ptr<Segment> segment;  // stays open until its chains have ended
    uint64_t offset = 0;
  };
  // Where chains of one directory go.
  struct Stripe {
    std::shared_ptr<Segment> segment;
    uint32_t next_block = 0;

    uint32_t room() const { return segment->blocks - next_block; }
  };
  // The records that a chain takes: up to `end`, in `blocks` blocks.
  struct Run {
    StreamPosition end;
    uint32_t blocks;
    Lsn highest;  // of its records' LSNs
  };

  FileDevice(ManifestFile& manifest, std::unique_ptr<IoQueue> queue, const FileDeviceOptions& options);
  Run longest_run(const LogSource& source, StreamPosition begin, StreamPosition end, uint32_t block_limit);
  void lay_out(const LogSource& source, StreamPosition begin, const Run& run, const Stripe& stripe,
               std::byte* blocks);
  Stripe* stripe_with_room(uint32_t blocks);
  bool next_segment(size_t stripe);
  void drop(std::shared_ptr<Segment> segment);
  void finish(const IoCompletion& completion);
  void fail(Error error);

  const FileDeviceOptions options_;
  const uint32_t buffer_blocks_;  // of each chain's buffer
  std::vector<std::string> notices_;

  // Owned by the flusher.
  std::vector<Stripe> stripes_;
  size_t next_stripe_ = 0;
  FlushOrder order_;
  Lsn highest_;                            // of the LSNs of all records that were taken
  AlignedBytes buffers_;                   // one for each chain, one after the other
  std::vector<Chain> chains_;              // by slot
  std::vector<IoCompletion> completions_;  // of one wait()

  // Written by the flusher, read by counters(); relaxed: they order nothing.
  std::atomic<uint64_t> flushes_{0};
  std::atomic<uint64_t> device_bytes_{0};
  std::atomic<uint64_t> segment_waits_{0};

  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;

  // Last, in this order: the supplies' threads wake the queue, and all end before the buffers go.
  std::unique_ptr<IoQueue> queue_;
  const std::shared_ptr<SegmentNumbers> numbers_;
  std::vector<std::unique_ptr<SegmentSupply>> supplies_;  // one a stripe
};

}  // namespace mneme
