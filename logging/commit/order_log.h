// OrderLog: the CommitLog of `--log off`. It draws LSNs, which are the commit order, and writes nothing.
//
// Invariants  reserve() is the same fetch_add on one tail as with a real log, so the two differ only by the
//             logging. durable() lies past everything: nothing is ever durable, and nothing waits to be.
// Threads     as CommitLog says. Waiting and errors: none.
#pragma once

#include <atomic>
#include <limits>

#include "base/cache_line.h"
#include "logging/commit/commit_log.h"

namespace mneme {

class OrderLog : public CommitLog {
 public:
  // `begin`: where the first record would stand; after a recovery, the end of the recovered log.
  explicit OrderLog(Lsn begin) : tail_(begin.value) {}

  bool await_space(WorkerId, uint32_t) override { return true; }
  Lsn reserve(WorkerId, uint32_t payload_bytes) override {
    return Lsn{tail_->fetch_add(kRecordHeaderBytes + payload_bytes, std::memory_order_acq_rel)};
  }
  void fill(WorkerId, Lsn, RecordKind, ByteSpan) override {}
  Lsn durable() const override { return Lsn{std::numeric_limits<uint64_t>::max()}; }
  bool wait_durable(Lsn) override { return true; }
  std::optional<Error> failure() const override { return std::nullopt; }

 private:
  // Written by every reserving worker. acq_rel, as in a real log: a later LSN's owner sees what an earlier
  // one did.
  CachePadded<std::atomic<uint64_t>> tail_;
};

}  // namespace mneme
