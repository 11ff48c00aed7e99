#include "recovery/calls/lane_scheduler.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <array>
#include <atomic>

#include "base/cache_line.h"
#include "base/check.h"
#include "recovery/calls/schedule_recorder.h"

namespace mneme {

// More pieces at once than can be made ready would only be looked at in vain.
constexpr uint32_t kMostPrepared = 32;

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
    // Of the batch that was published last; handed on from publication to publication.
    uint32_t placement = 0;
  };

  Slot& slot(uint64_t batch) { return *slots_[batch % slots_.size()]; }
  PieceSet& set(uint32_t block, uint64_t batch);
  void spawn(Activity& activity);
  void enter(Activity& activity);
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
  void enter() { run_.enter(*this); }

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

  void operator()() const { activity()->enter(); }

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

LaneScheduler::Run::Run(std::span<const ScheduledBlock> blocks, ScheduleOptions options,
                        PieceExecutor& executor)
    : options_(options),
      shape_(blocks.begin(), blocks.end()),
      executor_(executor),
      blocks_(blocks.size()),
      tasks_ended_(options.threads) {
  CHECK(options.threads > 0 && options.batches_in_flight > 0);
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    CHECK(blocks[b].lane_count > 0);
    blocks_[b].predecessor_count = static_cast<uint32_t>(blocks[b].predecessors.size());
    for (const uint32_t predecessor : blocks[b].predecessors) blocks_[predecessor].successors.push_back(b);
    for (uint32_t l = 0; l < blocks[b].lane_count; ++l) {
      blocks_[b].lanes.push_back(std::make_unique<Lane>(*this, b, l));
    }
  }
  for (uint64_t batch = 0; batch < slot_count(options); ++batch) {
    slots_.push_back(std::make_unique<Slot>());
    for (uint32_t b = 0; b < blocks.size(); ++b) {
      slots_.back()->sets.push_back(std::make_unique<PieceSet>(*this, b, blocks[b].lane_count));
    }
    prepare(batch);
  }
  admission_ = std::make_unique<Admission>(*this, options.batches_in_flight);
}

bool LaneScheduler::Run::run() {
  // Before batch 0 there is nothing to run or to publish, and no retirement to wait for.
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    signal_finished(b, 0);
    signal_publication(b, 0);
  }
  signal_retire(0);

  if (options_.recorder != nullptr) options_.recorder->begin_run(shape_, options_);
  // Without this oneTBB makes no more threads than there are cores.
  tbb::global_control allow(tbb::global_control::max_allowed_parallelism, options_.threads);
  tbb::task_arena arena(static_cast<int>(options_.threads));
  arena.execute([this] {
    spawn(*admission_);
    tasks_.wait();
  });
  for (const auto& ended : tasks_ended_) (void)ended->load(std::memory_order_acquire);
  if (options_.recorder != nullptr) options_.recorder->end_run();
  CHECK(stopped() || batches_retired_ == admission_->batches_loaded());
  return !stopped();
}

LaneScheduler::Run::PieceSet& LaneScheduler::Run::set(uint32_t block, uint64_t batch) {
  return *slot(batch).sets[block];
}

void LaneScheduler::Run::spawn(Activity& activity) {
  if (options_.recorder != nullptr) {
    activity.ready =
        ScheduleRecorder::ready_now(static_cast<uint32_t>(tbb::this_task_arena::current_thread_index()));
  }
  tasks_.run(Handover(activity));
}

void LaneScheduler::Run::enter(Activity& activity) {
  const ReplayThreadId thread(static_cast<uint32_t>(tbb::this_task_arena::current_thread_index()));
  DCHECK(thread.value < tasks_ended_.size());
  std::atomic<uint64_t>& ended = *tasks_ended_[thread.value];
  const uint64_t before = ended.load(std::memory_order_acquire);
  if (options_.recorder != nullptr) options_.recorder->begin_task(thread, activity.ready);
  if (!stopped()) activity.proceed(thread);
  ended.store(before + 1, std::memory_order_release);
}

