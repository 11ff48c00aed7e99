// Crash child, for tests: a process that is killed at a random moment, and what it reported until then.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <utility>
#include <vector>

namespace mneme::test {

// Runs `child`, which writes Reports to the descriptor that it is given and never returns, kills it after
// some hundred of them, or when it has been silent for half a minute, which is a failure, and returns all
// that it wrote. `meanwhile` is called once the child is there. No other thread may be there before: it could
// hold a lock, which the child would wait for forever.
template <typename Report, typename Child, typename Meanwhile>
std::vector<Report> run_and_kill(uint64_t seed, Child&& child, Meanwhile&& meanwhile) {
  constexpr int kPatienceMs = 30'000;
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t process = ::fork();
  if (process == 0) child(ends[1]);
  ::close(ends[1]);
  meanwhile();
  std::mt19937_64 random(seed);
  const size_t enough = 100 + random() % 500;
  std::vector<Report> reports;
  Report report;
  while (reports.size() < enough) {
    pollfd watched{ends[0], POLLIN, 0};
    const int ready = ::poll(&watched, 1, kPatienceMs);
    EXPECT_GT(ready, 0) << "the child hangs";
    if (ready <= 0 || ::read(ends[0], &report, sizeof report) != sizeof report) break;
    reports.push_back(report);
  }
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  while (::read(ends[0], &report, sizeof report) == sizeof report) reports.push_back(report);
  ::close(ends[0]);
  return reports;
}
template <typename Report, typename Child>
std::vector<Report> run_and_kill(uint64_t seed, Child&& child) {
  return run_and_kill<Report>(seed, std::forward<Child>(child), [] {});
}

}  // namespace mneme::test
