// DistributedLog: the DirectoryLog of several streams, one a socket, each a durable log of one stream with a
// buffer of its own kind, a flusher and files. Aether's layout for many sockets, with the clocks of
// distributed logging in NVM.
//
// Flow        worker: reserve() draws its GSN, fill() appends its record to its stream: reserve, write,
//             publish there stream: buffer -> flusher -> device, each at its own pace (durable_log.h)
//             horizon: durable() is the GSN below which every stream has hardened its records
//             (commit_horizon.h) after a crash: the streams are merged by GSN, up to the first hole
//             (distributed_log_reader.h)
// GSN         of a transaction: its LSN, a number in one commit sequence. Of a row: the LSN in its word,
//             which the engine keeps anyway, so no row pays 8 bytes for it. Of a stream: its clock, which its
//             blocks carry (block_format.h). A Lamport clock has to exceed whatever its owner has seen: a
//             transaction draws while its writes are locked, after all that it read or overwrites was drawn,
//             so the sequence does. It does more: it also orders a read before a later overwrite, which
//             leaves no mark on the row, so that Lamport's clocks overlook it. Calls can only be replayed in
//             that order; and the engine rests its validation, its checkpoints' boundary and the names of
//             rows without a key on it, for row images, too. So one number serves as both. Price: one shared
//             word, with one fetch_add a transaction, as in every log here. What sockets don't share is the
//             rest: the ring, the records' cache lines, the flusher's view of them.
// Partition   by transaction: a worker writes to one stream, of the NUMA node that it first ran on; where
//             there is one node, streams are dealt to workers in turns. By page: a transaction's changes go
//             to the streams of the pages, ranges of row slots, that they are of, as parts of one record
//             (stream_record.h), and its call, where it is logged, to its worker's. Then an update may write
//             to each stream, and workers share them all; redo could take a stream a core, but as here all of
//             replay starts from the merged log, that is only the paper's comparison.
// Invariants  a transaction is acknowledged when all that it may depend upon is durable, in whichever stream:
//             GSNs below its own, all of them, since tracking which costs more than it saves (Aether, section
//             7.2.1). Streams that are flushed more slowly leave holes; what lies past a hole was never
//             acknowledged.
// Memory      on persistent memory each stream's buffer is a ring there (nvm_ring.h), and a record is durable
//             in it, once its worker, and all with lower GSNs, have fenced theirs: passive group commit
//             (passive_group_commit.h), or at once where caches are durable (durable_cache_horizon.h). The
//             flushers only destage.
// Sync        Aether's log synchronisation record: each block carries the durable LSN over all streams, and
//             its own stream's clock, so no record has to be written for it. A vector of tails, as in Aether,
//             would distinguish an idle stream from one that lost its end. Here the sequence does: a lost
//             record's number is missing.
// Threads     as DirectoryLog says; one a stream is its own.
// Waiting, errors  as DirectoryLog says. The first stream that fails ends the log.
// Source      Aether (VLDB Journal 2012), sections 7.2 to 7.4; Wang, Johnson: "Scalable Logging through
//             Emerging Non-Volatile Memory" (VLDB'14), sections 3.1, 3.3 and 4.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/cache_line.h"
#include "base/memory/numa_memory.h"
#include "logging/commit/commit_horizon.h"
#include "logging/commit/directory_log.h"
#include "logging/commit/flusher_observer.h"
#include "logging/layout/durable_log.h"
#include "logging/record/stream_record.h"

namespace mneme {

class NvmRing;
class PassiveGroupCommit;

// Why no log of this layout can be opened with these options, as a sentence for the user.
Result<void> check_stream_options(const DurableLogOptions& options);

class DistributedLog final : public DirectoryLog {
 public:
  // As log_factory.h says. `manifest` outlives the log.
  static Result<std::unique_ptr<DistributedLog>> open(ManifestFile& manifest,
                                                      const DurableLogOptions& options,
                                                      const NumaView& numa = NumaView::of_machine());
  ~DistributedLog() override;

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  Lsn durable() const override { return horizon_->durable(); }
  bool wait_durable(Lsn lsn) override;
  std::optional<Error> failure() const override;

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override;
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // A stream's flusher, as the horizon hears of it.
  class Reporter final : public FlusherObserver {
   public:
    Reporter(DistributedLog& log, uint32_t stream) : log_(log), stream_(stream) {}
    void gathers() override { log_.horizon_->gathers(stream_); }
    void rose(StreamPosition durable) override { log_.horizon_->rose(stream_, durable); }
    bool may_sleep() override { return log_.horizon_->may_sleep(stream_); }
    void failed() override { log_.horizon_->fail(); }

   private:
    DistributedLog& log_;
    const uint32_t stream_;
  };
  // A worker's own.
  struct WorkerState {
    uint32_t stream = kNoStream;
    // By page, of the record that is being written.
    std::vector<RecordPiece> pieces{};
    std::vector<std::byte> part{};
  };
  static constexpr uint32_t kNoStream = ~uint32_t{0};

  DistributedLog(ManifestFile& manifest, const DurableLogOptions& options, Lsn begin, uint32_t streams,
                 const NumaView& numa);
  Result<void> open_rings(SegmentNumbers& numbers);
  // Notes in the rings that all records below it are durable.
  void mark(Lsn durable);
  void make_horizon(uint32_t streams);
  Result<void> open_streams();
  const std::string& directory_of(size_t stream) const {
    return options_.stream_directories[stream % options_.stream_directories.size()];
  }
  uint32_t choose_stream(WorkerId worker) const;
  // The streams, as bits, that the record's parts go to, which are in the worker's pieces then.
  uint64_t split(WorkerState& state, RecordKind kind, ByteSpan payload) const;
  void fill_parts(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload, uint64_t streams);

  ManifestFile& manifest_;
  const DurableLogOptions options_;
  const Lsn begin_;
  const NumaView numa_;
  std::vector<std::string> notices_;
  const std::unique_ptr<CachePadded<WorkerState>[]> states_;
  std::vector<std::unique_ptr<NvmRing>> rings_;  // of streams in persistent memory
  std::unique_ptr<CommitHorizon> horizon_;
  PassiveGroupCommit* passive_ = nullptr;  // the horizon, where it is one
  std::vector<std::unique_ptr<Reporter>> reporters_;
  // Written by open(), before other threads than the streams' own know of the log.
  std::vector<std::unique_ptr<DurableLog>> streams_;  // last: they report until they end
};

}  // namespace mneme
