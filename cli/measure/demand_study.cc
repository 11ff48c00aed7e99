#include "cli/measure/demand_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "cli/output/text.h"
#include "engine/transaction/transaction.h"
#include "logging/commit/order_log.h"
#include "procedures/interpreter/interpreter.h"

namespace mneme {

namespace {

// A study's calls come from streams of this incarnation, and runs count theirs from 0: no run makes the same
// calls.
constexpr uint32_t kStudyIncarnation = 1'000'000;

double seconds_from(uint64_t begin_ns) {
  return static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
}

class StudyWorker {
 public:
  StudyWorker(const RecoveredDatabase& recovered, const Workload& workload, uint32_t number, uint32_t workers)
      : program_(*recovered.program),
        rest_(*recovered.rest),
        generator_(workload.generator({number, workers, kStudyIncarnation})),
        interpreter_(recovered.database->schema()),
        transaction_(*recovered.database, recovered.database->worker(WorkerId{number})) {}

  // Until all is settled, and for one call at least, or until it is interrupted.
  void run(uint64_t begin_ns, const std::function<bool()>& is_interrupted) {
    for (uint64_t position = 0; (ended_.empty() || !rest_.is_settled()) && !is_interrupted(); ++position) {
      const Call& call = generator_->call(position);
      transaction_.begin();
      const Outcome outcome =
          interpreter_.run(RunRequest::of(program_.procedure(call.procedure), call.arguments, transaction_));
      transaction_.abort();
      if (outcome.kind == Outcome::Kind::kConflict) {
        if (rest_.has_failed()) return;
        --position;
        continue;
      }
      if (outcome.kind == Outcome::Kind::kOutOfMemory) return;
      ended_.push_back(seconds_from(begin_ns));
    }
  }
  // When its calls ended.
  const std::vector<double>& ended() const { return ended_; }

 private:
  const Program& program_;
  const DemandRecovery& rest_;
  const std::unique_ptr<CallGenerator> generator_;
  Interpreter interpreter_;
  Transaction transaction_;
  std::vector<double> ended_;
};

}  // namespace

Result<DemandStudy> study_demand(RecoveredDatabase& recovered, const Workload* workload, uint32_t workers,
                                 const std::function<bool()>& is_interrupted) {
  RecoveryReport& report = recovered.report;
  DemandRecovery& rest = *recovered.rest;
  OrderLog order(report.log.end);
  recovered.database->attach_log(order);
  const double opened_seconds = report.total_seconds;
  const uint64_t begin_ns = monotonic_ns();
  rest.start();
  std::vector<std::unique_ptr<StudyWorker>> made;
  std::vector<std::thread> threads;
  for (uint32_t w = 0; w < workers; ++w) {
    made.push_back(std::make_unique<StudyWorker>(recovered, *workload, w, workers));
    threads.emplace_back(
        [begin_ns, &worker = *made.back(), &is_interrupted] { worker.run(begin_ns, is_interrupted); });
  }
  for (std::thread& thread : threads) thread.join();
  while (!rest.is_settled() && !rest.has_failed() && !is_interrupted())
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  DemandStudy study;
  if (rest.is_settled() || rest.has_failed()) {
    RETURN_IF_ERROR(rest.finish());
    report.replay.seconds = rest.report().seconds;
    report.replay.statistics = rest.report().statistics;
    report.total_seconds = opened_seconds + rest.report().seconds;
  } else {
    study.settled_share = rest.settled_share();
    report.interrupted_in = RecoveryStage::kReplay;
    report.total_seconds = opened_seconds + seconds_from(begin_ns);
  }
  std::vector<uint64_t> steps;
  for (const auto& worker : made) {
    for (const double second : worker->ended()) {
      const auto step = static_cast<size_t>(second / DemandStudy::kStepSeconds);
      if (step >= steps.size()) steps.resize(step + 1, 0);
      ++steps[step];
      ++study.calls;
    }
    if (worker->ended().empty()) continue;
    const double first = opened_seconds + worker->ended().front();
    study.first_transaction_seconds = std::min(study.first_transaction_seconds.value_or(first), first);
  }
  for (size_t i = 0; i < steps.size(); ++i)
    study.calls_per_second.emplace_back(opened_seconds + static_cast<double>(i) * DemandStudy::kStepSeconds,
                                        static_cast<double>(steps[i]) / DemandStudy::kStepSeconds);
  return study;
}

Json demand_json(const DemandReport& report) {
  Json shares = Json::array();
  for (const SettledShare& share : report.settled) shares.push_back({share.seconds, share.share});
  return {{"bulk_transactions", report.bulk_transactions},
          {"bulk_seconds", report.bulk_seconds},
          {"opening_seconds", report.opening_seconds},
          {"checkpoint_chunks", report.base_chunks},
          {"checkpoint_chunks_wanted", report.base_wanted},
          {"checkpoint_seconds", report.base_seconds},
          {"rest_seconds", report.seconds},
          {"lanes", report.lanes},
          {"pieces", report.pieces},
          {"waits", report.waits},
          {"longest_wait_seconds", report.longest_wait_seconds},
          {"settled", shares}};
}

std::string demand_text(const DemandReport& report) {
  std::string text =
      fmt::format("  on demand: {} replayed in bulk in {}", counted(report.bulk_transactions, "transaction"),
                  seconds_text(report.bulk_seconds));
  if (report.base_chunks > 0) {
    text += fmt::format("; the checkpoint's {} loaded in {}, {} of them as they were wanted",
                        counted(report.base_chunks, "chunk"), seconds_text(report.base_seconds),
                        report.base_wanted);
  }
  if (report.pieces > 0) {
    text += fmt::format("; the rest opened in {}: {} in {}", seconds_text(report.opening_seconds),
                        counted(report.pieces, "piece"), counted(report.lanes, "lane"));
  }
  return text + fmt::format("; all settled after {}; {} for a row that was not{}\n",
                            seconds_text(report.seconds), counted(report.waits, "wait"),
                            report.waits > 0
                                ? fmt::format(", at most {}", seconds_text(report.longest_wait_seconds))
                                : "");
}

void add_study(Json& json, const DemandStudy& study) {
  Json rates = Json::array();
  for (const auto& [second, rate] : study.calls_per_second) rates.push_back({second, rate});
  json["calls"] = study.calls;
  json["calls_per_second"] = rates;
}

std::string study_text(const DemandStudy& study) {
  if (!study.first_transaction_seconds) return {};
  return fmt::format("  first transaction after {}, {} until all was settled\n",
                     seconds_text(*study.first_transaction_seconds), counted(study.calls, "transaction"));
}

}  // namespace mneme
