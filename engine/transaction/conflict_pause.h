// ConflictPause: how long a transaction that met others in its way keeps out of theirs before it runs again.
//
// Why         Transactions can undo each other for ever: each has put a row into an index that the other
//             has searched, both are rolled back, which changes the index again, and both begin anew in step.
//             Locks do not order this, since there is no row yet that could be locked.
// Rule        A pause is drawn evenly from nothing to a limit, so that two never stay in step. The limit
//             doubles with each conflict from 2 us on. It ends at 1 ms, which is long for a call; but where
//             an attempt takes longer than a few microseconds it ends at kShare times the workers times the
//             attempts' length: if all of them are in each other's way, less than one of the others is
//             expected to run at a time, and the one that runs alone commits. The length is an average in
//             which the last ones count most: an attempt whose thread lost its core is soon forgotten.
// Cost        nothing before the first conflict; one look at the clock, or two, after each.
// Threads     one owner.
// Errors      none.
// Source      exponential back-off, as Ethernet's (Metcalfe and Boggs, CACM 1976), whose slot is a
//             transmission's length, and not a constant.
#pragma once

#include <chrono>
#include <cstdint>

namespace mneme {

class ConflictPause {
 public:
  using Duration = std::chrono::nanoseconds;

  // How many attempts of each worker fit into the longest pause.
  static constexpr int64_t kShare = 4;
  static constexpr Duration kFirstLimit = std::chrono::milliseconds(1);
  // A pause takes the thread along, on which others may wait.
  static constexpr Duration kLastLimit = std::chrono::milliseconds(100);

  // `seed`: pauses of different workers must not fall into step.
  ConflictPause(uint32_t workers, uint64_t seed) : workers_(workers), random_(seed | 1) {}

  // A transaction begins.
  void begin() { conflicts_ = 0; }
  // An attempt has met a conflict: returns once the next may begin.
  void after_conflict();
  // Returns the time since the transaction's first conflict.
  Duration waited() const { return conflicts_ == 0 ? Duration{} : resumed_ - first_conflict_; }

  // The limit of the pause behind so many conflicts, where an attempt takes `attempt`.
  static Duration limit(uint32_t conflicts, uint32_t workers, Duration attempt);

 private:
  using Clock = std::chrono::steady_clock;

  const uint32_t workers_;
  uint64_t random_;
  uint32_t conflicts_ = 0;
  Duration attempt_{};  // its average length
  Clock::time_point first_conflict_{};
  Clock::time_point resumed_{};  // when the last pause ended
};

}  // namespace mneme
