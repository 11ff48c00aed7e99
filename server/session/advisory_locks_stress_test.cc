// Goal: no two sessions hold a lock in modes that exclude each other. Method: threads take it in turns, in
// either mode, and count who is inside.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "server/session/advisory_locks.h"

namespace mneme {
namespace {

TEST(AdvisoryLocksStress, ModesExcludeEachOther) {
  using Mode = AdvisoryLocks::Mode;
  constexpr int kRounds = 2000;
  AdvisoryLocks locks;
  std::atomic<int> alone{0};
  std::atomic<int> together{0};
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (uint32_t session = 1; session <= 4; ++session) {
    threads.emplace_back([&, session] {
      for (int round = 0; round < kRounds; ++round) {
        const Mode mode = (round + session) % 3 == 0 ? Mode::kExclusive : Mode::kShared;
        const AdvisoryLocks::Key key{.number = 7};
        while (locks.take(session, key, mode, AdvisoryLocks::Until::kGivenUp, true) !=
               AdvisoryLocks::Outcome::kTaken)
          std::this_thread::yield();
        std::atomic<int>& mine = mode == Mode::kExclusive ? alone : together;
        const int before = mine.fetch_add(1);
        if (mode == Mode::kExclusive ? before + together.load() != 0 : alone.load() != 0) faults.fetch_add(1);
        mine.fetch_sub(1);
        if (!locks.give_up(session, key, mode)) faults.fetch_add(1);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(faults.load(), 0);
}

}  // namespace
}  // namespace mneme
