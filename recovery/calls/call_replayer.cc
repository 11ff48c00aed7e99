#include "recovery/calls/call_replayer.h"

namespace mneme {

namespace {

// Calls between two changes of the schema that are worth seconds of compiling.
constexpr size_t kFewestToCompile = 20'000;

bool is_short(const ReplayerSetting& setting, uint64_t records) {
  return setting.is_part_of_log(records) && records < kFewestToCompile;
}

}  // namespace

CompiledUnits load_units(const ReplayerSetting& setting, std::span<const NativeUnit> units,
                         uint64_t stretch_records) {
  if (setting.execution == Execution::kInterpreted || units.empty() || is_short(setting, stretch_records))
    return {};
  const auto progress = [&](uint64_t done, uint64_t count) {
    if (setting.progress) setting.progress({RecoveryStage::kCompilation, done, count, {}});
  };
  RecoveryReport& report = setting.report;
  const uint64_t begin_ns = monotonic_ns();
  CompiledUnits code = CompiledUnits::load(setting.program, setting.database.schema(), units, setting.folders,
                                           [&](size_t count) { progress(0, count); });
  if (code.was_compiled()) progress(units.size(), units.size());
  report.code.seconds += report.end_stage("machine code", begin_ns);
  report.code.execution = code.execution();
  if (code.was_compiled() && setting.folders.keep.empty()) {
    report.notices.push_back(
        "machine code was compiled for this once: neither XDG_CACHE_HOME nor HOME says where to keep it");
  }
  for (const std::string& notice : code.notices()) report.add_notice(notice);
  return code;
}

Result<ReplayStatistics> CallReplayer::replay(RecordStream& stretch, const Progress& progress) {
  auto statistics = replay_calls(stretch, progress);
  const bool had_calls = statistics && statistics->transactions > statistics->ad_hoc;
  if (had_calls && setting_.execution == Execution::kNative && is_short(setting_, stretch.size())) {
    setting_.report.add_notice(
        "between changes of the schema, procedures that were called a few times were interpreted");
  }
  return statistics;
}

}  // namespace mneme
