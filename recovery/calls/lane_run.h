// LaneScheduler::Run: one run of the lane scheduler: its tasks, and what they hand to each other.
//
// Private to the scheduler (lane_scheduler.cc); lane_scheduler.h has the invariants, and why nothing waits in
// vain.
// Threads     each activity is one task at a time; counters whose last event decides are acq_rel, and the
//             task that brings the last event goes on with what all of them did.
#pragma once

#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.h"
#include "recovery/calls/lane_scheduler.h"
#include "recovery/calls/lane_threads.h"
#include "recovery/calls/schedule_recorder.h"

namespace mneme {

class LaneScheduler::Run {
 public:
  Run(std::span<const ScheduledBlock> blocks, ScheduleOptions options, PieceExecutor& executor);

  bool run();

 private:
  class Activity;
  class Handover;
  class Lane;
  class PieceSet;
  struct Slot;
  class Admission;
  struct Block {
    std::vector<uint32_t> successors;
    uint32_t predecessor_count = 0;
    std::vector<std::unique_ptr<Lane>> lanes;
    // The placement of the batch that was published last; handed on from publication to publication.
    uint32_t placement = 0;
  };

  Slot& slot(uint64_t batch) { return *slots_[batch % slots_.size()]; }
  PieceSet& set(uint32_t block, uint64_t batch);
  void spawn(Activity& activity);
  void enter(Activity& activity, ReplayThreadId thread);
  void run_tasks();
  void tell(const LaneEvent& event) const {
    if (options_.lane_threads != nullptr) [[unlikely]]
      options_.lane_threads->saw(event);
  }
  void prepare(uint64_t batch);
  // One of the events that (block, batch)'s fill, its publication, or the batch's retirement, waits for has
  // come about.
  void signal_fill(uint32_t block, uint64_t batch);
  void signal_publication(uint32_t block, uint64_t batch);
  bool may_publish(uint32_t block, uint64_t batch);
  void publish(uint32_t block, uint64_t batch);
  void signal_finished(uint32_t block, uint64_t batch);
  void signal_retire(uint64_t batch);
  void finish(uint32_t block, uint64_t batch);
  void stop() { stopped_.store(true, std::memory_order_relaxed); }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  bool records_rendezvous() const {
    return options_.recorder != nullptr && options_.recorder->records_rendezvous();
  }

  const ScheduleOptions options_;
  const std::vector<ScheduledBlock> shape_;  // as it was given
  PieceExecutor& executor_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::unique_ptr<Admission> admission_;
  tbb::task_group tasks_;
  uint64_t batches_retired_ = 0;  // handed on from retirement to retirement

  // Written by any task, read by all, relaxed: it carries nothing, and a task that reads it late only does a
  // piece more.
  std::atomic<bool> stopped_ = false;

  // One for each thread: counts the tasks that it has ended. Written by the thread (release) when a task
  // ends; read (acquire) when the next task on that thread id begins, which may be another thread's, and by
  // run() at the end, when no task is left: so run()'s caller sees all that the tasks did, also when they
  // were stopped.
  std::vector<CachePadded<std::atomic<uint64_t>>> tasks_ended_;
};

// A lane with work, a fill that may go ahead, the next load: what a task does.
class LaneScheduler::Run::Activity {
 public:
  explicit Activity(Run& run) : run_(run) {}
  virtual void proceed(ReplayThreadId thread) = 0;
  // The task that does it, but for LaneTask::run.
  virtual LaneTask task() const = 0;
  void enter(ReplayThreadId thread) { run_.enter(*this, thread); }

  // Since when it may run. Written by its spawner and read by the task, the hand-over between them.
  ScheduleRecorder::Ready ready;

 protected:
  ~Activity() = default;

  void record(ReplayThreadId thread, const ScheduleStep& step) const {
    if (ScheduleRecorder* recorder = run_.options_.recorder) recorder->did(thread, step);
  }

