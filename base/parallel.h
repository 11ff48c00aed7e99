// for_each_in_parallel: runs a job for each index 0 .. count-1 on a few threads, which take the next one as
// they go. run_on_threads: runs a job once on each of some threads, which may fail.
//
// Both return once all have run; the caller's thread is one of them. The jobs must not throw, and touch only
// what is their own.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"

namespace mneme {

inline void for_each_in_parallel(size_t threads, size_t count, FunctionRef<void(size_t)> job) {
  std::atomic<size_t> next{
      0};  // relaxed: it only hands out indexes; joining the threads orders the jobs' effects
  const auto take = [&] {
    for (size_t i = next.fetch_add(1, std::memory_order_relaxed); i < count;
         i = next.fetch_add(1, std::memory_order_relaxed)) {
      job(i);
    }
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(take);
  take();
  for (std::thread& thread : others) thread.join();
}

// Returns the error of the first thread that has one, by its number.
inline Result<void> run_on_threads(uint32_t threads, FunctionRef<Result<void>(uint32_t)> job) {
  std::vector<Result<void>> results(threads);
  std::vector<std::thread> others;
  for (uint32_t i = 1; i < threads; ++i) others.emplace_back([&, i] { results[i] = job(i); });
  results[0] = job(0);
  for (std::thread& thread : others) thread.join();
  for (Result<void>& result : results) RETURN_IF_ERROR(std::move(result));
  return {};
}

}  // namespace mneme
