#include "tests/local_database.h"

#include <fmt/format.h>

#include "base/check.h"
#include "procedures/interpreter/call_text.h"

namespace mneme {
namespace {

std::unique_ptr<Program> compiled(const Workload& workload) {
  Result<std::unique_ptr<Program>> program = compile(workload.sql(), workload.name());
  if (!program.ok()) fmt::print(stderr, "{}\n", program.error().message);
  CHECK(program.ok());
  return std::move(program).value();
}

}  // namespace

LocalDatabase::LocalDatabase(const Workload& workload, uint32_t worker_count)
    : program_(compiled(workload)), database_(program_->catalog, worker_count), rows_(database_) {
  const Result<void> loaded = load(workload, database_, /*threads=*/2, [](uint32_t, uint32_t) {});
  CHECK(loaded.ok());
  database_.attach_log(log_);
  for (uint32_t worker = 0; worker < worker_count; ++worker) {
    sessions_.push_back(std::make_unique<Session>(*program_, database_, WorkerId(worker)));
  }
}

PlacedOutcome LocalDatabase::call(WorkerId worker, const Call& call) {
  const CallResult result = sessions_[worker.value]->run(call);
  PlacedOutcome placed{{}, result.lsn, result.logged};
  if (result.status == CallResult::Status::kRolledBack) {
    placed.outcome = {std::string(result.sqlstate), std::string(result.message), {}};
    return placed;
  }
  if (!result.committed()) fmt::print(stderr, "{}\n", result.message);
  CHECK(result.committed());
  const ir::Procedure& procedure = program_->procedure(call.procedure);
  size_t next = 0;
  for (const ir::Parameter& parameter : procedure.parameters) {
    if (!parameter.inout) continue;
    const Type& type = procedure.variables[parameter.variable.value].type;
    placed.outcome.results.push_back(print_argument(type, result.results[next++]));
  }
  return placed;
}

}  // namespace mneme
