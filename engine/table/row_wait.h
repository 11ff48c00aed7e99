// RowWait: ends a wait for rows, deep below a statement, before they are there.
//
// Flow        the statement's runner has one on its stack -> a gate's wait asks must_end(), now and then
//             (AccessGate) -> the transaction gives up as after a conflict -> has_ended() says so, and the
//             runner does not try again
// Threads     it counts in the thread that made it, while it lives. The innermost of several counts.
#pragma once

#include <cstdint>

#include "base/function_ref.h"

namespace mneme {

class RowWait {
 public:
  // `is_asked_to_stop` must outlive this. `deadline_ns`: of monotonic_ns(); 0: none.
  RowWait(FunctionRef<bool()> is_asked_to_stop, uint64_t deadline_ns);
  ~RowWait();
  RowWait(const RowWait&) = delete;
  RowWait& operator=(const RowWait&) = delete;

  // Whether the wait that this thread is in is to end. Once true, it stays so.
  static bool must_end();
  // Whether a wait of this thread has been ended so, below the RowWait that counts.
  static bool has_ended();

 private:
  const FunctionRef<bool()> is_asked_to_stop_;
  const uint64_t deadline_ns_;
  RowWait* const outer_;
  bool has_ended_ = false;
};

}  // namespace mneme
