// Goal: a lock is one session's or shared, however often it is taken, and no sessions wait in a circle.
// Method: few sessions, one step after the other.
#include "server/session/advisory_locks.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using AdvisoryMode = AdvisoryLocks::Mode;
using AdvisoryUntil = AdvisoryLocks::Until;
using AdvisoryOutcome = AdvisoryLocks::Outcome;

constexpr AdvisoryLocks::Key kOne{.number = 1};
constexpr AdvisoryLocks::Key kTwo{.number = 2};

AdvisoryOutcome attempt(AdvisoryLocks& locks, uint32_t session, AdvisoryLocks::Key key,
                        AdvisoryMode mode = AdvisoryMode::kExclusive) {
  return locks.take(session, key, mode, AdvisoryUntil::kGivenUp, false);
}
AdvisoryOutcome wait(AdvisoryLocks& locks, uint32_t session, AdvisoryLocks::Key key,
                     AdvisoryMode mode = AdvisoryMode::kExclusive) {
  return locks.take(session, key, mode, AdvisoryUntil::kGivenUp, true);
}

TEST(AdvisoryLocks, OneIsHeldAsOftenAsItIsTaken) {
  AdvisoryLocks locks;
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, kOne), AdvisoryOutcome::kHeldByOthers);
  EXPECT_EQ(attempt(locks, 2, {.is_pair = true, .number = 1}), AdvisoryOutcome::kTaken);
  EXPECT_TRUE(locks.give_up(1, kOne, AdvisoryMode::kExclusive));
  EXPECT_EQ(attempt(locks, 2, kOne), AdvisoryOutcome::kHeldByOthers);
  EXPECT_FALSE(locks.give_up(1, kOne, AdvisoryMode::kShared));
  EXPECT_FALSE(locks.give_up(2, kOne, AdvisoryMode::kExclusive));
  EXPECT_TRUE(locks.give_up(1, kOne, AdvisoryMode::kExclusive));
  EXPECT_FALSE(locks.give_up(1, kOne, AdvisoryMode::kExclusive));
  EXPECT_EQ(attempt(locks, 2, kOne), AdvisoryOutcome::kTaken);
}

TEST(AdvisoryLocks, SharedOnesStandInNoOthersWay) {
  AdvisoryLocks locks;
  EXPECT_EQ(attempt(locks, 1, kOne, AdvisoryMode::kShared), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, kOne, AdvisoryMode::kShared), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kHeldByOthers);
  EXPECT_TRUE(locks.give_up(2, kOne, AdvisoryMode::kShared));
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, kOne, AdvisoryMode::kShared), AdvisoryOutcome::kHeldByOthers);
}

TEST(AdvisoryLocks, ABlocksEndWithItAndASessionsWithTheSession) {
  AdvisoryLocks locks;
  EXPECT_EQ(locks.take(1, kOne, AdvisoryMode::kExclusive, AdvisoryUntil::kEndOfBlock, false),
            AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 1, kTwo), AdvisoryOutcome::kTaken);
  EXPECT_FALSE(locks.give_up(1, kOne, AdvisoryMode::kExclusive));
  locks.give_up_all(1, AdvisoryUntil::kEndOfBlock);
  EXPECT_EQ(attempt(locks, 2, kOne), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, kTwo), AdvisoryOutcome::kHeldByOthers);
  locks.end_session(1);
  EXPECT_EQ(attempt(locks, 2, kTwo), AdvisoryOutcome::kTaken);
}

TEST(AdvisoryLocks, TheLastOfACircleIsRefused) {
  AdvisoryLocks locks;
  constexpr AdvisoryLocks::Key kThree{.number = 3};
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, kTwo), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 3, kThree), AdvisoryOutcome::kTaken);
  EXPECT_EQ(wait(locks, 1, kTwo), AdvisoryOutcome::kHeldByOthers);
  EXPECT_EQ(wait(locks, 2, kThree), AdvisoryOutcome::kHeldByOthers);
  EXPECT_EQ(wait(locks, 3, kOne), AdvisoryOutcome::kDeadlock);
  EXPECT_EQ(wait(locks, 1, kTwo), AdvisoryOutcome::kHeldByOthers);
  locks.stop_waiting(2);
  EXPECT_EQ(wait(locks, 3, kOne), AdvisoryOutcome::kHeldByOthers);
  EXPECT_EQ(wait(locks, 2, kThree), AdvisoryOutcome::kDeadlock);
}

// Sessions that share locks are looked at once each, however many ways lead to them.
TEST(AdvisoryLocks, ManyWaysToACircleAreNotAllGone) {
  AdvisoryLocks locks;
  constexpr uint32_t kLevels = 60;
  // Two sessions a level share its lock, and wait for that of the next level.
  for (uint32_t level = 0; level < kLevels; ++level) {
    for (const uint32_t session : {2 * level, 2 * level + 1})
      EXPECT_EQ(attempt(locks, session, {.number = level}, AdvisoryMode::kShared), AdvisoryOutcome::kTaken);
  }
  for (uint32_t level = 0; level + 1 < kLevels; ++level) {
    for (const uint32_t session : {2 * level, 2 * level + 1})
      EXPECT_EQ(wait(locks, session, {.number = level + 1}), AdvisoryOutcome::kHeldByOthers);
  }
  EXPECT_EQ(wait(locks, 2 * kLevels, {.number = 0}), AdvisoryOutcome::kHeldByOthers);
  EXPECT_EQ(wait(locks, 2 * kLevels - 1, {.number = 0}), AdvisoryOutcome::kDeadlock);
}

TEST(AdvisoryLocks, ThereAreSoManyAtMost) {
  AdvisoryLocks locks;
  const auto most = static_cast<int64_t>(AdvisoryLocks::kMostLocks);
  for (int64_t number = 0; number < most; ++number)
    ASSERT_EQ(attempt(locks, 1, {.number = number}), AdvisoryOutcome::kTaken);
  EXPECT_EQ(attempt(locks, 2, {.number = most}), AdvisoryOutcome::kTooMany);
  EXPECT_EQ(attempt(locks, 1, kOne), AdvisoryOutcome::kTaken);
  locks.end_session(1);
  EXPECT_EQ(attempt(locks, 2, {.number = most}), AdvisoryOutcome::kTaken);
}

}  // namespace
}  // namespace mneme