  Run& run_;
};

// The function object of a task. oneTBB copies it from the spawning to the running thread; its one word goes
// through release and acquire, so that everything before spawn() is visible to the task.
class LaneScheduler::Run::Handover {
 public:
  explicit Handover(Activity& activity) { publish(&activity); }
  Handover(const Handover& from) { publish(from.activity()); }
  Handover& operator=(const Handover&) = delete;

  void operator()() const;

 private:
  void publish(Activity* activity) { std::atomic_ref(activity_).store(activity, std::memory_order_release); }
  Activity* activity() const { return std::atomic_ref(activity_).load(std::memory_order_acquire); }

  mutable Activity* activity_;
};

// One lane of one block. At most one task runs it at a time: its owner, which alone touches batch_ and
// position_.
class LaneScheduler::Run::Lane final : public Activity {
 public:
  Lane(Run& run, uint32_t block, uint32_t number) : Activity(run), block_(block), number_(number) {}

  // Pieces of `batch` are there. Called in batch order.
  void add_batch(uint64_t batch) {
    if (batches_pending_.fetch_add(1, std::memory_order_acq_rel) != 0) return;
    batch_ = batch;
    position_ = 0;
    run_.spawn(*this);
  }
  void proceed(ReplayThreadId thread) override;
  LaneTask task() const override { return {LaneTask::Kind::kLane, block_, number_, 0}; }

 private:
  bool run_list(PieceSet& set, ReplayThreadId thread);
  uint32_t prepare(PieceSet& set, ReplayThreadId thread) const;
  void go_to_next_batch();
  // Tells that the thread has run this many pieces, and perhaps come to one of several lanes.
  void record_pieces(ReplayThreadId thread, uint32_t pieces, uint32_t rendezvous = kNoEntry) const {
    record(thread, {StepKind::kPieces, block_, number_, batch_, pieces, rendezvous});
  }

  const uint32_t block_;
  const uint32_t number_;
  uint64_t batch_ = 0;
  uint32_t position_ = 0;  // the next piece of batch_ in this lane

  // How many published batches have pieces here that have not all run. Written by the publisher (add) and by
  // the owner (subtract), acq_rel: the task that makes it 1 owns the lane and must see what the last owner
  // left; an owner that finds more must see the lists that were published.
  alignas(kCacheLineBytes) std::atomic<uint32_t> batches_pending_ = 0;
};

// The pieces of one batch in one block. Filled by one task, then read by the block's lanes.
class LaneScheduler::Run::PieceSet final : public Activity, public LaneFill {
 public:
  struct Entry {
    Piece piece;
    uint32_t first_lane;
    uint32_t lane_count;
    // Lanes that have not arrived, where there are several. Written through atomic_ref by each lane that
    // arrives (acq_rel): the last one sees what all lanes did before, and where each of them stands.
    uint32_t lanes_to_come;
  };

  PieceSet(Run& run, uint32_t block, uint32_t lane_count)
      : Activity(run),
        block_(block),
        list_ends_(lane_count, 0),
        list_begins_(lane_count, 0),
        last_entry_(lane_count) {}

