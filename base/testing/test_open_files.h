// For tests: no file, pipe or socket can be opened while this lives, besides so many.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace mneme::test {

class NoOpenFiles {
 public:
  explicit NoOpenFiles(size_t besides = 0) {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    rlimit below{0, before_.rlim_max};
    // The system gives the lowest descriptors that are free.
    std::vector<int> free(besides);
    for (int& each : free) {
      each = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      below.rlim_cur = std::max(below.rlim_cur, static_cast<rlim_t>(each) + 1);
    }
    for (const int each : free) ::close(each);
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &below), 0);
  }
  ~NoOpenFiles() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoOpenFiles(const NoOpenFiles&) = delete;
  NoOpenFiles& operator=(const NoOpenFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace mneme::test
