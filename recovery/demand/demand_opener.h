// DemandOpener: prepares the end of a log for replay on demand, once somebody asks for a row.
//
// Flow        prepare(): analysis, machine code, and a try with a few records -> open()
// Lanes       follow from the calls' arguments alone, so the analysis is another than bulk replay's
//             (demand_replay.h).
// Threads     prepare() and open(): one after the other, each by any one thread. Other threads may replay the
//             log meanwhile, prepare()'s try included: what it reads of rows to find lanes never changes in
//             the course of the log (AnalysisOptions::reads_to_locate).
// Errors      as PieceRunner's.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "procedures/native/compiled_units.h"
#include "recovery/calls/slice_units.h"
#include "recovery/demand/demand_replay.h"

namespace mneme {

// A replay on demand that has been opened, and what it refers to.
struct OpenedDemand {
  std::unique_ptr<DependencyGraph> graph;
  std::unique_ptr<SliceUnits> units;
  CompiledUnits code;
  std::unique_ptr<DemandReplay> replay;
};

class DemandOpener {
 public:
  struct Setting {
    Database& database;
    const Program& program;
    AnalysisOptions analysis;
    ReplayOptions options;  // DemandReplay's, but for `native`
    uint32_t threads = 1;   // that open() uses
    // Finds or compiles the units' machine code; empty: the interpreter runs all.
    std::function<CompiledUnits(std::span<const NativeUnit>)> load_code = {};
  };

  // `records`: as DemandReplay::open()'s. All that is given outlives this and what it opens.
  DemandOpener(Setting setting, std::span<const RecordView> records);
  // The analysis for a log, with rows of ad-hoc transactions or without.
  static AnalysisOptions analysis_for(bool has_rows);

  uint64_t record_count() const { return records_.size(); }
  // Whether the log may change the table's rows.
  bool is_written(TableId table) const { return is_written_[table.value]; }

  void prepare();
  // After that: how long open() takes for a record, by what the try took.
  double seconds_a_record() const { return seconds_a_record_; }
  // Opens the records from `first` on, of which there is one at least. Called once, after prepare().
  Result<OpenedDemand> open(uint64_t first);

 private:
  std::unique_ptr<DemandReplay> make_replay() const;

  const Setting setting_;
  const std::span<const RecordView> records_;
  std::vector<bool> is_written_;  // by table
  OpenedDemand opened_;
  double seconds_a_record_ = 0;
};

}  // namespace mneme
