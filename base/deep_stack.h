// Deep stack: runs code that calls itself once for each level of its input, such as parsing, binding,
// printing, analysing and emitting.
//
//     syntax::File file = on_deep_stack([&] { return read(tree); });
//
// The job runs on the caller's thread if its stack has room for the deepest input that the parser accepts.
// Otherwise the job runs on a new thread with a deep stack, and the caller waits for it. So a program that
// embeds the engine may call the engine from threads with small stacks.
//
// Threads     any. The job runs on one thread, which need not be the caller's. So the job must not use the
//             caller's thread-local data.
// Errors      on_deep_stack() throws what the job throws, and std::system_error if no thread can be made.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/function_ref.h"

namespace mneme {

// Returns how many bytes are left on the calling thread's own stack; 0 if the caller runs on another stack,
// or if the bounds of its stack are unknown.
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
