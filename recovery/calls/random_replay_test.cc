// Goal: whatever the schema and the procedures, and however they are taken apart, a log of calls ends,
// replayed, where the transactions ended. Method: hundreds of programs made at random, half of them of random
// schemas as well (random_sql.h), half of procedures that flow and jump as no person would write them
// (random_procedures.h). Each runs random calls once; the log that they leave, with ad-hoc transactions in
// most, and hints in half of them, is replayed by CLR, and by CLR-P under every analysis, with each level,
// size of batch and number of threads in turn, and digests are compared. Batches and windows of the log end
// anywhere among the calls.
//
// The first seed is printed; MNEME_SEED=n runs that one alone.
#include <fmt/format.h>

#include <cstdlib>
#include <random>
#include <string>

#include "analyzer/testing/every_analysis.h"
#include "recovery/testing/random_programs.h"

namespace mneme {
namespace {

#ifdef NDEBUG
constexpr uint64_t kPrograms = 600;
#else
constexpr uint64_t kPrograms = 60;  // a sanitizer makes each take many times as long
#endif
constexpr uint64_t kShards = 4;
constexpr uint32_t kTableRows = 12;  // of a table, at first
constexpr uint32_t kCalls = 50;

// All combinations come up with each analysis as the seed goes on.
ReplayOptions replay_options(uint64_t number) {
  constexpr ReplayLevel kLevels[] = {ReplayLevel::kPipelined, ReplayLevel::kSynchronous,
                                     ReplayLevel::kStatic};
  constexpr uint32_t kBatches[] = {1, 4, 17, 1000};
  ReplayOptions options;
  options.level = kLevels[number % 3];
  options.batch_transactions = kBatches[number / 3 % 4];
  options.threads = 1 + static_cast<uint32_t>(number / 12 % 2);
  return options;
}
constexpr uint64_t kCombinations = 24;

struct Totals {
  uint64_t records = 0;
  uint64_t blocks = 0;
  uint64_t hinted = 0;
};

void expect_equal_ends(uint64_t seed, Totals& totals) {
  const std::string sql = random_program(seed);
  SCOPED_TRACE(testing::Message() << "MNEME_SEED=" << seed << "\n" << sql);
  ReplayFixture fixture(sql, kTableRows, PageSize::kSmall);
  fixture.use_hints(seed / 2 % 2 == 0);
  const Digest forward = fixture.run_forward(kCalls, static_cast<uint32_t>(seed), ad_hoc_of(seed));
  totals.records += fixture.records().size();
  totals.blocks += fixture.graph().blocks.size();
  totals.hinted += fixture.hinted();
  EXPECT_EQ(fixture.replay_serially(replay_options(seed)), forward);
  uint64_t number = seed * 5;  // which has no divisor in common with the combinations
  for (const AnalysisOptions& analysis : every_analysis()) {
    number += 7;
    const ReplayOptions options = replay_options(number % kCombinations);
    fixture.take_apart(analysis);
    EXPECT_EQ(fixture.replay_in_parallel(options), forward)
        << to_string(analysis) << ", level " << static_cast<int>(options.level) << ", "
        << options.batch_transactions << " a batch, " << options.threads << " threads";
  }
}

class RandomReplay : public testing::TestWithParam<uint64_t> {};

TEST_P(RandomReplay, EndsWhereTheTransactionsEnded) {
  const char* const given = std::getenv("MNEME_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  const uint64_t programs = given != nullptr ? 1 : kPrograms / kShards;
  fmt::print("MNEME_SEED={} and the {} that follow\n", first, programs - 1);
  std::fflush(stdout);
  Totals totals;
  for (uint64_t seed = first; seed < first + programs && !HasFailure(); ++seed)
    expect_equal_ends(seed, totals);
  if (given != nullptr) return;
  // Among few programs, those in which most calls fail may be many.
  EXPECT_GT(totals.records, programs * kCalls / (programs < 100 ? 10 : 4))
      << "most calls fail, or write nothing: the test proves little";
  EXPECT_GT(totals.hinted, programs) << "hardly a call has a hint: the test proves little of them";
  EXPECT_GT(totals.blocks, programs * 2) << "the programs are hardly taken apart: the test proves little";
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomReplay, testing::Range(uint64_t{0}, kShards));

}  // namespace
}  // namespace mneme