  void prepare(uint64_t batch, uint32_t waits);
  bool signal() { return waits_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  bool signal_publication() { return unpublished_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  bool signal_finished() { return unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  bool signal_turn() { return turn_.fetch_sub(1, std::memory_order_acq_rel) == 1; }
  uint32_t placement() const { return placement_; }

  void proceed(ReplayThreadId thread) override;
  LaneTask task() const override { return {LaneTask::Kind::kFill, block_, 0, batch_}; }
  // Gives the lanes their lists. The set may belong to another batch afterwards.
  void publish();
  void place(uint32_t placement, uint32_t lanes) override;
  void append(Piece piece, std::span<const uint32_t> lanes) override;
  void append_free(Piece piece) override;
  void append_to_all(Piece piece) override;

  uint32_t list_size(uint32_t lane) const { return list_ends_[lane] - list_begins_[lane]; }
  uint32_t entry_number(uint32_t lane, uint32_t position) const {
    return list_[list_begins_[lane] + position];
  }
  Entry& entry(uint32_t lane, uint32_t position) { return entries_[entry_number(lane, position)]; }
  std::span<const uint32_t> lanes_of(const Entry& entry) const {
    return {entry_lanes_.data() + entry.first_lane, entry.lane_count};
  }
  void lane_finished() {
    if (lanes_left_.fetch_sub(1, std::memory_order_acq_rel) == 1) run_.finish(block_, batch_);
  }

 private:
  void clear();
  void tell_filled() const;
  void append_to_one(Piece piece, uint32_t lane);
  void begin_entry(Piece piece);
  void add_lane(uint32_t lane);
  void end_entry();
  void build_lists();

  const uint32_t block_;
  uint64_t batch_ = 0;

  std::vector<Entry> entries_;         // in commit order
  std::vector<uint32_t> entry_lanes_;  // each entry's lanes, one entry after the other
  std::vector<uint32_t> used_lanes_;   // lanes with a list
  // Lane l's list is list_[list_begins_[l] .. list_ends_[l]): indexes of entries. In a fill, list_ends_
  // counts.
  std::vector<uint32_t> list_;
  std::vector<uint32_t> list_ends_;
  std::vector<uint32_t> list_begins_;
  std::vector<uint32_t>
      last_entry_;  // 1 + the last entry that was put into the lane, so that it is put there once
  uint32_t next_free_lane_ = 0;
  uint32_t placement_ = 0;
  uint32_t lanes_in_use_ = 0;

  // Counts the events that the fill still waits for: the load, and the end of each predecessor. Each event's
  // task subtracts (acq_rel); the one that reaches zero spawns the fill and hands over what all of them did.
  std::atomic<uint32_t> waits_ = 0;
  // Counts the events that the lists' publication still waits for: the fill, and the publication of the batch
  // before. As waits_; the one that reaches zero publishes.
  std::atomic<uint32_t> unpublished_ = 0;
  // What must happen before the block has run all batches up to this one: the batch's own lists have been
  // run, and all batches before it. As waits_; the one that reaches zero brings the next batch both of its
  // events below.
  std::atomic<uint32_t> unfinished_ = 0;
  // Counted only where the batch before was placed otherwise. What the lists then still wait for:
  // unpublished_ has reached zero, and all batches before have been run. As waits_; the one that reaches zero
  // publishes.
  std::atomic<uint32_t> turn_ = 0;
  // Lanes that have not run their lists, and the publisher. Subtracted by each (acq_rel): the last one
  // finishes the block's batch on behalf of all and must have seen what they did.
  std::atomic<uint32_t> lanes_left_ = 0;
};

// A place in the ring of batches.
struct LaneScheduler::Run::Slot {
  std::vector<std::unique_ptr<PieceSet>> sets;  // one a block
  // Counts the events that the batch's retirement waits for: its load, each block, the retirement before. As
  // PieceSet::waits_.
  std::atomic<uint32_t> waits = 0;
};

// Loads batches while there are free slots.
class LaneScheduler::Run::Admission final : public Activity {
 public:
  Admission(Run& run, uint32_t permits)
      : Activity(run), all_permits_(static_cast<int32_t>(permits)), permits_(static_cast<int32_t>(permits)) {}

  void proceed(ReplayThreadId thread) override;
  LaneTask task() const override { return {}; }
  void add_permit() {
    if (permits_.fetch_add(1, std::memory_order_acq_rel) == 0) run_.spawn(*this);
  }
  uint64_t batches_loaded() const { return next_batch_; }

 private:
  bool become_alone();

  const int32_t all_permits_;
  // Handed on from load to load.
  uint64_t next_batch_ = 0;
  bool is_alone_ = false;
  // Batches that may be loaded now. Written by retirements (add) and by loads (subtract), acq_rel: the one
  // that makes it 1 begins the next load and must see what the last one left, and that the slot is free. A
  // load that must be alone takes all permits but one beforehand, so that it falls below 1, and only the last
  // retirement makes it 1.
  std::atomic<int32_t> permits_;
};

}  // namespace mneme
