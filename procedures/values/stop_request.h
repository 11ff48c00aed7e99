// StopRequest: asks the thread that runs a client's statement to end it before it is done.
//
// Flow        the client's session: begin(), set_deadline() -> the statement's runner: is_due(), for every
//             row and iteration. Where it returns true the statement fails (stopped_error(), run_errors.h).
//             another thread, meanwhile: cancel(), give_way() or end_connection()
// Invariants  a cancel, and a wish to give way, is of the request that runs: the next begin() forgets it. The
//             end of a connection stays.
// Threads     cancel(), give_way(), end_connection(): any. The rest: the thread that has the session.
// Orders      reason_ is relaxed: it hands nothing over, and a runner that sees it a little later runs a
//             little longer.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace mneme {

class StopRequest {
 public:
  enum class Reason : uint8_t {
    kNone,
    kCancelled,       // its client wants that
    kInWay,           // of a standby's replay
    kTimedOut,        // its deadline has passed
    kConnectionEnds,  // its client is gone, or the server ends
  };

  void cancel() { ask(Reason::kCancelled); }
  void give_way() { ask(Reason::kInWay); }
  void end_connection() { reason_.store(Reason::kConnectionEnds, std::memory_order_relaxed); }

  // A request of the client begins.
  void begin() {
    for (Reason former : {Reason::kCancelled, Reason::kInWay})
      reason_.compare_exchange_strong(former, Reason::kNone, std::memory_order_relaxed);
  }
  // Takes back a give_way(): the statement is in nobody's way.
  void stay() {
    Reason in_way = Reason::kInWay;
    reason_.compare_exchange_strong(in_way, Reason::kNone, std::memory_order_relaxed);
  }
  // A statement begins. 0: it has no deadline.
  void set_deadline(uint64_t monotonic) { deadline_ns_ = monotonic; }

  Reason reason() const {
    const Reason asked = reason_.load(std::memory_order_relaxed);
    if (asked != Reason::kNone || deadline_ns_ == 0) return asked;
    return monotonic_ns() < deadline_ns_ ? Reason::kNone : Reason::kTimedOut;
  }
  // Looks for a reason at every kCallsALook-th call, so that it costs a row next to nothing.
  bool is_due() { return ++calls_ % kCallsALook == 0 && reason() != Reason::kNone; }

 private:
  void ask(Reason why) {
    Reason none = Reason::kNone;
    reason_.compare_exchange_strong(none, why, std::memory_order_relaxed);
  }

  static constexpr uint32_t kCallsALook = 64;

  std::atomic<Reason> reason_{Reason::kNone};
  uint64_t deadline_ns_ = 0;
  uint32_t calls_ = 0;
};

}  // namespace mneme
