// CheckpointSettings: --checkpoint-every and what goes with it: whether, when and how a run takes
// checkpoints.
//
// Invariants  an option that concerns checkpoints where none are taken is an error, never ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output/output.h"
#include "logging/commit/log_options.h"
#include "recovery/database/checkpoint_schedule.h"
#include "recovery/database/data_directory.h"

namespace mneme {

class CheckpointSettings {
 public:
  // `keeps_archive`: the command keeps one by itself, and no option names it.
  void add_options(CLI::App& command, bool keeps_archive = false);

  // After parsing. Gives the log the helper that a schedule needs.
  Result<void> choose(const CLI::App& command, DurableLogOptions& log);
  bool are_taken() const { return seconds_ > 0; }
  // After choose(), for a log that goes round in a bounded room: checkpoints make room there, whatever else
  // is asked for.
  Result<void> take_when_full(DurableLogOptions& log);
  void keep_archive(std::string archive) { archive_ = std::move(archive); }
  const std::string& every() const { return every_; }
  // The same choice, as arguments of another process.
  std::vector<std::string> arguments() const;

  // Starts taking them of a database that was opened after choose(); `recovered` says how fast its log was
  // replayed. Returns nullptr if none are taken. A checkpoint's failure is reported to `output`, if there is
  // one.
  std::unique_ptr<CheckpointSchedule> start(WorkingDatabase& database, const RecoveryReport& recovered,
                                            const Output* output) const;

 private:
  double share(uint32_t workers) const;

  std::string every_ = "off";
  std::string archive_;
  std::string share_ = "auto";
  uint32_t threads_ = 1;
  double seconds_ = 0;  // 0: off
  bool of_replay_ = false;
  bool when_full_ = false;
};

// The checkpoints of a run that was measured from `measured_from_ns` on.
// Returns the bytes that these checkpoints wrote together.
uint64_t checkpoint_bytes(const std::vector<TakenCheckpoint>& taken);
Json checkpoints_json(const std::vector<TakenCheckpoint>& taken, uint64_t measured_from_ns);
// A line of the run's text.
std::string checkpoints_text(const std::vector<TakenCheckpoint>& taken);

}  // namespace mneme
