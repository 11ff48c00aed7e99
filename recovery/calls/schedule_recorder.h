// ScheduleRecorder: records what each thread of a lane scheduler did, when, and for what it waited.
//
// Flow        LaneScheduler: begin_run() -> on each thread begin_task(), and did() after each step of it ->
//             end_run() -> thread_times() (a breakdown), steps() (step_graph.h; a trace)
// Laps        a thread reads the clock once a step: did() gives what has passed since its last reading to the
//             step. A task says since when it was ready: until then the thread that took it had nothing to
//             do, and waited; from then on the time is scheduling's.
// Invariants  the times of a thread add up to the runs' length.
// Detail      kTimes keeps sums alone; kVisits each step as well, up to `most_steps` a thread; kRendezvous
//             the pieces of several lanes as steps of their own, which costs a reading more for each.
// Threads     a thread id's part belongs to the task that runs under it; the scheduler hands it over from
//             task to task. begin_run(), end_run() and all that reads: run()'s caller. retired() comes from
//             one task at a time.
// Price       none where there is no recorder but one branch a task; otherwise three readings a task.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "base/tick_clock.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/log/thread_time.h"

namespace mneme {

enum class StepKind : uint8_t {
  kLoad,        // a batch's stretch of the log was taken
  kDecode,      // it was decoded
  kFill,        // the pieces of a block's batch were located
  kLists,       // they were put into lists, lanes woken, and batches retired that only waited for that
  kPieces,      // pieces of one lane ran
  kRendezvous,  // a piece of several lanes ran
  kScheduling,
  kWaiting,
};
inline constexpr size_t kStepKinds = 8;
inline constexpr uint32_t kNoEntry = std::numeric_limits<uint32_t>::max();

struct ScheduleStep {
  StepKind kind;
  uint32_t block = 0;
  uint32_t lane = 0;
  uint64_t batch = 0;
  uint32_t pieces = 0;
  // kPieces: the piece of several lanes that the lane came to, by its number in the block's batch, or
  // kNoEntry. kRendezvous: that piece. kLists: the batch's placement. kWaiting: the thread that ended it.
  uint32_t other = kNoEntry;
  uint64_t begin = 0;  // ticks
  uint64_t end = 0;
};

class ScheduleRecorder {
 public:
  enum class Detail : uint8_t { kTimes, kVisits, kRendezvous };

  explicit ScheduleRecorder(Detail detail, size_t most_steps = std::numeric_limits<size_t>::max())
      : detail_(detail), most_steps_(most_steps) {}

  // For the scheduler.
  struct Ready {
    uint64_t at = 0;
    uint32_t by = 0;
  };
  void begin_run(std::span<const ScheduledBlock> blocks, const ScheduleOptions& options);
  void end_run();
  static Ready ready_now(uint32_t thread) { return {ticks(), thread}; }
  void begin_task(ReplayThreadId id, Ready ready) {
    Thread& thread = *threads_[id.value];
    ++thread.tasks;
    const uint64_t now = ticks();
    if (ready.at > thread.last) {
      ScheduleStep wait{.kind = StepKind::kWaiting};
      wait.other = ready.by;
      lap(thread, wait, ready.at < now ? ready.at : now);
    }
    lap(thread, {.kind = StepKind::kScheduling}, now);
  }
  // Records the step that the thread has done since its last did(), or since its task began.
  void did(ReplayThreadId id, const ScheduleStep& step) { lap(*threads_[id.value], step, ticks()); }
  void retired() {
    if (detail_ != Detail::kTimes) retired_at_.push_back(ticks());
  }
  bool records_rendezvous() const { return detail_ == Detail::kRendezvous; }

  // Returns the times of all runs so far, by thread.
  std::vector<ThreadTime> thread_times() const;
  uint32_t thread_count() const { return static_cast<uint32_t>(threads_.size()); }
  // In order of time, without those of scheduling.
  const std::deque<ScheduleStep>& steps(uint32_t thread) const { return threads_[thread]->steps; }
  // Returns how many steps were not kept, since `most_steps` were reached.
  uint64_t dropped_steps() const;
  std::span<const uint64_t> retired_at() const { return retired_at_; }
  double ns_per_tick() const { return scale_.ns_per_tick(); }
  const TickScale& scale() const { return scale_; }

  // About the last run.
  uint32_t runs() const { return runs_; }
  std::span<const ScheduledBlock> blocks() const { return blocks_; }
  uint64_t tasks() const;
  double scheduling_ns() const;
  // Returns the time that reading the clock and keeping the step takes. Every step's time includes it.
  double lap_ns() const { return lap_ns_; }

 private:
  struct Thread {
    uint64_t last = 0;
    uint64_t tasks = 0;
    uint64_t dropped = 0;
    std::array<uint64_t, kStepKinds> ticks{};
    std::deque<ScheduleStep> steps;
  };

  void lap(Thread& thread, const ScheduleStep& step, uint64_t now) {
    // Another core's counter may be a little behind.
    const uint64_t end = now > thread.last ? now : thread.last;
    thread.ticks[static_cast<size_t>(step.kind)] += end - thread.last;
    if (detail_ != Detail::kTimes && step.kind != StepKind::kScheduling) keep(thread, step, end);
    thread.last = end;
  }
  void keep(Thread& thread, const ScheduleStep& step, uint64_t end);
  double measure_lap_ns() const;

  const Detail detail_;
  const size_t most_steps_;
  const TickScale scale_;
  std::deque<CachePadded<Thread>> threads_;
  std::vector<uint64_t> retired_at_;
  std::vector<ScheduledBlock> blocks_;
  uint32_t runs_ = 0;
  double lap_ns_ = 0;
};

}  // namespace mneme
