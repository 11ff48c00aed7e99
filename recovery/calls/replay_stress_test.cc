// Goal: parallel replay shares nothing that it does not order: ThreadSanitizer sees lanes, recordings, rows,
// indexes. Method: as replay_test.cc, with small batches and more threads than cores; each state's digest is
// compared.
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

void replay_with_many_threads(std::string_view sql, uint32_t calls) {
  ReplayFixture fixture(sql);
  const Digest forward = fixture.run_forward(calls, 11);
  for (const uint32_t threads : {2, 4, 8}) {
    for (const uint32_t batch : {7, 50}) {
      ReplayOptions options;
      options.threads = threads;
      options.batch_transactions = batch;
      EXPECT_EQ(fixture.replay_in_parallel(options), forward) << threads << " threads, batches of " << batch;
    }
  }
}

TEST(ReplayStress, Bank) {
  replay_with_many_threads(kBankSql, 2000);
}
TEST(ReplayStress, Orders) {
  replay_with_many_threads(kOrdersSql, 2000);
}

}  // namespace
}  // namespace mneme
