// WorkloadDatabase: a data directory that holds a workload, open for work: created and loaded, or recovered.
//
// Threads     as WorkingDatabase says.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/option/execution_option.h"
#include "cli/option/log_content_settings.h"
#include "cli/option/workload_settings.h"
#include "recovery/database/data_directory.h"

namespace mneme {

// Fills an empty database, with a progress line.
Result<void> load_workload(const Workload& workload, Database& database, uint32_t threads, bool quiet);

class WorkloadDatabase {
 public:
  static Result<WorkloadDatabase> create(const std::string& directory, const WorkloadSettings& settings,
                                         const LogContent& content, const DurableLogOptions& log,
                                         Execution execution, bool quiet);
  // The settings are those that the directory was created with. `scheme`: RecoverOptions has it.
  // `on_demand`: RecoverOptions::most_bulk_seconds, where the directory is to be opened so. `hints`: as
  // LogContent has it.
  static Result<WorkloadDatabase> open(const std::string& directory, const DurableLogOptions& log, bool hints,
                                       Execution execution, const RecoveryScheme* scheme,
                                       std::optional<double> on_demand, bool quiet);

  const WorkloadSettings& settings() const { return settings_; }
  const Workload& workload() const { return *workload_; }
  WorkingDatabase& working() { return working_; }
  const CompiledUnits& procedures() const { return procedures_; }
  // By procedure: those that tell keys, as the machine code has them; empty: none does.
  std::span<const ToldProcedure> told() const { return told_; }
  // Sentences for the user, each once: of the log, of recovery, of the procedures' machine code.
  const std::vector<std::string>& notices() const { return notices_; }
  // The report of the recovery that opened the database; empty for a new one.
  const RecoveryReport& recovered() const { return recovered_; }
  // How often the directory has been opened for work before.
  uint32_t incarnation() const { return incarnation_; }

 private:
  WorkloadDatabase(WorkloadSettings settings, std::unique_ptr<Workload> workload, WorkingDatabase working,
                   std::vector<ToldProcedure> told, CompiledUnits procedures, RecoveryReport recovered);

  WorkloadSettings settings_;
  std::unique_ptr<Workload> workload_;
  WorkingDatabase working_;
  std::vector<ToldProcedure> told_;
  CompiledUnits procedures_;
  RecoveryReport recovered_;
  uint32_t incarnation_ = 0;
  std::vector<std::string> notices_;
};

}  // namespace mneme
