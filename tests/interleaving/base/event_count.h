// Stands in for base/event_count.h in the interleaving test: waiting without a futex.
#pragma once

#include "tests/interleaving/scheduler.h"

namespace mneme {

class EventCount {
 public:
  template <typename Condition>
  void await(Condition condition) {
    while (!condition()) interleaving::wait_for_others();
  }
  void notify_all() { interleaving::step(interleaving::Step::kWrite); }
};

}  // namespace mneme
