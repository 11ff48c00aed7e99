// Goal: parallel replay of rows shares nothing that it does not order: ThreadSanitizer sees buckets, rows, indexes.
// Method: as shuffle_replay_test.cc, with small batches and more threads than cores; each state's digest is compared.
#include "recovery/replay_fixture.h"

namespace mneme {
namespace {

void replay_with_many_threads(std::string_view sql) {
  ReplayFixture fixture(sql);
  const Digest forward = fixture.run_forward(3000, 11);
  for (const uint32_t threads : {2, 4, 8}) {
    for (const uint32_t batch : {7, 50}) {
      ReplayOptions options;
      options.threads = threads;
      options.batch_transactions = batch;
      EXPECT_EQ(fixture.replay_shuffled(options), forward) << threads << " threads, batches of " << batch;
    }
  }
}

TEST(ShuffleReplayStress, Bank) {
  replay_with_many_threads(kBankSql);
}
TEST(ShuffleReplayStress, Orders) {
  replay_with_many_threads(kOrdersSql);
}

}  // namespace
}  // namespace mneme
