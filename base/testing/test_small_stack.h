// A thread with a stack of 512 KiB, the least that threads of programs around the library have: for tests of
// deep recursion.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include "base/function_ref.h"

namespace mneme::test {

// Runs the job on a thread with so small a stack.
inline void on_small_stack(FunctionRef<void()> job) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t{512} << 10), 0);
  pthread_t thread{};
  const auto run = [](void* argument) -> void* {
    (*static_cast<FunctionRef<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &job), 0);
  pthread_attr_destroy(&attributes);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
}

}  // namespace mneme::test
