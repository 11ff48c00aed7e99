// Goal: parallel replay of rows shares nothing that it does not order: ThreadSanitizer sees buckets, latches,
// rows, indexes. Method: as row_replay_test.cc, with small batches and more threads than cores; each state's
// digest is compared.
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

void replay_rows_with_many_threads(std::string_view sql, ReplayFixture::RowReplay replay) {
  ReplayFixture fixture(sql);
  const Digest forward = fixture.run_forward(3000, 11);
  for (const uint32_t threads : {2, 4, 8}) {
    for (const uint32_t batch : {20, 100}) {
      for (const ReplayOrder order : {ReplayOrder::kForward, ReplayOrder::kReverse}) {
        ReplayOptions options;
        options.threads = threads;
        options.batch_transactions = batch;
        options.order = order;
        EXPECT_EQ(fixture.replay_rows(replay, options), forward)
            << threads << " threads, batches of " << batch << ", order " << static_cast<int>(order);
      }
    }
  }
}

TEST(RowReplayStress, BankShuffled) {
  replay_rows_with_many_threads(kBankSql, replay_shuffled);
}
TEST(RowReplayStress, OrdersShuffled) {
  replay_rows_with_many_threads(kOrdersSql, replay_shuffled);
}
TEST(RowReplayStress, BankUnordered) {
  replay_rows_with_many_threads(kBankSql, replay_unordered);
}
TEST(RowReplayStress, OrdersUnordered) {
  replay_rows_with_many_threads(kOrdersSql, replay_unordered);
}
TEST(RowReplayStress, BankLocated) {
  replay_rows_with_many_threads(kBankSql, replay_located);
}
TEST(RowReplayStress, OrdersLocated) {
  replay_rows_with_many_threads(kOrdersSql, replay_located);
}

}  // namespace
}  // namespace mneme
