// NvmLog: Fang's log: each worker writes its record into persistent memory, at the place that its LSN names,
// and hardens it by itself. No flusher, no prefix: it is durable at once, whatever holes are left before it.
//
// Flow        await_space -> reserve -> fill: the record is stored and hardened on return -> the transaction
//             installs its writes -> acknowledged. After a crash the log reader scans the segments and skips
//             the holes.
// Invariants  a worker has at most one record reserved and not hardened; every other record below the tail is
//             durable. Where a reservation would cross a segment's end, two skip records take its place, and
//             another is drawn.
// Soundness   a crash loses the records that stood between reserve() and the end of fill(), among ones that
//             survive. Let L be lost and S survive it.
//               L wrote, S read or wrote the same: not so. L installs, and unlocks, only after fill()
//               (leaves_holes(),
//                 engine/transaction/transaction_commit.cc), so S saw its lock, and was not committed on top
//                 of it.
//               L read, S overwrote: S does not depend on L. It replays as well without it. Absence is like a
//               row's state: an insert of L's stood claimed, not live, so S took it for absent. A client was
//               acknowledged L: not so. It is acknowledged after fill(), and so is a client whose transaction
//               read what L wrote.
//             So what survives, in the order of the LSNs, is a serial history: the one that ran, less
//             transactions that no other saw. (Early lock release would break it: what is read before it is
//             hardened can be lost under its reader. A log with a durable prefix loses both.)
// Price       a scan sees the same of a lost record and of one that was damaged afterwards. Three facts
//             distinguish them: a crash leaves no more holes, and no longer ones, than its workers can; a log
//             that was closed in order leaves none; and the manifest notes those of earlier lives.
// Threads, waiting, errors  as CommitLog says; fill() takes the memory's latency, busy.
// Source      Fang, Hsiao, He, Mohan, Wang: "High Performance Database Logging using Storage Class Memory"
//             (ICDE'11), as Jung et al., "Scalable Database Logging for Multicores" (VLDB'17, ELEDA),
//             sections 2.3.1 and 6.4.3, retell it.
#pragma once

#include <memory>

#include "base/cache_line.h"
#include "logging/commit/directory_log.h"
#include "logging/nvm/nvm_space.h"
#include "logging/record/record_format.h"
#include "logging/record/record_writer.h"

namespace mneme {

struct NvmLogOptions {
  uint32_t workers = 1;
  size_t largest_payload_bytes = kMaxPayloadBytes;
  size_t segment_bytes = size_t{32} << 20;
  uint32_t segments_ahead = 1;
  PersistentMemoryOptions memory{};
  bool hardens = true;  // false: the fence is left out; a crash test must fail on it
};

class NvmLog final : public DirectoryLog {
 public:
  // As log_factory.h says. `manifest` outlives the log.
  static Result<std::unique_ptr<NvmLog>> open(ManifestFile& manifest, const NvmLogOptions& options);
  // Notes in the manifest that the log was closed in order: from then on a hole is damage.
  ~NvmLog() override;

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  bool leaves_holes() const override { return true; }
  // Past everything: an LSN that is known is a hardened record's.
  Lsn durable() const override;
  bool wait_durable(Lsn) override { return true; }
  std::optional<Error> failure() const override { return space_->failure(); }

  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override { return std::nullopt; }
  const std::vector<std::string>& notices() const override { return notices_; }

 private:
  // One a worker. The counts are written by the worker and read by counters(); relaxed: they order nothing.
  struct WorkerState {
    RecordWriter writer;
    std::atomic<uint64_t> hardened_records{0};  // skip records at segments' ends included
    std::atomic<uint64_t> hardened_bytes{0};
  };

  NvmLog(ManifestFile& manifest, std::unique_ptr<NvmSpace> space, const NvmLogOptions& options);
  // Stores the encoded record and hardens it.
  void put(WorkerState& state, StreamPosition begin, ByteSpan header, ByteSpan payload);

  ManifestFile& manifest_;
  const NvmLogOptions options_;
  const RecordLayout layout_;
  const std::unique_ptr<CachePadded<WorkerState>[]> states_;
  const std::unique_ptr<NvmSpace> space_;
  std::vector<std::string> notices_;
};

}  // namespace mneme
