#include "cli/measure/workload_database.h"

#include <algorithm>
#include <utility>

#include "analyzer/hints/told_procedures.h"
#include "cli/measure/recovery_text.h"
#include "cli/output/progress.h"
#include "workloads/shared/load.h"

namespace mneme {

Result<void> load_workload(const Workload& workload, Database& database, uint32_t threads, bool quiet) {
  Progress progress(quiet);
  progress.stage("load", "", workload.part_count(), "parts");
  return load(workload, database, threads, [&](uint32_t done, uint32_t) { progress.update({.done = done}); });
}

namespace {

// A workload names its procedures by their ids, which statements of `mneme sql` may have moved.
Result<void> check_procedures(const Workload& workload, const Program& program,
                              const std::string& directory) {
  const Result<std::unique_ptr<Program>> own = compile(workload.sql(), "workload.sql");
  if (!own) return own.error();
  for (const ir::Procedure& procedure : (*own)->procedures) {
    const ir::Procedure* there = program.find_procedure(procedure.name);
    if (there != nullptr && there->id == procedure.id &&
        there->parameters.size() == procedure.parameters.size()) {
      continue;
    }
    return invalid_argument(
        "{} has no procedure {} any more where the workload expects it: the schema was changed; create it as "
        "it was, or "
        "run the workload on another directory",
        directory, procedure.name);
  }
  return {};
}

// A record that names rows by their primary keys and by their locations has no place for what a row without a
// key was: a call that could not be logged would end the run in its middle.
Result<void> check_rows_have_names(const Workload& workload, const Program& program, RecordContent records) {
  if (!holds_keys(records) || !holds_locations(records)) return {};
  for (const ir::Procedure& procedure : program.procedures) {
    if (!workload.calls(procedure.id)) continue;
    for (const ir::Operation& operation : procedure.operations) {
      if (operation.kind != ir::OperationKind::kUpdate && operation.kind != ir::OperationKind::kDelete)
        continue;
      const TableDefinition& table = program.catalog.table(operation.access.front().table);
      if (table.primary_key) continue;
      return invalid_argument(
          "procedure {} changes rows of table {}, which has no primary key, and --log {} names rows by it "
          "and "
          "by their locations: give the table one, or choose another log",
          procedure.name, table.name, name_of(records));
    }
  }
  return {};
}

// Empty where no call has a hint.
std::vector<ToldProcedure> told_if(bool hints, const Program& program) {
  return hints ? told_procedures(program) : std::vector<ToldProcedure>();
}

}  // namespace

WorkloadDatabase::WorkloadDatabase(WorkloadSettings settings, std::unique_ptr<Workload> workload,
                                   WorkingDatabase working, std::vector<ToldProcedure> told,
                                   CompiledUnits procedures, RecoveryReport recovered)
    : settings_(std::move(settings)),
      workload_(std::move(workload)),
      working_(std::move(working)),
      told_(std::move(told)),
      procedures_(std::move(procedures)),
      recovered_(std::move(recovered)) {
  incarnation_ = working_.manifest().current().incarnations.back().number - 1;
  for (const auto& notices : {working_.log().notices(), recovered_.notices, procedures_.notices()}) {
    for (const std::string& notice : notices) {
      if (std::ranges::find(notices_, notice) == notices_.end()) notices_.push_back(notice);
    }
  }
}

Result<WorkloadDatabase> WorkloadDatabase::create(const std::string& directory,
                                                  const WorkloadSettings& settings, const LogContent& content,
                                                  const DurableLogOptions& log, Execution execution,
                                                  bool quiet) {
  Result<std::unique_ptr<Workload>> workload = settings.make();
  if (!workload) return workload.error();
  Result<std::unique_ptr<Program>> program = compile((*workload)->sql(), settings.name + ".sql");
  if (!program) return program.error();
  RETURN_IF_ERROR(check_rows_have_names(**workload, **program, content.records));
  RETURN_IF_ERROR(check_free(directory));
  RETURN_IF_ERROR(settings.keep_files(directory));
  CreateOptions options;
  options.attributes = settings.attributes();
  options.records = content.records;
  options.tuple_image = content.tuple_image;
  options.log = log;
  options.threads = default_threads();
  Result<CreatedDatabase> created = create_database(
      directory, *std::move(program),
      [&](Database& database) { return load_workload(**workload, database, options.threads, quiet); },
      options);
  if (!created) return created.error();
  WorkingDatabase& working = created->working;
  std::vector<ToldProcedure> told = told_if(content.hints, working.program());
  CompiledUnits procedures = load_procedures(working.program(), told, working.database().schema(), execution,
                                             working_folders(directory), quiet);
  return WorkloadDatabase(settings, *std::move(workload), std::move(working), std::move(told),
                          std::move(procedures), {});
}

Result<WorkloadDatabase> WorkloadDatabase::open(const std::string& directory, const DurableLogOptions& log,
                                                bool hints, Execution execution, const RecoveryScheme* scheme,
                                                std::optional<double> on_demand, bool quiet) {
  // Before anything is changed: the engine that opens the directory for work must be able to go on.
  const Result<Manifest> manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  Result<WorkloadSettings> settings = WorkloadSettings::from_attributes(manifest->attributes, directory);
  if (!settings) return settings.error();
  Result<std::unique_ptr<Workload>> workload = settings->make();
  if (!workload) return workload.error();
  RecoverOptions recover;
  recover.scheme = scheme;
  recover.execution = execution;
  recover.replay.threads = default_threads();
  recover.on_demand = on_demand.has_value();
  recover.most_bulk_seconds = on_demand.value_or(recover.most_bulk_seconds);
  Progress progress(quiet);
  show_progress(recover, progress);
  Result<OpenedDatabase> opened = open_for_work(directory, recover, log);
  progress.finish();
  if (!opened) return opened.error();
  WorkingDatabase& working = opened->working;
  RETURN_IF_ERROR(check_procedures(**workload, working.program(), directory));
  const bool is_log_of_calls = working.database().record_content() == RecordContent::kCommand;
  std::vector<ToldProcedure> told = told_if(hints && is_log_of_calls, working.program());
  CompiledUnits procedures = load_procedures(working.program(), told, working.database().schema(), execution,
                                             working_folders(directory), quiet);
  return WorkloadDatabase(*std::move(settings), *std::move(workload), std::move(working), std::move(told),
                          std::move(procedures), std::move(opened->report));
}

}  // namespace mneme
