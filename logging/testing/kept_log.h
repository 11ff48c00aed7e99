// KeptLog: a CommitLog of tests: it draws LSNs as OrderLog does, and keeps every record in memory.
//
// Threads     as CommitLog says; records() once the workers are done.
#pragma once

#include <algorithm>
#include <mutex>
#include <vector>

#include "logging/commit/order_log.h"
#include "logging/reading/log_reader.h"

namespace mneme {

class KeptLog final : public OrderLog {
 public:
  KeptLog() : OrderLog(kFirstLsn) {}

  void fill(WorkerId, Lsn lsn, RecordKind kind, ByteSpan payload) override {
    if (kind == RecordKind::kSkip) return;
    const std::lock_guard lock(mutex_);
    kept_.push_back({lsn, kind, {payload.begin(), payload.end()}});
  }

  // In commit order, without skips, as read_log() would give them. They point into the log.
  std::vector<RecordView> records() {
    const std::lock_guard lock(mutex_);
    std::ranges::sort(kept_, {}, &Kept::lsn);
    std::vector<RecordView> views;
    for (const Kept& kept : kept_) views.push_back({kept.lsn, kept.kind, kept.payload});
    return views;
  }

 private:
  struct Kept {
    Lsn lsn;
    RecordKind kind;
    std::vector<std::byte> payload;
  };

  std::mutex mutex_;
  std::vector<Kept> kept_;  // guarded by mutex_
};

}  // namespace mneme
