// IoQueue: chains of a write and the sync that covers it, several in flight at once.
//
// Flow        register_memory, attach ... submit() ... wait() returns the chains that ended since
// Invariants  a chain's sync begins only when its write has completed whole; its completion says that both
//             did. Chains end in any order.
// Threads     wake: any. The rest: one thread at a time.
// Waiting     wait(), until a chain ends, wake() is called, or the time is over.
// Errors      a chain's completion carries the step that failed and why; nothing is tried again: after a
//             failed sync it is unknown what the device holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace mneme {

struct IoChain {
  enum class Durability : uint8_t {
    kNone,          // only for the device that tests that a missing sync is caught
    kSync,          // the write, then an fdatasync
    kWriteThrough,  // a write that is durable when it ends
  };

  uint64_t tag = 0;  // the caller's; not two equal ones in flight
  int file = -1;     // as attach() gave it
  ByteSpan bytes;    // stay in place until the chain has ended
  uint64_t offset = 0;
  Durability durability = Durability::kSync;
};

struct IoCompletion {
  enum class Failure : uint8_t { kNone, kWrite, kShortWrite, kSync };

  uint64_t tag = 0;
  Failure failure = Failure::kNone;
  int error_number = 0;  // of kWrite and kSync
};

class IoQueue {
 public:
  virtual ~IoQueue() = default;

  // Once, before the first chain: where most chains' bytes will lie, so that the queue can prepare it. An
  // error: it could not, and works without.
  virtual Result<void> register_memory(std::span<std::byte>) { return {}; }
  // Names an open file for chains, by its descriptor, or by what else the queue knows it by. It stays open
  // until detach(), which comes when none of its chains is in flight.
  virtual int attach(int handle) { return handle; }
  virtual void detach(int) {}

  // May be held back until the next wait(), so that both are one call of the system.
  virtual void submit(const IoChain& chain) = 0;
  // Appends the chains that ended to `ended`. Returns at once if there are any.
  virtual void wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) = 0;
  // Ends the current or the next wait().
  virtual void wake() = 0;
  // Whether every chain has ended when submit() returns.
  virtual bool ends_in_submit() const { return false; }
  // Why no chain succeeds any more, where the queue knows better than its chains' completions say.
  virtual std::optional<Error> failure() const { return std::nullopt; }
};

}  // namespace mneme
