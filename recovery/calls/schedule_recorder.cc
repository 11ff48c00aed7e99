#include "recovery/calls/schedule_recorder.h"

#include <algorithm>

namespace mneme {

void ScheduleRecorder::begin_run(std::span<const ScheduledBlock> blocks, const ScheduleOptions& options) {
  blocks_.assign(blocks.begin(), blocks.end());
  ++runs_;
  while (threads_.size() < options.threads) threads_.emplace_back();
  if (detail_ == Detail::kRendezvous) lap_ns_ = measure_lap_ns();
  const uint64_t now = ticks();
  for (CachePadded<Thread>& thread : threads_) thread->last = now;
}

void ScheduleRecorder::end_run() {
  const uint64_t now = ticks();
  for (CachePadded<Thread>& thread : threads_) lap(*thread, {.kind = StepKind::kWaiting}, now);
}

std::vector<ThreadTime> ScheduleRecorder::thread_times() const {
  const double seconds_per_tick = ns_per_tick() * 1e-9;
  std::vector<ThreadTime> times;
  for (const CachePadded<Thread>& thread : threads_) {
    const auto seconds = [&](StepKind kind) {
      return static_cast<double>(thread->ticks[static_cast<size_t>(kind)]) * seconds_per_tick;
    };
    ThreadTime& time = times.emplace_back();
    time.data_loading_seconds = seconds(StepKind::kLoad) + seconds(StepKind::kDecode);
    time.parameter_checking_seconds = seconds(StepKind::kFill);
    time.dispatch_seconds = seconds(StepKind::kLists);
    time.useful_work_seconds = seconds(StepKind::kPieces) + seconds(StepKind::kRendezvous);
    time.scheduling_seconds = seconds(StepKind::kScheduling);
    time.waiting_seconds = seconds(StepKind::kWaiting);
  }
  return times;
}

uint64_t ScheduleRecorder::dropped_steps() const {
  uint64_t dropped = 0;
  for (const CachePadded<Thread>& thread : threads_) dropped += thread->dropped;
  return dropped;
}

uint64_t ScheduleRecorder::tasks() const {
  uint64_t tasks = 0;
  for (const CachePadded<Thread>& thread : threads_) tasks += thread->tasks;
  return tasks;
}

double ScheduleRecorder::scheduling_ns() const {
  uint64_t sum = 0;
  for (const CachePadded<Thread>& thread : threads_)
    sum += thread->ticks[static_cast<size_t>(StepKind::kScheduling)];
  return static_cast<double>(sum) * ns_per_tick();
}

void ScheduleRecorder::keep(Thread& thread, const ScheduleStep& step, uint64_t end) {
  if (thread.steps.size() >= most_steps_) {
    ++thread.dropped;
    return;
  }
  ScheduleStep& kept = thread.steps.emplace_back(step);
  kept.begin = thread.last;
  kept.end = end;
}

// The least of several rounds: whatever else the machine does can only add to it.
double ScheduleRecorder::measure_lap_ns() const {
  constexpr int kRounds = 20;
  constexpr int kLaps = 500;
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    ScheduleRecorder scratch(Detail::kVisits);
    scratch.threads_.emplace_back();
    const uint64_t begin = monotonic_ns();
    for (int i = 0; i < kLaps; ++i) scratch.did(ReplayThreadId(0), {.kind = StepKind::kPieces});
    least = std::min(least, static_cast<double>(monotonic_ns() - begin) / kLaps);
  }
  return least;
}

}  // namespace mneme
