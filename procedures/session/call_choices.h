// CallChoices: which procedures' calls are logged by the rows that they change, as an adviser decides while
// they run, and a sample of the calls for it to judge by.
//
// Flow        the adviser opens a window -> each worker adds the calls that it commits -> the window is full,
//             or closed -> the adviser judges the samples, and chooses
// Steady path one relaxed load a call. A worker reads a procedure's state once a call, and acts upon what it
//             read: a choice that changes meanwhile concerns the next call.
// Window      a place for each sample. A worker draws a place once its call has committed, copies the sample
//             into it, and counts it as filled (release). A worker that read the state while a window was
//             open may add its sample to the next one.
// Invariants  while a window is closed no place is drawn; before it opens, all that were drawn are filled.
// Memory      a window's samples take kMostWindowBytes at most. What comes then is dropped, and so is what
//             there is no memory for.
// Threads     state(), wants_samples(), add(), add_logged(): any. wake(): any. The rest: the adviser's
//             thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/cache_line.h"
#include "engine/schema/change_codec.h"
#include "procedures/ir/ir.h"

namespace mneme {

// A call that committed and changed rows.
struct CallSample {
  ProcedureId procedure;
  Lsn lsn;
  ByteSpan call;  // its encoding; empty: it cannot be logged as a call
  ByteSpan rows;  // the logical record of the rows that it changed; empty: it cannot be logged by them
};

class CallChoices {
 public:
  // A procedure's state, as a worker reads it once a call.
  class State {
   public:
    State() = default;
    bool is_logged_by_rows() const { return (bits_ & kByRows) != 0; }
    bool is_sampled() const { return (bits_ & kSampled) != 0; }

   private:
    friend class CallChoices;
    explicit State(uint8_t bits) : bits_(bits) {}
    uint8_t bits_ = 0;
  };

  // `most_samples`: of a window.
  CallChoices(size_t procedures, size_t most_samples);

  State state(ProcedureId procedure) const {
    return State(states_[procedure.value].load(std::memory_order_relaxed));
  }
  // Whether a place is left. Where not, a sample need not be made.
  bool wants_samples() const { return next_->load(std::memory_order_relaxed) < window_size(); }
  // Copies the sample, or drops it.
  void add(const CallSample& sample);
  // Counts calls of a procedure that were logged by their rows because of its state.
  void add_logged(ProcedureId procedure, uint64_t calls) {
    logged_[procedure.value].fetch_add(calls, std::memory_order_relaxed);
  }

  void choose(ProcedureId procedure, bool by_rows);
  uint64_t logged(ProcedureId procedure) const {
    return logged_[procedure.value].load(std::memory_order_relaxed);
  }
  // The window before has been closed.
  void open_window(size_t samples);
  // Waits until the window is full, or so long, or until wake() is called. Returns whether it is full.
  bool await_full(std::chrono::nanoseconds longest);
  // Waits so long, or until wake() is called.
  void rest(std::chrono::nanoseconds longest);
  // From now on nothing above waits.
  void wake();
  // Returns the samples in commit order; they stay valid until the next window opens.
  std::vector<CallSample> close_window();

 private:
  static constexpr uint8_t kByRows = 1;
  static constexpr uint8_t kSampled = 2;

  struct Place {
    CallSample sample;
    std::vector<std::byte> bytes;
  };

  static constexpr size_t kMostWindowBytes = size_t{64} << 20;
  static constexpr size_t kClosed = std::numeric_limits<size_t>::max() / 2;  // of next_

  size_t window_size() const { return window_size_.load(std::memory_order_relaxed); }
  void copy(const CallSample& sample, Place& place);
  void stop_sampling();
  void await(std::chrono::nanoseconds longest, bool full_is_enough);

  const size_t procedures_;
  const size_t most_samples_;
  const std::unique_ptr<std::atomic<uint8_t>[]> states_;   // by procedure; relaxed: nothing is handed over
  const std::unique_ptr<std::atomic<uint64_t>[]> logged_;  // by procedure; relaxed: counts
  const std::unique_ptr<Place[]> places_;
  // Written by the adviser while no place can be drawn, and published by next_; read by workers. Relaxed.
  std::atomic<size_t> window_size_{0};
  std::atomic<size_t> window_bytes_{0};  // relaxed: a bound
  // The next place. A worker that draws one acquires what the adviser did before it opened the window
  // (release).
  CachePadded<std::atomic<size_t>> next_{size_t{kClosed}};
  // How many of the window's places are filled: added to by workers (release), loaded by the adviser
  // (acquire).
  CachePadded<std::atomic<size_t>> filled_{size_t{0}};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;  // guarded by mutex_
};

}  // namespace mneme
