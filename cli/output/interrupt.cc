#include "cli/output/interrupt.h"

#include <atomic>

namespace mneme {
namespace {

// Set by the signal's handler, read by any thread. Relaxed: nothing is handed over with it.
std::atomic<bool> interrupt_has_come{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void note_interrupt(int) {
  interrupt_has_come.store(true, std::memory_order_relaxed);
}

}  // namespace

Interrupt::Interrupt() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  // After the first one the system's own action is back; interrupted calls go on.
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &former_);
  if (former_.sa_handler == SIG_IGN) sigaction(SIGINT, &former_, nullptr);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &former_, nullptr);
}

bool Interrupt::has_come() {
  return interrupt_has_come.load(std::memory_order_relaxed);
}

}  // namespace mneme
