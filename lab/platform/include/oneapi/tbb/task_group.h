// Stands in for oneTBB: the laboratory's own threads run the lane scheduler's tasks
// (recovery/calls/lane_threads.h).
#pragma once

#include <cstdlib>

namespace tbb {

struct task_group {
  template <typename Task>
  void run(const Task&) {
    std::abort();
  }
  void wait() {}
};

}  // namespace tbb
