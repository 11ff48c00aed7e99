// Goal: workers that add samples, read states and end at any moment disturb neither one another nor the
// adviser: each sample arrives whole, and once. Method: threads run "calls" whose samples say by themselves
// whether they are whole, while one thread opens windows, closes them at any time, and changes the choices.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <vector>

#include "procedures/session/call_choices.h"

namespace mneme {
namespace {

constexpr uint32_t kWorkers = 3;
constexpr uint32_t kProcedures = 5;
constexpr size_t kMostSamples = 64;
constexpr uint32_t kWindows = 300;

// The call of a sample is its LSN so many times over, its rows the complement.
void check(const CallSample& sample) {
  const auto byte = static_cast<std::byte>(sample.lsn.value & 0xff);
  ASSERT_EQ(sample.procedure.value, sample.lsn.value % kProcedures);
  ASSERT_EQ(sample.call.size(), 1 + sample.lsn.value % 50);
  ASSERT_EQ(sample.rows.size(), sample.lsn.value % 7);
  for (const std::byte each : sample.call) ASSERT_EQ(each, byte);
  for (const std::byte each : sample.rows) ASSERT_EQ(each, ~byte);
}

TEST(CallChoicesStress, SamplesArriveWholeAndOnce) {
  CallChoices choices(kProcedures, kMostSamples);
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> next_lsn{1};
  std::atomic<uint64_t> by_rows{0};
  std::vector<std::thread> workers;
  for (uint32_t w = 0; w < kWorkers; ++w) {
    workers.emplace_back([&] {
      std::vector<std::byte> call;
      std::vector<std::byte> rows;
      uint64_t of_first = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        const uint64_t lsn = next_lsn.fetch_add(1, std::memory_order_relaxed);
        const ProcedureId procedure{static_cast<uint32_t>(lsn % kProcedures)};
        const CallChoices::State state = choices.state(procedure);
        if (state.is_logged_by_rows()) by_rows.fetch_add(1, std::memory_order_relaxed);
        if (procedure.value == 0) ++of_first;
        if (!state.is_sampled() || !choices.wants_samples()) continue;
        call.assign(1 + lsn % 50, static_cast<std::byte>(lsn & 0xff));
        rows.assign(lsn % 7, ~static_cast<std::byte>(lsn & 0xff));
        choices.add({procedure, Lsn{lsn}, call, rows});
      }
      choices.add_logged(ProcedureId{0}, of_first);
    });
  }
  std::set<uint64_t> seen;
  uint64_t samples_seen = 0;
  for (uint32_t window = 0; window < kWindows; ++window) {
    for (uint32_t p = 0; p < kProcedures; ++p) choices.choose(ProcedureId{p}, (window + p) % 2 == 0);
    choices.open_window(1 + window % kMostSamples);
    if (window % 3 != 0) {
      EXPECT_TRUE(choices.await_full(std::chrono::minutes(5)));
    }
    const std::vector<CallSample> samples = choices.close_window();
    if (window % 3 != 0) {
      EXPECT_EQ(samples.size(), 1 + window % kMostSamples);
    }
    for (const CallSample& sample : samples) {
      check(sample);
      seen.insert(sample.lsn.value);
    }
    samples_seen += samples.size();
  }
  stop.store(true, std::memory_order_relaxed);
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(seen.size(), samples_seen);
  EXPECT_GT(choices.logged(ProcedureId{0}), 0u);
}

// A stop wakes the adviser from a window that nobody fills.
TEST(CallChoicesStress, WakingEndsEachWait) {
  CallChoices choices(kProcedures, kMostSamples);
  choices.open_window(kMostSamples);
  std::thread waiting([&] {
    EXPECT_FALSE(choices.await_full(std::chrono::hours(1)));
    choices.rest(std::chrono::hours(1));
  });
  choices.wake();
  waiting.join();
  EXPECT_TRUE(choices.close_window().empty());
}

}  // namespace
}  // namespace mneme
