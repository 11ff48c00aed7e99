// Terminals: the users at a worker's share of a benchmark's terminals, and when each makes his next call.
//
// Flow        wait until next_ns() -> take() -> the call is made -> answered()
// Cycle       a user chooses the next transaction as the last one is answered: it is keyed in behind the
//             think time of the last one, and due then. The first ones are spread over their keying and think
//             time.
// Invariants  a terminal has at most one call that is not answered; what it does follows from the seed, its
//             own number and the times of the answers.
// Units       nanoseconds of the monotonic clock.
// Memory      allocated by the constructor alone.
// Threads     one owner.
// Source      TPC Benchmark C, revision 5.11, clause 5.2.5.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "workloads/shared/random.h"
#include "workloads/shared/terminal_rules.h"
#include "workloads/shared/workload.h"

namespace mneme {

class Terminals {
 public:
  // Those numbered `worker`, `worker` + `workers`, ... below `count`. `rules` outlives this.
  Terminals(const Workload& workload, const TerminalRules& rules, uint32_t count, uint32_t worker,
            uint32_t workers, uint32_t incarnation, uint64_t seed, uint64_t start_ns);

  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  // When the next call is due; kNever: each terminal waits for an answer.
  uint64_t next_ns() const { return due_.empty() ? kNever : due_.front().at_ns; }

  struct Due {
    uint32_t terminal = 0;       // among those of this worker
    const Call* call = nullptr;  // valid until the terminal's answered()
  };
  // The call that is due at next_ns().
  Due take();
  // The terminal's call was answered: committed, or rolled back.
  void answered(uint32_t terminal, uint64_t now_ns);

 private:
  struct Entry {
    uint64_t at_ns;
    uint32_t terminal;
  };
  struct User {
    std::unique_ptr<CallGenerator> generator;
    Random random;
    uint64_t position = 0;
    const Call* next = nullptr;
    double think_seconds = 0;  // of the last call
  };

  static bool is_later(const Entry& one, const Entry& other);
  void choose_next(uint32_t terminal, uint64_t from_ns);
  double think_time(User& user) const;

  const TerminalRules& rules_;
  std::vector<User> users_;
  std::vector<Entry> due_;  // a heap: the earliest first
};

}  // namespace mneme
