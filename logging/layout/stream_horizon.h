// StreamHorizon: the CommitHorizon of streams that flushers write, the clocks of a distributed log
// (distributed_log.h): which records are published, how far each stream has hardened them, and so what is
// durable in the commit order.
//
// Flow        worker: draw() -> ends_in() -> write its record into one stream, or parts into several ->
//             published() each -> settled() flusher of stream i: gathers() notes a mark (m, e): every record
//             with a GSN below m that stream i holds ends at or before e -> ... -> rose(): the stream is
//             durable up to e or beyond, so its clock rises to m durable(): the lowest of the streams' clocks
// Invariants  a stream's clock at m: all its records with a GSN below m are durable. It never falls. A stream
//             with nothing on its way is synchronised: its clock rises to what a mark of this moment would
//             say, so that an idle stream delays no other (Aether, section 7.3.3, step 1). Every record is
//             covered in the end: the flusher of the stream that it ends in does not lie down before its
//             worker has settled, and looks once more then.
// Soundness   of a mark. m is the minimum of the counter, loaded first, and of all workers' bounds: all
//             records below it are published (bound_set.h), in their streams' buffers and in `ends`,
//             which a worker stores before it clears its bound. So an `ends` that is read after the bounds
//             covers each of them.
// Threads     draw, ends_in, published, settled: the worker they name. gathers, rose, may_sleep: the stream's
//             flusher. The rest: any.
// Waiting     await(). A mutex is held for the scan of workers and streams, by flushers and by threads that
//             begin to wait.
// Source      Aether, sections 7.2 to 7.4; the lowest of all clocks is what the daemon of passive group
//             commit looks for ("Scalable Logging through Emerging Non-Volatile Memory", section 4.1), by
//             thread there.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/atomic.h"
#include "base/cache_line.h"
#include "base/event_count.h"
#include "base/fifo_queue.h"
#include "base/strong_id.h"
#include "logging/buffer/bound_set.h"
#include "logging/commit/commit_horizon.h"
#include "logging/commit/sequence_counter.h"
#include "logging/commit/stream_options.h"

namespace mneme {

class StreamHorizon final : public CommitHorizon {
 public:
  StreamHorizon(Lsn begin, uint32_t streams, uint32_t appenders);

  Lsn draw(WorkerId worker) override {
    bounds_.publish(worker.value, counter_.bound().value);
    return counter_.draw();
  }
  void ends_in(WorkerId worker, uint32_t stream) override {
    bounds_.beside(worker.value).last_stream.store(stream, std::memory_order_release);
  }
  void published(WorkerId worker, uint32_t stream, StreamPosition end) override {
    bounds_.beside(worker.value).ends[stream].store(end.value, std::memory_order_release);
  }
  void settled(WorkerId worker, Lsn, RecordKind) override { bounds_.clear(worker.value); }

  void gathers(uint32_t stream) override;
  void rose(uint32_t stream, StreamPosition stream_durable) override;
  bool may_sleep(uint32_t stream) override;

  Lsn drawn() const override { return counter_.drawn(); }
  Lsn durable() const override { return Lsn{durable_->load(std::memory_order_acquire)}; }
  bool await(Lsn lsn) override;
  void fail() override;
  bool has_failed() const override { return failed_.load(std::memory_order_acquire); }

 private:
  // The worker's alone to write (release, before its bound is cleared), read by scans (acquire).
  struct Published {
    Atomic<uint32_t> last_stream{0};  // whose flusher must not overlook that the bound is cleared
    // By stream: the end of the worker's last record there.
    std::array<Atomic<uint64_t>, kMostStreams> ends{};
  };
  // The stream's records below `gsn` end at or before `end`.
  struct Mark {
    Lsn gsn;
    StreamPosition end;
  };
  struct Stream {
    FifoQueue<Mark> marks;  // rising, of what is not durable yet
    StreamPosition durable = kFirstPosition;
    Lsn clock;
  };

  Lsn oldest_unpublished() const;
  StreamPosition end_of(uint32_t stream) const;
  void evaluate();

  SequenceCounter counter_;
  BoundSet<Published> bounds_;  // by worker

  // Written by an evaluation (release: the records below are durable before any thread hears of it); read by
  // all (acquire).
  CachePadded<std::atomic<uint64_t>> durable_;
  std::atomic<bool> failed_{false};  // written by fail() (release), read by waiters (acquire)
  EventCount risen_;                 // durable_ or failed_ changed

  std::mutex mutex_;  // guards streams_, and writes of durable_
  std::vector<Stream> streams_;
};

}  // namespace mneme
