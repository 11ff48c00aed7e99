// Goal: the workloads' procedures mean the same as machine code and interpreted.
// Method: two databases with one population get the same calls, one at a time: one interprets them, the other runs what
// the emitter made of them. Each call must end alike, results and errors included, and in the end the databases must be
// equal, down to their indexes.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "engine/digest.h"
#include "engine/test_database.h"
#include "engine/transaction.h"
#include "procedures/call_text.h"
#include "procedures/emitter.h"
#include "procedures/interpreter.h"
#include "procedures/native_code.h"
#include "procedures/program.h"
#include "workloads/load.h"
#include "workloads/workload.h"

namespace mneme {
namespace {

// A database in memory on which one worker runs calls, one way or the other.
class Side {
 public:
  Side(const Program& program, const Workload& workload)
      : program_(program),
        database_(program.catalog, 1),
        transaction_(database_, database_.worker(WorkerId(0))),
        interpreter_(database_.schema()) {
    CHECK(load(workload, database_, /*threads=*/2, [](uint32_t, uint32_t) {}).ok());
    database_.attach_log(log_);
  }

  // How the call ends, as text.
  std::string run(const Call& call, NativeRunFunction native) {
    const ir::Procedure& procedure = program_.procedure(call.procedure);
    transaction_.begin();
    RunRequest request = RunRequest::of(procedure, call.arguments, transaction_);
    request.native = native;
    const auto start = std::chrono::steady_clock::now();
    const Outcome outcome = interpreter_.run(request);
    time_ += std::chrono::steady_clock::now() - start;
    std::string text = fmt::format("{} {} {} at {}:{}", static_cast<int>(outcome.kind), outcome.sqlstate,
                                   outcome.message, outcome.where.line, outcome.where.column);
    if (!outcome.completed()) {
      transaction_.roll_back();
      return text;
    }
    size_t next = 0;
    for (const ir::Parameter& parameter : procedure.parameters) {
      if (!parameter.inout) continue;
      const Type& type = procedure.variables[parameter.variable.value].type;
      text += " " + print_argument(type, interpreter_.results()[next++]).value_or("NULL");
    }
    CHECK(transaction_.commit(as_bytes("a call")).status == CommitStatus::kCommitted);
    return text;
  }

  const Database& database() const { return database_; }
  double seconds() const { return std::chrono::duration<double>(time_).count(); }

 private:
  const Program& program_;
  CountingLog log_;
  Database database_;
  Transaction transaction_;
  Interpreter interpreter_;
  std::chrono::steady_clock::duration time_{};
};

void expect_equal(std::string_view name, uint64_t calls) {
  const auto workload = make_workload(name, {.scale = 1, .seed = 7});
  ASSERT_TRUE(workload.ok());
  const auto program = compile((*workload)->sql(), name);
  ASSERT_TRUE(program.ok());
  const Schema schema((*program)->catalog);
  std::vector<NativeUnit> units;
  for (const ir::Procedure& procedure : (*program)->procedures) {
    units.push_back({procedure.name, &procedure, procedure.body});
  }
  const auto toolchain = NativeToolchain::of_this_program();
  ASSERT_TRUE(toolchain.ok());
  const auto code =
      NativeCode::load(emit_cpp(**program, schema, units), units.size(), NativeFolders{}, *toolchain);
  ASSERT_TRUE(code.ok()) << code.error().message;

  Side interpreted(**program, **workload);
  Side native(**program, **workload);
  const auto generator = (*workload)->generator({});
  for (uint64_t position = 0; position < calls; ++position) {
    const Call& call = generator->call(position);
    const std::string expected = interpreted.run(call, nullptr);
    const std::string found = native.run(call, code->unit(call.procedure.value).run_on_transaction);
    ASSERT_EQ(found, expected) << "call " << position << ": " << print_call(**program, call);
  }
  EXPECT_EQ(digest_of(native.database(), 2), digest_of(interpreted.database(), 2));
  EXPECT_TRUE(verify_indexes(native.database()).ok());
  fmt::print("{}: {} calls interpreted in {:.2f} s, native in {:.2f} s\n", name, calls, interpreted.seconds(),
             native.seconds());
}

TEST(NativeWorkload, TpccMeansTheSame) {
  expect_equal("tpcc", 20'000);
}
TEST(NativeWorkload, SmallbankMeansTheSame) {
  expect_equal("smallbank", 50'000);
}

}  // namespace
}  // namespace mneme
