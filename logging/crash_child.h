// Crash child, for tests: a process that is killed at a random moment, and what it reported until then.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <random>
#include <vector>

namespace mneme::test {

// Runs `child`, which writes Reports to the descriptor that it is given and never returns, kills it after some hundred of
// them, and returns all that it wrote.
template <typename Report, typename Child>
std::vector<Report> run_and_kill(uint64_t seed, Child&& child) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t process = ::fork();
  if (process == 0) child(ends[1]);
  ::close(ends[1]);
  std::mt19937_64 random(seed);
  const size_t enough = 100 + random() % 500;
  std::vector<Report> reports;
  Report report;
  while (reports.size() < enough && ::read(ends[0], &report, sizeof report) == sizeof report)
    reports.push_back(report);
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  while (::read(ends[0], &report, sizeof report) == sizeof report) reports.push_back(report);
  ::close(ends[0]);
  return reports;
}

}  // namespace mneme::test
