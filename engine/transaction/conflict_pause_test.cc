// Goal: pauses grow with conflicts up to a limit that follows the attempts' length and the number of workers.
// Method: the limit is a function of these; no clock is read.
#include "engine/transaction/conflict_pause.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(ConflictPause, DoublesFromConflictToConflict) {
  EXPECT_EQ(ConflictPause::limit(1, 2, microseconds(1)), microseconds(2));
  EXPECT_EQ(ConflictPause::limit(2, 2, microseconds(1)), microseconds(4));
  EXPECT_EQ(ConflictPause::limit(9, 2, microseconds(1)), microseconds(512));
}

TEST(ConflictPause, EndsAtAMillisecondForShortAttempts) {
  EXPECT_EQ(ConflictPause::limit(10, 2, microseconds(1)), milliseconds(1));
  EXPECT_EQ(ConflictPause::limit(10'000, 2, microseconds(100)), milliseconds(1));
}

TEST(ConflictPause, EndsWhereLongAttemptsOfAllWorkersLeaveRoomForOne) {
  EXPECT_EQ(ConflictPause::limit(30, 4, milliseconds(2)), milliseconds(2) * ConflictPause::kShare * 4);
  EXPECT_GT(ConflictPause::limit(30, 8, milliseconds(2)), ConflictPause::limit(30, 4, milliseconds(2)));
}

TEST(ConflictPause, NeverTakesAThreadForLonger) {
  EXPECT_EQ(ConflictPause::limit(40, 64, milliseconds(50)), ConflictPause::kLastLimit);
  EXPECT_EQ(ConflictPause::limit(~0u, 1'000, std::chrono::hours(1'000'000)), ConflictPause::kLastLimit);
}

}  // namespace
}  // namespace mneme
