// StandbyLog: what a standby's database has for a log. Its records are another engine's, which replay puts
// into the rows, until the database goes on with a log of its own.
//
// Flow        replayed_to(), after each round -> durable(), to which what readers have seen is held
//             promotion: go_on_with(the log) -> transactions
// Invariants  no transaction writes before go_on_with(): reserve() and fill() are never called. durable()
//             never falls: a log of its own begins where the replayed one ends.
// Threads     replayed_to(), end(), go_on_with(): one owner. The rest: as CommitLog says.
// Orders      log_ is released by go_on_with() and acquired by all others. replayed_ is relaxed: it hands
//             nothing over, as readers enter the schema's latch behind the round (schema_latch.h).
// Waiting     wait_durable(): until replay has passed the LSN, or the log ends.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "logging/commit/directory_log.h"

namespace mneme {

class StandbyLog final : public DirectoryLog {
 public:
  explicit StandbyLog(Lsn replayed) : replayed_(replayed.value) {}
  ~StandbyLog() override;

  // All records below it are in the rows.
  void replayed_to(Lsn end);
  // From now on it is this log, whose records begin at durable() or behind. No transaction runs.
  void go_on_with(std::unique_ptr<DirectoryLog> log);
  // No more is replayed: what waits for more waits in vain.
  void end();
  // Whether it is still the other engine's.
  bool follows() const { return log_.load(std::memory_order_acquire) == nullptr; }

  bool await_space(WorkerId worker, uint32_t payload_bytes) override;
  Lsn reserve(WorkerId worker, uint32_t payload_bytes) override;
  void fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) override;
  bool leaves_holes() const override;
  Lsn durable() const override;
  bool wait_durable(Lsn lsn) override;
  std::optional<Error> failure() const override;
  LogCounters counters() const override;
  std::optional<GroupCommit> group() const override;
  bool wants_checkpoint() override;
  const std::vector<std::string>& notices() const override;

 private:
  DirectoryLog& own() const;

  std::atomic<uint64_t> replayed_;
  std::atomic<DirectoryLog*> log_{nullptr};  // own_'s
  std::mutex mutex_;                         // orders changes with wait_durable()
  std::condition_variable changed_;
  bool has_ended_ = false;  // guarded by mutex_
  std::unique_ptr<DirectoryLog> own_;
  const std::vector<std::string> no_notices_;
};

}  // namespace mneme
