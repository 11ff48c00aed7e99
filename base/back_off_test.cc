// Goal: waits double up to their limit, and begin anew after a success.
#include "base/back_off.h"

#include <gtest/gtest.h>

namespace mneme {
namespace {

using std::chrono::milliseconds;

TEST(BackOff, DoublesUpToItsLimitAndBeginsAnew) {
  BackOff wait(milliseconds(100), milliseconds(350));
  EXPECT_EQ(wait.next(), milliseconds(100));
  EXPECT_EQ(wait.next(), milliseconds(200));
  EXPECT_EQ(wait.next(), milliseconds(350));
  EXPECT_EQ(wait.next(), milliseconds(350));
  wait.reset();
  EXPECT_EQ(wait.next(), milliseconds(100));
}

}  // namespace
}  // namespace mneme
