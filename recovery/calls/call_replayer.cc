#include "recovery/calls/call_replayer.h"

namespace mneme {

namespace {

// Calls between two changes of the schema that are worth seconds of compiling.
constexpr size_t kFewestToCompile = 20'000;

}  // namespace

bool CallReplayer::is_short(const RecordStream& stretch) const {
  return setting_.is_part_of_log(stretch.size()) && stretch.size() < kFewestToCompile;
}

CompiledUnits CallReplayer::load_units(std::span<const NativeUnit> units, const RecordStream& stretch) {
  if (setting_.execution == Execution::kInterpreted || units.empty() || is_short(stretch)) return {};
  const auto progress = [&](uint64_t done, uint64_t count) {
    if (setting_.progress) setting_.progress({RecoveryStage::kCompilation, done, count, {}});
  };
  RecoveryReport& report = setting_.report;
  const uint64_t begin_ns = monotonic_ns();
  CompiledUnits code = CompiledUnits::load(setting_.program, setting_.database.schema(), units,
                                           setting_.folders, [&](size_t count) { progress(0, count); });
  if (code.was_compiled()) progress(units.size(), units.size());
  report.code.seconds += report.end_stage("machine code", begin_ns);
  report.code.execution = code.execution();
  if (code.was_compiled() && setting_.folders.keep.empty()) {
    report.notices.push_back(
        "machine code was compiled for this once: neither XDG_CACHE_HOME nor HOME says where to keep it");
  }
  for (const std::string& notice : code.notices()) report.add_notice(notice);
  return code;
}

Result<ReplayStatistics> CallReplayer::replay(RecordStream& stretch, const Progress& progress) {
  auto statistics = replay_calls(stretch, progress);
  const bool had_calls = statistics && statistics->transactions > statistics->ad_hoc;
  if (had_calls && setting_.execution == Execution::kNative && is_short(stretch)) {
    setting_.report.add_notice(
        "between changes of the schema, procedures that were called a few times were interpreted");
  }
  return statistics;
}

}  // namespace mneme
