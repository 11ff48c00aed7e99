#include "recovery/demand/demand_opener.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"

namespace mneme {

namespace {

// So many records the try takes: some milliseconds' work.
constexpr size_t kTriedRecords = 4096;

}  // namespace

DemandOpener::DemandOpener(Setting setting, std::span<const RecordView> records)
    : setting_(std::move(setting)), records_(records) {
  const Program& program = setting_.program;
  const bool has_rows = std::ranges::any_of(
      records_, [](const RecordView& record) { return !call_of(record.kind, record.payload); });
  is_written_.assign(program.catalog.tables().size(), has_rows);
  for (const ir::Procedure& procedure : program.procedures) {
    for (const ir::Operation& operation : procedure.operations) {
      if (operation.kind != ir::OperationKind::kSelect) is_written_[operation.access[0].table.value] = true;
    }
  }
}

AnalysisOptions DemandOpener::analysis_for(bool has_rows) {
  AnalysisOptions analysis = has_rows ? AnalysisOptions::for_ad_hoc() : AnalysisOptions();
  analysis.lanes_from_arguments = true;
  analysis.reads_to_locate = !has_rows;
  return analysis;
}

void DemandOpener::prepare() {
  opened_.graph = std::make_unique<DependencyGraph>(analyze(setting_.program, setting_.analysis));
  opened_.units = std::make_unique<SliceUnits>(*opened_.graph);
  if (setting_.load_code) opened_.code = setting_.load_code(opened_.units->units());
  const std::span<const RecordView> tried = records_.first(std::min(records_.size(), kTriedRecords));
  const std::unique_ptr<DemandReplay> trial = make_replay();
  const uint64_t begin_ns = monotonic_ns();
  // If it fails, so does open().
  if (!trial->open(tried, 1)) return;
  seconds_a_record_ = static_cast<double>(monotonic_ns() - begin_ns) * 1e-9 /
                      static_cast<double>(tried.size()) / static_cast<double>(setting_.threads);
}

Result<OpenedDemand> DemandOpener::open(uint64_t first) {
  CHECK(opened_.graph != nullptr && first < records_.size());
  opened_.replay = make_replay();
  RETURN_IF_ERROR(opened_.replay->open(records_.subspan(first), setting_.threads));
  return std::move(opened_);
}

std::unique_ptr<DemandReplay> DemandOpener::make_replay() const {
  ReplayOptions options = setting_.options;
  options.native = opened_.code.functions();
  return std::make_unique<DemandReplay>(setting_.database, setting_.program, *opened_.graph, options);
}

}  // namespace mneme
