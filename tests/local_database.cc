#include "tests/local_database.h"

#include <fmt/format.h>

#include "base/check.h"
#include "procedures/call_codec.h"
#include "procedures/call_text.h"

namespace mneme {
namespace {

template <typename T>
T required(Result<T> result) {
  if (!result.ok()) fmt::print(stderr, "{}\n", result.error().message);
  CHECK(result.ok());
  return std::move(result).value();
}

}  // namespace

LocalDatabase::LocalDatabase(const Workload& workload)
    : program_(required(compile(workload.sql(), workload.name()))),
      database_(program_->catalog, /*worker_count=*/1),
      rows_(database_),
      interpreter_(database_.schema()),
      transaction_(database_, database_.worker(WorkerId(0))) {
  const Result<void> loaded = load(workload, database_, /*threads=*/2, [](uint32_t, uint32_t) {});
  CHECK(loaded.ok());
  database_.attach_log(log_);
}

CallOutcome LocalDatabase::call(const Call& call) {
  const ir::Procedure& procedure = program_->procedure(call.procedure);
  const Result<void> checked = check_call(*program_, call);
  CHECK(checked.ok());
  ByteBuffer payload;
  encode_call(*program_, call, payload);

  transaction_.begin();
  const Outcome outcome = interpreter_.run(RunRequest::of(procedure, call.arguments, transaction_));
  if (outcome.kind == Outcome::Kind::kRaised) {
    CHECK(transaction_.roll_back().status == CommitStatus::kCommitted);
    return {outcome.sqlstate, std::string(outcome.message), {}};
  }
  CHECK(outcome.completed());
  CHECK(transaction_.commit(payload.span()).status == CommitStatus::kCommitted);

  CallOutcome committed;
  size_t result = 0;
  for (const ir::Parameter& parameter : procedure.parameters) {
    if (!parameter.inout) continue;
    const Type& type = procedure.variables[parameter.variable.value].type;
    committed.results.push_back(print_argument(type, interpreter_.results()[result++]));
  }
  return committed;
}

}  // namespace mneme
