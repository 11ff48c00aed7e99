// Arrivals: when a worker's calls are due, in an open loop.
//
// Uniform     at fixed intervals, the workers' in turn, so that no two calls of the run are due at once.
// Poisson     as independent clients send them: the gaps are exponential, each worker's of its own stream of
//             random numbers. The workers' streams together are a Poisson process of the whole rate. Calls
//             come in bursts, and wait for each other at a rate at which uniform ones would not.
// Invariants  due times never fall; they follow from the options alone.
// Units       nanoseconds of the monotonic clock.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/shared/random.h"

namespace mneme {

enum class ArrivalKind : uint8_t { kUniform, kPoisson };
// Returns the kind that a word of --arrivals names.
ArrivalKind arrival_kind(std::string_view name);

class Arrivals {
 public:
  // `rate`: calls a second, over all workers.
  Arrivals(ArrivalKind kind, double rate, uint64_t start_ns, uint32_t worker, uint32_t workers,
           uint64_t seed);

  uint64_t next_ns() const { return start_ns_ + static_cast<uint64_t>(since_start_ns_); }
  // The next call has begun.
  void advance() { since_start_ns_ += gap_ns(); }

 private:
  double gap_ns();

  ArrivalKind kind_;
  uint64_t start_ns_;
  double interval_ns_;  // between two of the worker's calls, on average
  Random random_;
  double since_start_ns_;
};

}  // namespace mneme
