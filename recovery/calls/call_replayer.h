// CallReplayer: the base of the replayers that replay calls. It finds or compiles machine code, and reports
// that.
//
// Interpreted  the calls between two changes of the schema, if they are few: compiling would take longer. A
//             notice says so.
// Threads     one owner.
#pragma once

#include <span>

#include "recovery/log/replayer.h"

namespace mneme {

// The units as machine code, where that is wanted and the stretch is long enough; otherwise the interpreter
// runs them. Fills the report's `code`.
CompiledUnits load_units(const ReplayerSetting& setting, std::span<const NativeUnit> units,
                         uint64_t stretch_records);

class CallReplayer : public Replayer {
 public:
  explicit CallReplayer(const ReplayerSetting& setting) : setting_(setting) {}

  Result<ReplayStatistics> replay(RecordStream& stretch, const Progress& progress) final;

 protected:
  const ReplayerSetting& setting() const { return setting_; }
  virtual Result<ReplayStatistics> replay_calls(RecordStream& stretch, const Progress& progress) = 0;

 private:
  const ReplayerSetting setting_;
};

}  // namespace mneme
