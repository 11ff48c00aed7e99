#include "base/deep_stack.h"

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <system_error>

#include "base/check.h"

namespace mneme {

namespace {

// The deepest input that the parser accepts takes a third of this in a build with sanitizers and without
// optimization.
constexpr size_t kEnoughBytes = size_t{6} << 20;
// Less than what the C library keeps of ended threads' stacks, so that the next job finds this one.
constexpr size_t kDeepBytes = size_t{32} << 20;

struct Stack {
  uintptr_t low = 0;
  uintptr_t high = 0;
};

Stack stack_of_this_thread() {
  Stack stack;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return stack;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_attr_getstack(&attributes, &low, &bytes) == 0) {
    stack.low = reinterpret_cast<uintptr_t>(low);
    stack.high = stack.low + bytes;
  }
  pthread_attr_destroy(&attributes);
  return stack;
}

struct DeepRun {
  FunctionRef<void()> job;
  std::exception_ptr thrown;
};

void* run(void* argument) {
  auto* deep = static_cast<DeepRun*>(argument);
  try {
    deep->job();
  } catch (...) {
    deep->thrown = std::current_exception();
  }
  return nullptr;
}

}  // namespace

size_t stack_bytes_left() {
  static thread_local const Stack stack = stack_of_this_thread();
  const auto at = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return at > stack.low && at <= stack.high ? at - stack.low : 0;
}

void run_on_deep_stack(FunctionRef<void()> job) {
  if (stack_bytes_left() >= kEnoughBytes) return job();
  DeepRun deep{job, nullptr};
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0);
  CHECK(pthread_attr_setstacksize(&attributes, kDeepBytes) == 0);
  pthread_t thread{};
  const int refused = pthread_create(&thread, &attributes, run, &deep);
  pthread_attr_destroy(&attributes);
  if (refused != 0) throw std::system_error(refused, std::generic_category(), "a thread with a deep stack");
  CHECK(pthread_join(thread, nullptr) == 0);
  if (deep.thrown) std::rethrow_exception(deep.thrown);
}

}  // namespace mneme
