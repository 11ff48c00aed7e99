// For tests: no file, pipe or socket can be opened while this lives.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace mneme::test {

class NoOpenFiles {
 public:
  NoOpenFiles() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{0, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoOpenFiles() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
  NoOpenFiles(const NoOpenFiles&) = delete;
  NoOpenFiles& operator=(const NoOpenFiles&) = delete;

 private:
  rlimit before_{};
};

}  // namespace mneme::test