// Makes the batch's slot ready before anything signals it.
void LaneScheduler::Run::prepare(uint64_t batch) {
  for (uint32_t b = 0; b < blocks_.size(); ++b)
    set(b, batch).prepare(batch, blocks_[b].predecessor_count + 1);
  slot(batch).waits.store(static_cast<uint32_t>(blocks_.size()) + 2, std::memory_order_relaxed);
}

void LaneScheduler::Run::signal_fill(uint32_t block, uint64_t batch) {
  PieceSet& next = set(block, batch);
  if (next.signal()) spawn(next);
}

// The task that brings the last event publishes the batch's lists.
void LaneScheduler::Run::signal_publication(uint32_t block, uint64_t batch) {
  if (may_publish(block, batch)) publish(block, batch);
}

// Lists that are placed otherwise than those before wait until these have been run, too.
bool LaneScheduler::Run::may_publish(uint32_t block, uint64_t batch) {
  PieceSet& next = set(block, batch);
  if (!next.signal_publication()) return false;
  return batch == 0 || next.placement() == blocks_[block].placement || next.signal_turn();
}

// And then the lists of the batches after it that were only waiting for it.
void LaneScheduler::Run::publish(uint32_t block, uint64_t batch) {
  do {
    blocks_[block].placement = set(block, batch).placement();
    set(block, batch).publish();
    ++batch;
  } while (may_publish(block, batch));
}

// The block has run the batch's own lists, or all batches before it. The event that comes last makes it the
// next batch's turn.
void LaneScheduler::Run::signal_finished(uint32_t block, uint64_t batch) {
  for (; set(block, batch).signal_finished(); ++batch) {
    if (set(block, batch + 1).signal_turn()) publish(block, batch + 1);
  }
}

// The task that brings the last event retires the batch, and then later batches that waited for nothing else.
void LaneScheduler::Run::signal_retire(uint64_t batch) {
  while (slot(batch).waits.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    executor_.retire(batch);
    if (options_.recorder != nullptr) options_.recorder->retired();
    ++batches_retired_;
    // Nothing has signalled the slot's next batch yet. The first signals come from the batch before that one,
    // which is loaded with the permit given below.
    prepare(batch + slots_.size());
    admission_->add_permit();
    ++batch;
  }
}

void LaneScheduler::Run::finish(uint32_t block, uint64_t batch) {
  if (stopped()) return;
  // First: until the batch is retired, no later one's set is anybody else's.
  signal_finished(block, batch);
  for (const uint32_t successor : blocks_[block].successors) signal_fill(successor, batch);
  signal_retire(batch);
}

// False: batches are in flight; the last of them to retire spawns this again.
bool LaneScheduler::Run::Admission::become_alone() {
  CHECK(!is_alone_);
  is_alone_ = true;
  return permits_.fetch_sub(all_permits_ - 1, std::memory_order_acq_rel) == all_permits_;
}

void LaneScheduler::Run::Admission::proceed(ReplayThreadId thread) {
  const uint64_t batch = next_batch_;
  if (is_alone_) permits_.fetch_add(all_permits_ - 1, std::memory_order_acq_rel);
  const PieceExecutor::Load loaded = run_.executor_.load(batch);
  record(thread, {.kind = StepKind::kLoad, .batch = batch});
  switch (loaded) {
    case PieceExecutor::Load::kLoaded:
      break;
    case PieceExecutor::Load::kWhenAlone:
      if (become_alone()) proceed(thread);
      return;
    case PieceExecutor::Load::kEnd:
      return;
    case PieceExecutor::Load::kStop:
      return run_.stop();
  }
  ++next_batch_;
  is_alone_ = false;
  // Spawned first, so that this thread takes the fills below before it, and an idle one takes it now. From
  // here on the next load may run beside this.
  if (permits_.fetch_sub(1, std::memory_order_acq_rel) > 1) run_.spawn(*this);
  const bool decoded = run_.executor_.decode(batch, thread);
  record(thread, {.kind = StepKind::kDecode, .batch = batch});
  if (!decoded) return run_.stop();
  for (uint32_t b = 0; b < run_.blocks_.size(); ++b) run_.signal_fill(b, batch);
  run_.signal_retire(batch);
}

