// Crash child, for tests: runs a process, kills it at a random moment, and returns its reports.
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

// Runs `child` in a forked process, kills the process after 100 to 599 reports (`seed` decides), and returns
// all that it reported. `child` writes Reports to the descriptor that it is given, and never returns. If it
// reports nothing for half a minute, the process is killed and the test fails. `meanwhile` is called right
// after the fork. No other thread may run at the fork: it could hold a lock, for which the child would wait
// forever.
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
