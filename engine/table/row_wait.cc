#include "engine/table/row_wait.h"

#include "base/clock.h"

namespace mneme {

namespace {

thread_local RowWait* innermost_wait = nullptr;

}  // namespace

RowWait::RowWait(FunctionRef<bool()> is_asked_to_stop, uint64_t deadline_ns)
    : is_asked_to_stop_(is_asked_to_stop), deadline_ns_(deadline_ns), outer_(innermost_wait) {
  innermost_wait = this;
}

RowWait::~RowWait() {
  innermost_wait = outer_;
}

bool RowWait::must_end() {
  if (innermost_wait == nullptr) return false;
  RowWait& wait = *innermost_wait;
  wait.has_ended_ = wait.has_ended_ || wait.is_asked_to_stop_() ||
                    (wait.deadline_ns_ != 0 && monotonic_ns() >= wait.deadline_ns_);
  return wait.has_ended_;
}

bool RowWait::has_ended() {
  return innermost_wait != nullptr && innermost_wait->has_ended_;
}

}  // namespace mneme
