#include "recovery/calls/sliced_replayer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "recovery/calls/call_replayer.h"
#include "recovery/calls/longest_lane.h"
#include "recovery/calls/parallel_replayer.h"
#include "recovery/calls/serial_replayer.h"
#include "recovery/calls/slice_units.h"

namespace mneme {
namespace {

// Returns a label per block ("γ: stock, order_line"), and a last one for tables that no procedure touches.
std::vector<std::string> block_labels(const DependencyGraph& graph, const Catalog& catalog) {
  std::vector<std::string> labels;
  for (const Block& block : graph.blocks) {
    std::vector<std::string_view> tables;
    for (const TableId table : block.tables) tables.push_back(catalog.table(table).name);
    labels.push_back(fmt::format("{}: {}", block.name, fmt::join(tables, ", ")));
  }
  labels.push_back("what no procedure touches");
  return labels;
}

class SlicedReplayer final : public CallReplayer {
 public:
  using CallReplayer::CallReplayer;

  void prepare(const RecordStream& stretch) override {
    if (is_too_short_to_analyse(stretch)) return;
    if (graph_ == nullptr || (stretch.has_rows() && !allows_rows_)) analyze_for(stretch);
  }

 private:
  bool is_too_short_to_analyse(const RecordStream& stretch) const {
    return stretch.size() < setting().program.procedures.size() && !setting().is_last_of_log(stretch.size());
  }

  void analyze_for(const RecordStream& stretch) {
    const auto progress = [this](uint64_t done) {
      if (setting().progress) setting().progress({RecoveryStage::kAnalysis, done, 1, {}});
    };
    replayer_ = nullptr;
    units_ = nullptr;
    progress(0);
    RecoveryReport& report = setting().report;
    const uint64_t begin_ns = monotonic_ns();
    allows_rows_ = stretch.has_rows();
    report.analysis.options =
        setting().analysis.value_or(allows_rows_ ? AnalysisOptions::for_ad_hoc() : AnalysisOptions());
    graph_ = std::make_unique<DependencyGraph>(analyze(setting().program, report.analysis.options));
    ++report.analysis.count;
    units_ = std::make_unique<SliceUnits>(*graph_);
    report.analysis.seconds += report.end_stage("analysis", begin_ns);
    report.analysis.blocks = block_labels(*graph_, setting().program.catalog);
    progress(1);
    code_ = load_units(setting(), units_->units(), stretch.size());
  }

  Result<ReplayStatistics> replay_calls(RecordStream& stretch, const Progress& progress) override {
    if (is_too_short_to_analyse(stretch)) return replay_short(stretch, progress);
    progress_ = &progress;
    if (replayer_ == nullptr) make_replayer();
    const uint64_t begin_ns = monotonic_ns();
    auto statistics = replayer_->replay(stretch);
    progress_ = nullptr;
    if (statistics) {
      setting().report.replay.serial_because =
          serial_tables(*graph_, setting().program.catalog, statistics->lane_seconds);
      setting().report.replay.kernels = kernel_times(*graph_, *statistics);
    }
    if (statistics && setting().options.threads > 1 && !has_told_) {
      const double seconds = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9;
      if (auto notice =
              longest_lane_notice(*graph_, setting().program.catalog, statistics->lane_seconds, seconds)) {
        setting().report.notices.push_back(*std::move(notice));
        has_told_ = true;
      }
    }
    return statistics;
  }

  void make_replayer() {
    ReplayOptions options = setting().options;
    options.native = code_.functions();
    options.progress = [this](uint64_t done, std::optional<Lsn> last) {
      if (*progress_) (*progress_)(done, last);
    };
    replayer_ = std::make_unique<ParallelReplayer>(setting().database, setting().program, *graph_, options);
  }

  Result<ReplayStatistics> replay_short(RecordStream& stretch, const Progress& progress) const {
    ReplayOptions options = setting().options;
    options.progress = progress;
    auto statistics =
        replay_serially(setting().database, setting().program, stretch, options, setting().visit);
    // The schedule recorder (ReplayOptions::recorder) reports the threads' times. These calls bypass it.
    if (statistics) statistics->threads.clear();
    return statistics;
  }

  bool allows_rows_ = false;  // the analysis in graph_ can replay records of rows
  bool has_told_ = false;     // the notice about the longest lane has been added; one is enough
  // Each refers to those before it, so the order matters for destruction.
  std::unique_ptr<DependencyGraph> graph_;
  std::unique_ptr<SliceUnits> units_;
  CompiledUnits code_;
  const Progress* progress_ = nullptr;  // for the stretch that is being replayed
  std::unique_ptr<ParallelReplayer> replayer_;
};

}  // namespace

std::unique_ptr<Replayer> make_sliced_replayer(const ReplayerSetting& setting) {
  return std::make_unique<SlicedReplayer>(setting);
}

}  // namespace mneme
