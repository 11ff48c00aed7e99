// Goal: durable() is the lowest number that a worker has not fenced; it waits for no worker that has nothing
// to fence, and gets stragglers to say what they have. Method: each step of a worker by hand, in threads
// where it matters whose they are; and the horizon that does without fences, by the same steps.
#include "logging/nvm/passive_group_commit.h"

#include <gtest/gtest.h>

#include <latch>

#include "logging/nvm/durable_cache_horizon.h"

namespace mneme {
namespace {

constexpr WorkerId kLeft{0};
constexpr WorkerId kRight{1};
constexpr Lsn kBegin{1000};

PassiveGroupCommitOptions options() {
  return {.begin = kBegin, .appenders = 3, .period = std::chrono::microseconds(50)};
}

Lsn commit(CommitHorizon& horizon, WorkerId worker, RecordKind kind = RecordKind::kCommand) {
  const Lsn lsn = horizon.draw(worker);
  horizon.settled(worker, lsn, kind);
  return lsn;
}

// Whether it becomes durable, given some time.
bool becomes_durable(const CommitHorizon& horizon, Lsn lsn) {
  for (int i = 0; i < 50; ++i) {
    if (lsn < horizon.durable()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Whether somebody is signalled, given time. A signal may be handled before it is counted.
bool signals(const PassiveGroupCommit& horizon) {
  for (int i = 0; i < 10'000; ++i) {
    if (horizon.counters().signals > 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// A thread that does nothing but what it is told, and takes signals meanwhile.
class Spinner {
 public:
  template <typename Work>
  explicit Spinner(Work work)
      : thread_([this, work] {
          work();
          is_done_.count_down();
          while (!ends_.load(std::memory_order_acquire)) std::this_thread::yield();
        }) {
    is_done_.wait();
  }
  ~Spinner() { ends_.store(true, std::memory_order_release); }

 private:
  std::latch is_done_{1};
  std::atomic<bool> ends_{false};
  std::jthread thread_;
};

TEST(PassiveGroupCommit, WhatAllHaveFencedIsDurable) {
  PassiveGroupCommit horizon(options());
  EXPECT_EQ(horizon.durable(), kBegin);
  EXPECT_EQ(commit(horizon, kLeft), kBegin);
  const Lsn last = commit(horizon, kRight);
  EXPECT_EQ(last, kBegin + 1);
  EXPECT_TRUE(horizon.await(last));
  EXPECT_EQ(horizon.durable(), last + 1);
  EXPECT_GT(horizon.counters().looks, 0u);
}

TEST(PassiveGroupCommit, ARecordThatIsNotStoredHoldsUpWhatComesAfterIt) {
  PassiveGroupCommit horizon(options());
  const Lsn before = commit(horizon, kLeft);
  const Lsn slow = horizon.draw(kRight);
  const Lsn after = commit(horizon, kLeft);
  EXPECT_TRUE(horizon.await(before));
  // It is signalled, and what it can say is what it had said.
  EXPECT_TRUE(signals(horizon));
  EXPECT_FALSE(becomes_durable(horizon, slow));
  EXPECT_EQ(horizon.durable(), slow);
  horizon.settled(kRight, slow, RecordKind::kCommand);
  EXPECT_TRUE(horizon.await(after));
}

TEST(PassiveGroupCommit, AWorkerWithNothingToFenceHoldsNobodyUp) {
  PassiveGroupCommit horizon(options());
  EXPECT_TRUE(horizon.await(commit(horizon, kRight)));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(horizon.await(commit(horizon, kLeft)));
}

// A record that is no commit is not fenced, and its worker goes on without another.
TEST(PassiveGroupCommit, AStragglerIsSignalled) {
  PassiveGroupCommit horizon(options());
  Lsn unfenced;
  const Spinner straggler([&] { unfenced = commit(horizon, kRight, RecordKind::kSkip); });
  const Lsn after = commit(horizon, kLeft);
  EXPECT_LT(unfenced, after);
  EXPECT_TRUE(horizon.await(after));
  EXPECT_TRUE(signals(horizon));
}

TEST(PassiveGroupCommit, TheNextCommitFencesWhatWasNot) {
  PassiveGroupCommit horizon(options());
  commit(horizon, kLeft, RecordKind::kSkip);
  commit(horizon, kLeft, RecordKind::kSkip);
  EXPECT_TRUE(horizon.await(commit(horizon, kLeft)));
}

// Between two records of a thread a signal says what was stored before the second.
TEST(PassiveGroupCommit, AStragglerInTheMiddleOfARecordSaysWhatIsBeforeIt) {
  PassiveGroupCommit horizon(options());
  Lsn unfenced;
  Lsn drawn;
  const Spinner straggler([&] {
    unfenced = commit(horizon, kRight, RecordKind::kSkip);
    drawn = horizon.draw(kRight);
  });
  EXPECT_TRUE(horizon.await(unfenced));
  EXPECT_FALSE(becomes_durable(horizon, drawn));
}

TEST(PassiveGroupCommit, AThreadThatHasEndedHoldsNobodyUp) {
  PassiveGroupCommit horizon(options());
  std::thread([&] { commit(horizon, kRight, RecordKind::kSkip); }).join();
  EXPECT_TRUE(horizon.await(commit(horizon, kLeft)));
  // Another thread goes on for the worker.
  std::thread([&] { commit(horizon, kRight, RecordKind::kSkip); }).join();
  EXPECT_TRUE(horizon.await(commit(horizon, kRight)));
}

TEST(PassiveGroupCommit, TellsOfEachRiseBeforeAnybodyElse) {
  Lsn told = kBegin;
  PassiveGroupCommitOptions wanted = options();
  wanted.rises = [&](Lsn durable) {
    EXPECT_GT(durable, told);
    told = durable;
  };
  PassiveGroupCommit horizon(wanted);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(horizon.await(commit(horizon, kLeft)));
}

TEST(PassiveGroupCommit, EndsItsWaitsWhenTheLogFails) {
  PassiveGroupCommit horizon(options());
  const Lsn slow = horizon.draw(kRight);
  std::thread waits([&] { EXPECT_FALSE(horizon.await(slow)); });
  horizon.fail();
  waits.join();
  EXPECT_TRUE(horizon.has_failed());
  horizon.settled(kRight, slow, RecordKind::kCommand);
  EXPECT_FALSE(becomes_durable(horizon, slow));
}

// A fault that crash tests must catch.
TEST(PassiveGroupCommitCanary, SwitchedOffItPassesWhatOthersHaveNotFenced) {
  PassiveGroupCommitOptions wanted = options();
  wanted.groups = false;
  PassiveGroupCommit horizon(wanted);
  const Lsn slow = horizon.draw(kRight);
  EXPECT_TRUE(horizon.await(commit(horizon, kLeft)));
  EXPECT_GT(horizon.durable(), slow);
  horizon.settled(kRight, slow, RecordKind::kCommand);
}

TEST(DurableCacheHorizon, WhatIsStoredIsDurable) {
  DurableCacheHorizon horizon(kBegin, 3);
  EXPECT_EQ(horizon.durable(), kBegin);
  const Lsn first = commit(horizon, kLeft);
  EXPECT_EQ(horizon.durable(), first + 1);
  const Lsn second = commit(horizon, kRight, RecordKind::kSkip);
  EXPECT_EQ(horizon.durable(), second + 1);
  const Lsn slow = horizon.draw(kRight);
  const Lsn after = commit(horizon, kLeft);
  EXPECT_EQ(horizon.durable(), slow);
  std::thread waits([&] { EXPECT_TRUE(horizon.await(after)); });
  horizon.settled(kRight, slow, RecordKind::kCommand);
  waits.join();
  EXPECT_EQ(horizon.durable(), after + 1);
}

}  // namespace
}  // namespace mneme
