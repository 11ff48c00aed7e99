#include "recovery/adaptive/adaptive_logging.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/clock.h"

namespace mneme {
namespace {

constexpr std::chrono::seconds kLongestWindow{5};
constexpr std::chrono::milliseconds kShortestRest{100};
// A rest by the time that it took to judge the window before.
constexpr uint64_t kRestShare = 30;

}  // namespace

AdaptiveLogging::AdaptiveLogging(const Program& program, const Schema& schema, const AdviserOptions& options)
    : choices_(program.procedures.size(), kFirstWindow),
      adviser_(program, schema, options),
      procedures_(program.procedures.size()),
      thread_([this] { watch(); }) {}

AdaptiveLogging::~AdaptiveLogging() {
  finish();
}

void AdaptiveLogging::watch() {
  size_t size = kFirstWindow;
  while (!is_stopped_.load(std::memory_order_relaxed)) {
    choices_.open_window(size);
    choices_.await_full(kLongestWindow);
    const std::vector<CallSample> samples = choices_.close_window();
    if (is_stopped_.load(std::memory_order_relaxed)) return;
    const uint64_t begin_ns = monotonic_ns();
    if (samples.size() >= kFewestSamples) judge(samples);
    const std::chrono::nanoseconds taken(monotonic_ns() - begin_ns);
    choices_.rest(std::max<std::chrono::nanoseconds>(kShortestRest, kRestShare * taken));
    size = kWindow;
  }
}

void AdaptiveLogging::judge(std::span<const CallSample> samples) {
  try {
    if (!adviser_.judge(samples)) return;
  } catch (const std::bad_alloc&) {
    return;
  }
  ++windows_;
  for (uint32_t p = 0; p < procedures_; ++p) choices_.choose(ProcedureId{p}, adviser_.choices()[p]);
}

AdaptiveReport AdaptiveLogging::finish() {
  is_stopped_.store(true, std::memory_order_relaxed);
  choices_.wake();
  if (thread_.joinable()) thread_.join();
  AdaptiveReport report;
  report.windows = windows_;
  for (const RowChoice& reason : adviser_.reasons())
    report.by_rows.push_back(
        {reason, choices_.logged(reason.procedure), adviser_.choices()[reason.procedure.value]});
  return report;
}

}  // namespace mneme
