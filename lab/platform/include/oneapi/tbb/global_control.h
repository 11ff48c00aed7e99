// Stands in for oneTBB, as task_group.h says.
#pragma once

#include <cstddef>

namespace tbb {

struct global_control {
  enum Parameter { max_allowed_parallelism };
  global_control(Parameter, size_t) {}
};

}  // namespace tbb
