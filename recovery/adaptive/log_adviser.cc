#include "recovery/adaptive/log_adviser.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "logging/record/record_format.h"

namespace mneme {
namespace {

// A procedure with a smaller part of the path is not tried.
constexpr double kLeastPartOfPath = 0.05;
// A schedule that is so little longer than its work demands is good enough.
constexpr double kGoodEnough = 1.1;

double part(double of, double all) {
  return all > 0 ? of / all : 0;
}

}  // namespace

LogAdviser::LogAdviser(const Program& program, const Schema& schema, const AdviserOptions& options)
    : options_(options),
      schedule_(program, schema, options.cores),
      by_rows_(program.procedures.size(), false),
      records_(program.procedures.size()) {
  CHECK(options.cores > 0 && options.kept_gain < options.least_gain);
}

Result<void> LogAdviser::judge(std::span<const CallSample> samples) {
  RETURN_IF_ERROR(schedule_.load(samples));
  count(samples);
  take_back();
  choose_more();
  return {};
}

void LogAdviser::count(std::span<const CallSample> samples) {
  std::ranges::fill(records_, Records());
  for (const CallSample& sample : samples) {
    Records& of = records_[sample.procedure.value];
    ++of.count;
    of.call_bytes += kRecordHeaderBytes + sample.call.size();
    of.row_bytes += kRecordHeaderBytes + sample.rows.size();
    of.has_both &= !sample.call.empty() && !sample.rows.empty();
  }
}

// A procedure that the window doesn't show keeps its choice.
void LogAdviser::take_back() {
  std::optional<ScheduleEstimate> now;
  for (uint32_t p = 0; p < by_rows_.size(); ++p) {
    if (!by_rows_[p] || records_[p].count == 0) continue;
    if (!now) now = estimate(by_rows_);
    by_rows_[p] = false;
    const ScheduleEstimate without = estimate(by_rows_);
    const bool is_worth_it =
        now->length(options_.cores) < (1 - options_.kept_gain) * without.length(options_.cores);
    by_rows_[p] = is_worth_it && records_[p].has_both;
    if (!by_rows_[p]) now = without;
  }
}

void LogAdviser::choose_more() {
  ScheduleEstimate now = estimate(by_rows_);
  while (now.path > kGoodEnough * now.work / options_.cores) {
    std::vector<ProcedureId> candidates;
    for (uint32_t p = 0; p < by_rows_.size(); ++p) {
      const bool is_on_path = now.on_path[p] >= kLeastPartOfPath * now.path;
      if (!by_rows_[p] && is_on_path && records_[p].has_both) candidates.push_back(ProcedureId{p});
    }
    if (choose_one(now, candidates)) continue;
    if (candidates.size() < 2 || !choose_together(now, candidates)) return;
  }
}

bool LogAdviser::is_affordable(const ScheduleEstimate& estimate) const {
  uint64_t as_calls = 0;
  for (const Records& of : records_)
    as_calls += of.has_both ? of.call_bytes : std::max(of.call_bytes, of.row_bytes);
  return static_cast<double>(estimate.log_bytes) <= options_.most_growth * static_cast<double>(as_calls);
}

bool LogAdviser::choose_one(ScheduleEstimate& now, std::span<const ProcedureId> candidates) {
  std::optional<ProcedureId> best;
  ScheduleEstimate best_estimate;
  double least = (1 - options_.least_gain) * now.length(options_.cores);
  for (const ProcedureId candidate : candidates) {
    by_rows_[candidate.value] = true;
    ScheduleEstimate with = estimate(by_rows_);
    by_rows_[candidate.value] = false;
    if (with.length(options_.cores) > least || !is_affordable(with)) continue;
    least = with.length(options_.cores);
    best = candidate;
    best_estimate = std::move(with);
  }
  if (!best) return false;
  by_rows_[best->value] = true;
  explain(*best, now, best_estimate);
  now = std::move(best_estimate);
  return true;
}

// All of them, less those that bring nothing.
bool LogAdviser::choose_together(ScheduleEstimate& now, std::span<const ProcedureId> candidates) {
  const std::vector<bool> before = by_rows_;
  for (const ProcedureId candidate : candidates) by_rows_[candidate.value] = true;
  ScheduleEstimate with = estimate(by_rows_);
  for (const ProcedureId candidate : candidates) {
    by_rows_[candidate.value] = false;
    ScheduleEstimate without = estimate(by_rows_);
    const bool is_needed =
        with.length(options_.cores) < (1 - options_.kept_gain) * without.length(options_.cores);
    by_rows_[candidate.value] = is_needed;
    if (!is_needed) with = std::move(without);
  }
  if (with.length(options_.cores) > (1 - options_.least_gain) * now.length(options_.cores) ||
      !is_affordable(with)) {
    by_rows_ = before;
    return false;
  }
  for (const ProcedureId candidate : candidates) {
    if (by_rows_[candidate.value]) explain(candidate, now, with);
  }
  now = std::move(with);
  return true;
}

void LogAdviser::explain(ProcedureId procedure, const ScheduleEstimate& before,
                         const ScheduleEstimate& after) {
  ever_chosen_ = true;
  const Records& records = records_[procedure.value];
  const auto count = static_cast<double>(records.count);
  const RowChoice reason{procedure, part(before.path, before.work), part(after.path, before.work),
                         static_cast<double>(records.call_bytes) / count,
                         static_cast<double>(records.row_bytes) / count};
  const auto known = std::ranges::find(reasons_, procedure, &RowChoice::procedure);
  if (known == reasons_.end())
    reasons_.push_back(reason);
  else
    *known = reason;
}

}  // namespace mneme
