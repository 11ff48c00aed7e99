// Stands in for oneTBB, as task_group.h says.
#pragma once

#include <cstdlib>

namespace tbb {

struct task_arena {
  explicit task_arena(int) {}
  template <typename Work>
  void execute(const Work&) {
    std::abort();
  }
};

namespace this_task_arena {
inline int current_thread_index() {
  return 0;
}
}  // namespace this_task_arena

}  // namespace tbb
