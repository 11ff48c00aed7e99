// ReplicatedQueue: chains of a write and a flush, as messages of a replicated log: one a chain, unless it is
// longer than the servers take.
//
// Flow        submit(): into the engine's own copy, and to the log, without waiting -> wait(): acknowledged,
//             the chain ends
// Invariants  a segment's pieces are appended in the order of their offsets, the first with its header page.
//             What a checkpoint made superfluous is dropped from the log's front. A file's handle is its
//             segment's number.
// Threads, waiting  as IoQueue says; and once, when the log has failed, for the copy to be saved.
// Errors      once the log has failed no chain succeeds any more: failure() says why. Unless it is for a
//             later term, the engine's copy is saved into the data directory before.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "logging/device/io_queue.h"
#include "logging/remote/remote_segments.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

class ReplicatedQueue : public IoQueue {
 public:
  // `segments` outlives the queue.
  ReplicatedQueue(std::unique_ptr<ReplicatedAppender> log, RemoteSegments& segments)
      : segments_(segments), log_(std::move(log)) {}

  int attach(int handle) override;
  void submit(const IoChain& chain) override;
  void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) override;
  void wake() override { log_->wake(); }
  std::optional<Error> failure() const override { return failure_; }

 private:
  struct Attached {
    std::shared_ptr<SegmentCopy> copy;
    uint64_t end = 0;  // so many messages were appended when its last one was
  };
  struct InFlight {
    uint64_t tag;
    uint64_t end;  // so many messages must be acknowledged
  };

  void let_go_of_dropped();

  RemoteSegments& segments_;
  std::map<uint32_t, Attached> attached_;  // by number
  std::deque<InFlight> in_flight_;
  uint64_t appended_ = 0;
  std::optional<Error> failure_;

  const std::unique_ptr<ReplicatedAppender> log_;  // last: it ends first, as it sends from the copies
};

}  // namespace mneme