void LaneScheduler::Run::PieceSet::prepare(uint64_t batch, uint32_t waits) {
  batch_ = batch;
  waits_.store(waits, std::memory_order_relaxed);
  for (std::atomic<uint32_t>* events : {&unpublished_, &unfinished_, &turn_})
    events->store(2, std::memory_order_relaxed);
}

void LaneScheduler::Run::PieceSet::proceed(ReplayThreadId thread) {
  clear();
  if (!run_.executor_.fill(block_, batch_, thread, *this)) return run_.stop();
  const auto pieces = static_cast<uint32_t>(entries_.size());
  record(thread, {.kind = StepKind::kFill, .block = block_, .batch = batch_, .pieces = pieces});
  build_lists();
  const ScheduleStep lists{StepKind::kLists, block_, 0, batch_, pieces, placement_};
  run_.signal_publication(block_, batch_);
  record(thread, lists);
}

void LaneScheduler::Run::PieceSet::publish() {
  lanes_left_.store(static_cast<uint32_t>(used_lanes_.size()) + 1, std::memory_order_relaxed);
  // From the first add_batch on, lanes run; the set is theirs too until lane_finished().
  for (const uint32_t lane : used_lanes_) run_.blocks_[block_].lanes[lane]->add_batch(batch_);
  lane_finished();
}

void LaneScheduler::Run::PieceSet::clear() {
  for (const uint32_t lane : used_lanes_) list_begins_[lane] = list_ends_[lane] = last_entry_[lane] = 0;
  used_lanes_.clear();
  entries_.clear();
  entry_lanes_.clear();
  place(0, static_cast<uint32_t>(list_ends_.size()));
}

void LaneScheduler::Run::PieceSet::place(uint32_t placement, uint32_t lanes) {
  CHECK(entries_.empty() && lanes > 0 && lanes <= list_ends_.size());
  placement_ = placement;
  lanes_in_use_ = lanes;
  if (next_free_lane_ >= lanes) next_free_lane_ = 0;
}

void LaneScheduler::Run::PieceSet::begin_entry(Piece piece) {
  entries_.push_back({piece, static_cast<uint32_t>(entry_lanes_.size()), 0, 0});
}

void LaneScheduler::Run::PieceSet::add_lane(uint32_t lane) {
  DCHECK(lane < lanes_in_use_);
  const auto stamp = static_cast<uint32_t>(entries_.size());
  if (last_entry_[lane] == stamp) return;
  last_entry_[lane] = stamp;
  if (list_ends_[lane]++ == 0) used_lanes_.push_back(lane);
  entry_lanes_.push_back(lane);
}

void LaneScheduler::Run::PieceSet::end_entry() {
  Entry& entry = entries_.back();
  entry.lane_count = static_cast<uint32_t>(entry_lanes_.size()) - entry.first_lane;
  entry.lanes_to_come = entry.lane_count;
  DCHECK(entry.lane_count > 0);
}

void LaneScheduler::Run::PieceSet::append(Piece piece, std::span<const uint32_t> lanes) {
  if (lanes.size() == 1) return append_to_one(piece, lanes.front());
  begin_entry(piece);
  for (const uint32_t lane : lanes) add_lane(lane);
  end_entry();
}

// As most pieces are: none comes twice to its lane.
void LaneScheduler::Run::PieceSet::append_to_one(Piece piece, uint32_t lane) {
  DCHECK(lane < lanes_in_use_);
  entries_.push_back({piece, static_cast<uint32_t>(entry_lanes_.size()), 1, 1});
  entry_lanes_.push_back(lane);
  if (list_ends_[lane]++ == 0) used_lanes_.push_back(lane);
}

void LaneScheduler::Run::PieceSet::append_free(Piece piece) {
  const uint32_t lane = next_free_lane_;
  next_free_lane_ = lane + 1 == lanes_in_use_ ? 0 : lane + 1;
  append_to_one(piece, lane);
}

void LaneScheduler::Run::PieceSet::append_to_all(Piece piece) {
  begin_entry(piece);
  for (uint32_t lane = 0; lane < lanes_in_use_; ++lane) add_lane(lane);
  end_entry();
}

