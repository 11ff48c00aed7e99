#include "recovery/demand/demand_replayer.h"

#include <utility>

namespace mneme {

Result<ReplayStatistics> DemandReplayer::replay_calls(RecordStream& stretch, const Progress&) {
  if (stretch.kept().empty()) {
    return invalid_argument(
        "to open a database while its log is replayed takes the log's calls in memory, and these {} records "
        "take more than there is: recover it first (--open recovered)",
        stretch.size());
  }
  RecoveryReport& report = setting().report;
  DemandRecovery::Parts parts;
  uint64_t begin_ns = monotonic_ns();
  AnalysisOptions analysis = stretch.has_rows() ? AnalysisOptions::for_ad_hoc() : AnalysisOptions();
  analysis.lanes_from_arguments = true;
  analysis.reads_to_locate = !stretch.has_rows();
  parts.graph = std::make_unique<DependencyGraph>(analyze(setting().program, analysis));
  parts.units = std::make_unique<SliceUnits>(*parts.graph);
  report.analysis.options = analysis;
  ++report.analysis.count;
  report.analysis.seconds += report.end_stage("analysis", begin_ns);
  parts.code = load_units(parts.units->units(), stretch);
  begin_ns = monotonic_ns();
  ReplayOptions options = setting().options;
  const uint32_t threads = std::max(options.threads, 1U);
  options.threads = workers_ + threads;
  options.batch_transactions = DemandReplay::kBatchTransactions;
  options.native = parts.code.functions();
  parts.replay = std::make_unique<DemandReplay>(setting().database, setting().program, *parts.graph, options);
  RETURN_IF_ERROR(parts.replay->open(stretch.kept(), threads));
  parts.opening_seconds = report.end_stage("opening", begin_ns);
  rest_ = std::make_unique<DemandRecovery>(setting().database, std::move(parts), workers_, threads);
  return ReplayStatistics();
}

}  // namespace mneme
