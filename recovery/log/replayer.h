// Replayer: a recovery scheme at work on one database and one program. Recovery uses one for each stretch of
// the log between two changes of the schema; a standby keeps one from round to round.
//
// Flow        make_replayer() -> for each stretch: prepare() -> replay()
// Invariants  stretches come in the log's order, and none of them changes the schema. After an error the
//             replayer is spent.
// Threads     one owner; replay() uses `setting.options.threads`.
// Errors      as replay.h says.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "procedures/native/compiled_units.h"
#include "recovery/log/record_stream.h"
#include "recovery/log/recovery_report.h"
#include "recovery/log/recovery_scheme.h"
#include "recovery/log/replay.h"

namespace mneme {

// The database, program and options of a replayer. The database, the program, the folders and the report
// outlive it.
struct ReplayerSetting {
  Database& database;
  const Program& program;
  ReplayOptions options;  // `native` and `progress` are not used
  // Where locations are replayed: versions below it are the checkpoint's, or count as such.
  Lsn tables_from;
  // Where calls are cut: how their procedures are analysed. None: the finest way that orders what comes.
  std::optional<AnalysisOptions> analysis = {};
  Execution execution = Execution::kInterpreted;
  const NativeFolders& folders;
  ReplayedCallVisitor visit = {};  // RecoveryScheme::shows_calls
  // Where the first stretch lies in its log, in records. A standby's log has no end, and no stretch of it is
  // too short to prepare for.
  uint64_t records_before = 0;
  uint64_t log_records = 0;
  std::function<void(const RecoveryProgress&)> progress = {};  // of prepare()
  RecoveryReport& report;  // prepare() fills `analysis` and `code`, and adds to `stages` and `notices`

  bool is_part_of_log(uint64_t records) const { return records < log_records; }
  bool is_last_of_log(uint64_t records) const { return records_before + records >= log_records; }
};

class Replayer {
 public:
  // How many transactions of the stretch have been replayed and, where calls are replayed, the last of them.
  using Progress = std::function<void(uint64_t done, std::optional<Lsn> last)>;

  virtual ~Replayer() = default;

  // Analyses and compiles what the stretch needs and no stretch before it did.
  virtual void prepare(const RecordStream& /*stretch*/) {}
  virtual Result<ReplayStatistics> replay(RecordStream& stretch, const Progress& progress) = 0;
  // The record that the scheme has come to, in its own order, when `done` of the rows' transactions count as
  // replayed. For display: records before it may not have been replayed. None where Progress names the last.
  virtual std::optional<Lsn> position(std::span<const RecordView> /*rows*/, uint64_t /*done*/) const {
    return std::nullopt;
  }
};

inline std::unique_ptr<Replayer> make_replayer(const RecoveryScheme& scheme, const ReplayerSetting& setting) {
  return scheme.make(setting);
}

}  // namespace mneme
