// Deep stack: for what calls itself once for each level of its input: parsing, binding, printing, analysing,
// emitting.
//
//     syntax::File file = on_deep_stack([&] { return read(tree); });
//
// The job runs where it is called if the caller's stack has room for the deepest input that is accepted; else
// on a thread with a stack of its own, which the caller waits for. So a program that embeds the engine may
// call from threads with small stacks.
//
// Threads     any. The job runs on one thread at a time, but perhaps not on the caller's: it uses nothing
//             thread-local of the caller's.
// Errors      run() throws what the job throws; std::system_error where no thread can be made.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/function_ref.h"

namespace mneme {

// The bytes that are left of the calling thread's stack; 0 where it runs on another stack than its thread's
// own.
size_t stack_bytes_left();

void run_on_deep_stack(FunctionRef<void()> job);

template <typename Job>
auto on_deep_stack(Job&& job) {
  using Answer = std::invoke_result_t<Job&>;
  if constexpr (std::is_void_v<Answer>) {
    run_on_deep_stack(job);
  } else {
    std::optional<Answer> answer;
    run_on_deep_stack([&] { answer.emplace(job()); });
    return *std::move(answer);
  }
}

}  // namespace mneme
