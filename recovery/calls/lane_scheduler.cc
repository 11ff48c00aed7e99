#include "recovery/calls/lane_scheduler.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include <array>

#include "base/check.h"
#include "recovery/calls/lane_run.h"

namespace mneme {

// More pieces at once than can be made ready would only be looked at in vain.
constexpr uint32_t kMostPrepared = 32;

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
  run_tasks();
  for (const auto& ended : tasks_ended_) (void)ended->load(std::memory_order_acquire);
  if (options_.recorder != nullptr) options_.recorder->end_run();
  CHECK(stopped() || batches_retired_ == admission_->batches_loaded());
  return !stopped();
}

void LaneScheduler::Run::run_tasks() {
  if (options_.lane_threads != nullptr) {
    CHECK(options_.recorder == nullptr);
    spawn(*admission_);
    return options_.lane_threads->run_all();
  }
  // Without this oneTBB makes no more threads than there are cores.
  tbb::global_control allow(tbb::global_control::max_allowed_parallelism, options_.threads);
  tbb::task_arena arena(static_cast<int>(options_.threads));
  arena.execute([this] {
    spawn(*admission_);
    tasks_.wait();
  });
}

LaneScheduler::Run::PieceSet& LaneScheduler::Run::set(uint32_t block, uint64_t batch) {
  return *slot(batch).sets[block];
}

void LaneScheduler::Run::spawn(Activity& activity) {
  if (options_.lane_threads != nullptr) [[unlikely]] {
    LaneTask task = activity.task();
    task.run = [&activity](ReplayThreadId thread) { activity.enter(thread); };
    return options_.lane_threads->add(std::move(task));
  }
  if (options_.recorder != nullptr) {
    activity.ready =
        ScheduleRecorder::ready_now(static_cast<uint32_t>(tbb::this_task_arena::current_thread_index()));
  }
  tasks_.run(Handover(activity));
}

void LaneScheduler::Run::Handover::operator()() const {
  activity()->enter(ReplayThreadId(static_cast<uint32_t>(tbb::this_task_arena::current_thread_index())));
}

void LaneScheduler::Run::enter(Activity& activity, ReplayThreadId thread) {
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
    tell({.kind = LaneEvent::Kind::kRetired, .batch = batch});
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
  tell({.kind = LaneEvent::Kind::kFinished, .block = block, .batch = batch});
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
  run_.tell({.kind = LaneEvent::Kind::kLoaded, .batch = batch});
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
  if (run_.options_.lane_threads != nullptr) [[unlikely]]
    tell_filled();
  const ScheduleStep lists{StepKind::kLists, block_, 0, batch_, pieces, placement_};
  run_.signal_publication(block_, batch_);
  record(thread, lists);
}

void LaneScheduler::Run::PieceSet::publish() {
  lanes_left_.store(static_cast<uint32_t>(used_lanes_.size()) + 1, std::memory_order_relaxed);
  run_.tell({.kind = LaneEvent::Kind::kPublished, .block = block_, .batch = batch_});
  // From the first add_batch on, lanes run; the set is theirs too until lane_finished().
  for (const uint32_t lane : used_lanes_) run_.blocks_[block_].lanes[lane]->add_batch(batch_);
  lane_finished();
}

void LaneScheduler::Run::PieceSet::tell_filled() const {
  std::vector<LanedPiece> pieces;
  for (const Entry& entry : entries_) pieces.push_back({entry.piece, lanes_of(entry)});
  run_.tell({.kind = LaneEvent::Kind::kFilled, .block = block_, .batch = batch_, .pieces = pieces});
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
      if (run_.options_.lane_threads != nullptr && std::atomic_ref(entry.lanes_to_come).load() > 1)
          [[unlikely]]
        run_.tell({LaneEvent::Kind::kArrived, block_, number_, batch_, entry.piece, {}});
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
    run_.tell({LaneEvent::Kind::kRan, block_, number_, batch_, entry.piece, {}});
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
