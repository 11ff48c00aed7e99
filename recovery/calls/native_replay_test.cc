// Goal: replay by machine code ends where the interpreter ends: whole procedures serially, slices in
// parallel. Method: random calls of small schemas leave a log, as in replay_test.cc; procedures and slices
// are compiled, and the log is replayed by them, serially and in parallel, with several numbers of threads
// and sizes of batches.
#include "procedures/native/compiled_units.h"
#include "recovery/calls/slice_units.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

class NativeReplay : public testing::TestWithParam<NamedSql> {};

CompiledUnits compiled(const Program& program, std::span<const NativeUnit> units) {
  const Schema schema(program.catalog);
  CompiledUnits code = CompiledUnits::load(program, schema, units, {"", {NativeFolders::of_program()}});
  EXPECT_EQ(code.execution(), Execution::kNative) << code.notices().front();
  return code;
}

TEST_P(NativeReplay, EndsWhereTheTransactionsEnded) {
  ReplayFixture fixture(GetParam().sql);
  const Digest forward = fixture.run_forward(2500, 5);
  ASSERT_GT(fixture.records().size(), 500u);

  const CompiledUnits procedures = compiled(fixture.program(), procedure_units(fixture.program()));
  ReplayOptions serial;
  serial.native = procedures.functions();
  EXPECT_EQ(fixture.replay_serially(serial), forward);

  const SliceUnits units(fixture.graph());
  const CompiledUnits slices = compiled(fixture.program(), units.units());
  for (const uint32_t threads : {1, 2, 4}) {
    for (const uint32_t batch : {1, 7, 1000}) {
      ReplayOptions parallel;
      parallel.threads = threads;
      parallel.batch_transactions = batch;
      parallel.native = slices.functions();
      EXPECT_EQ(fixture.replay_in_parallel(parallel), forward) << threads << " threads, batches of " << batch;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schemas, NativeReplay,
                         testing::Values(NamedSql{"bank", kBankSql}, NamedSql{"orders", kOrdersSql}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace mneme