// A counting sort: from each lane's number of entries to where its list begins, then each entry to its lists.
void LaneScheduler::Run::PieceSet::build_lists() {
  uint32_t begin = 0;
  for (const uint32_t lane : used_lanes_) {
    const uint32_t count = list_ends_[lane];
    list_begins_[lane] = list_ends_[lane] = begin;
    begin += count;
  }
  list_.resize(begin);
  for (uint32_t e = 0; e < entries_.size(); ++e) {
    for (const uint32_t lane : lanes_of(entries_[e])) list_[list_ends_[lane]++] = e;
  }
}

void LaneScheduler::Run::Lane::proceed(ReplayThreadId thread) {
  for (;;) {
    PieceSet& set = run_.set(block_, batch_);
    if (!run_list(set, thread)) return;
    const bool more = batches_pending_.fetch_sub(1, std::memory_order_acq_rel) > 1;
    // Before this lane is counted as finished: until then neither its batch's slot nor a later one is reused.
    if (more) go_to_next_batch();
    set.lane_finished();
    if (!more) return;
    record(thread, {.kind = StepKind::kScheduling});
  }
}

// False: the lane has stepped aside, or the run is stopped.
bool LaneScheduler::Run::Lane::run_list(PieceSet& set, ReplayThreadId thread) {
  const uint32_t size = set.list_size(number_);
  uint32_t prepared = 0;  // of the pieces from here on
  uint32_t recorded = position_;
  while (position_ < size) {
    PieceSet::Entry& entry = set.entry(number_, position_);
    if (entry.lane_count > 1) {
      record_pieces(thread, position_ - recorded, set.entry_number(number_, position_));
      // Past the piece already: the task that runs it may wake this lane at once, on another thread.
      ++position_;
      if (std::atomic_ref(entry.lanes_to_come).fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
      // All its lanes stand still now.
      run_.executor_.prepare(block_, batch_, {&entry.piece, 1}, thread);
      prepared = 0;
    } else {
      if (prepared == 0) prepared = prepare(set, thread);
      --prepared;
      ++position_;
    }
    if (run_.stopped()) return false;
    if (!run_.executor_.run(block_, batch_, entry.piece, thread)) {
      run_.stop();
      return false;
    }
    if (entry.lane_count == 1) continue;
    recorded = position_ - 1;
    if (run_.records_rendezvous()) {
      record(thread,
             {StepKind::kRendezvous, block_, number_, batch_, 1, set.entry_number(number_, recorded)});
      recorded = position_;
    }
    for (const uint32_t lane : set.lanes_of(entry)) {
      if (lane != number_) run_.spawn(*run_.blocks_[block_].lanes[lane]);
    }
  }
  record_pieces(thread, position_ - recorded);
  return true;
}

// The pieces up to the next rendezvous, where other lanes may have work to do before.
uint32_t LaneScheduler::Run::Lane::prepare(PieceSet& set, ReplayThreadId thread) const {
  std::array<Piece, kMostPrepared> pieces;
  const uint32_t size = set.list_size(number_);
  uint32_t count = 0;
  for (uint32_t i = position_; i < size && count < kMostPrepared; ++i) {
    const PieceSet::Entry& entry = set.entry(number_, i);
    if (entry.lane_count > 1) break;
    pieces[count++] = entry.piece;
  }
  return run_.executor_.prepare(block_, batch_, {pieces.data(), count}, thread);
}

// Lists are published in batch order, so those of all batches up to the next one with a list for this lane
// have been.
void LaneScheduler::Run::Lane::go_to_next_batch() {
  do {
    ++batch_;
  } while (run_.set(block_, batch_).list_size(number_) == 0);
  position_ = 0;
}

LaneScheduler::LaneScheduler(std::span<const ScheduledBlock> blocks, ScheduleOptions options,
                             PieceExecutor& executor)
    : run_(std::make_unique<Run>(blocks, options, executor)) {}

LaneScheduler::~LaneScheduler() = default;

bool LaneScheduler::run() {
  return run_->run();
}

}  // namespace mneme
