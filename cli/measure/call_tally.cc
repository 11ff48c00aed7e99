#include "cli/measure/call_tally.h"

#include <algorithm>

namespace mneme {

double MeasuredWindow::measured_seconds(uint64_t last_end_ns, uint64_t now_ns) const {
  const uint64_t end = std::max(std::min(now_ns, end_ns()), last_end_ns);
  return end > begin_ns() ? static_cast<double>(end - begin_ns()) / 1e9 : 0;
}

void ProcedureReport::add(const ProcedureReport& other) {
  committed += other.committed;
  aborted += other.aborted;
  user_aborts += other.user_aborts;
  for (size_t i = 0; i < conflicts.size(); ++i) conflicts[i] += other.conflicts[i];
  latency_ns.merge(other.latency_ns);
}

CallTally::CallTally(const MeasuredWindow& window, size_t procedures, bool by_procedure)
    : window_(window),
      by_procedure_(by_procedure),
      procedures_(procedures),
      series_(by_procedure ? procedures : 1) {}

void CallTally::conflicted(size_t procedure, uint32_t attempts, const ConflictCounts& causes,
                           uint64_t now_ns) {
  if (!window_.counts(now_ns)) return;
  ProcedureReport& report = procedures_[procedure];
  report.aborted += attempts;
  for (size_t i = 0; i < causes.size(); ++i) report.conflicts[i] += causes[i];
}

void CallTally::ended(size_t procedure, bool committed, uint64_t begin_ns, uint64_t now_ns) {
  if (committed) committed_.store(committed_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (!window_.counts(now_ns)) return;
  last_end_ns_ = now_ns;
  ProcedureReport& report = procedures_[procedure];
  if (!committed) {
    ++report.user_aborts;
    return;
  }
  ++report.committed;
  report.latency_ns.record(now_ns - begin_ns);
  series_.record(window_.second_of(now_ns), by_procedure_ ? procedure : 0, now_ns - begin_ns);
}

}  // namespace mneme
