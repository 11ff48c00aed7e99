// Goal: whichever of a run's calls are logged by their rows, and whenever that changes, replay ends where the
// run ended. Method: random calls run while procedures' choices change after every few calls; the log is
// replayed serially, and in parallel by several threads and by both analyses: with additions in order, and
// with barriers.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "procedures/session/session.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

class AdaptiveReplay : public testing::TestWithParam<NamedSql> {
 protected:
  static constexpr uint32_t kCalls = 3000;

  void SetUp() override {
    auto compiled = compile(GetParam().sql, "test.sql");
    ASSERT_TRUE(compiled.ok()) << compiled.error().message;
    program_ = std::move(*compiled);
  }

  // Returns the state at the end.
  Digest run(uint32_t seed) {
    Database database(program_->catalog, 1, PageSize::kSmall);
    database.attach_log(log_);
    CallChoices choices(program_->procedures.size(), 64);
    SessionOptions options;
    options.choices = &choices;
    Session session(*program_, database, WorkerId{0}, options);
    RandomCalls calls(*program_, seed);
    std::mt19937 random(seed);
    for (uint32_t i = 0; i < kCalls; ++i) {
      if (random() % 20 == 0)
        choices.choose(ProcedureId{static_cast<uint32_t>(random() % program_->procedures.size())},
                       random() % 2 == 0);
      // Sampling changes nothing.
      if (i % 200 == 0) choices.open_window(64);
      if (i % 200 == 150) {
        EXPECT_GT(choices.close_window().size(), 0u);
      }
      const CallResult result = session.run(calls.next());
      EXPECT_TRUE(result.committed() || result.status == CallResult::Status::kRolledBack) << result.message;
    }
    ad_hoc_ = session.counters().ad_hoc;
    return state_of(database);
  }

  Digest replay(const AnalysisOptions& analysis, uint32_t threads) {
    const DependencyGraph graph = analyze(*program_, analysis);
    Database database(program_->catalog, 1, PageSize::kSmall);
    ReplayOptions options;
    options.threads = threads;
    options.batch_transactions = 100;
    if (threads != 2) options.lanes_per_block = 16;
    const auto statistics = replay_in_parallel(database, *program_, graph, log_.records(), options);
    EXPECT_TRUE(statistics.ok()) << (statistics.ok() ? "" : statistics.error().message);
    return state_of(database);
  }

  std::unique_ptr<Program> program_;
  KeptLog log_;
  uint64_t ad_hoc_ = 0;
};

TEST_P(AdaptiveReplay, EndsWhereTheRunEnded) {
  const Digest end = run(/*seed=*/7);
  EXPECT_GT(ad_hoc_, kCalls / 10);
  EXPECT_LT(ad_hoc_, kCalls * 9 / 10);
  Database serial(program_->catalog, 1, PageSize::kSmall);
  ASSERT_TRUE(replay_serially(serial, *program_, log_.records(), ReplayOptions()));
  EXPECT_EQ(state_of(serial), end);
  for (const AnalysisOptions& analysis : {AnalysisOptions::for_ad_hoc(), AnalysisOptions()}) {
    for (const uint32_t threads : {1, 2, 4}) EXPECT_EQ(replay(analysis, threads), end) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, AdaptiveReplay,
                         testing::Values(NamedSql{"bank", kBankSql}, NamedSql{"orders", kOrdersSql}),
                         [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace mneme
