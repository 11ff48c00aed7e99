// Scheduler: runs a few threads as fibers of one, and tries every order of their atomic steps, one run after
// the other.
//
// Flow        explore() -> for each schedule: make the scenario, run its threads step by step, examine it
// Invariants  a run is a function of its schedule: the same choices lead to the same run. So a schedule is a
//             list of choices, and the next one differs in the last choice that has an alternative left.
// Bound       by default the running thread goes on, and where it waits or ends, the next one in turn. A
//             schedule departs from that so many times. Few times suffice for nearly all known mistakes
//             (Emmi, Qadeer, Rakamaric: Delay-Bounded Scheduling, POPL 2011).
// Waiting     a thread that waits runs again once another one has written. When all wait, that is a deadlock.
// Not here    what memory orders allow: steps are sequentially consistent.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mneme::interleaving {

enum class Step : uint8_t { kRead, kWrite };

// The running thread is about to read or write what others may see. Outside of explore(): nothing.
void step(Step kind);
// The running thread cannot go on before another one has written something.
void wait_for_others();
// The running thread is stopped until all others have ended or wait.
void stop();

// One run: its threads, and what must hold when all have ended.
class Scenario {
 public:
  virtual ~Scenario() = default;
  virtual std::vector<std::function<void()>> threads() = 0;
  virtual void examine() = 0;

  // To be called by threads and examine(): ends the exploration.
  void violated(std::string what) {
    if (!violation_) violation_ = std::move(what);
  }
  const std::optional<std::string>& violation() const { return violation_; }

 private:
  std::optional<std::string> violation_;
};

struct Exploration {
  uint64_t schedules = 0;
  bool complete = false;  // every schedule within the bound was tried
  std::optional<std::string> violation;
};

Exploration explore(const std::function<std::unique_ptr<Scenario>()>& make, uint32_t deviations,
                    uint64_t most_schedules);

}  // namespace mneme::interleaving
