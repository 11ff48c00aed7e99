#include "recovery/demand/demand_schedule.h"

#include <algorithm>
#include <array>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/spin.h"

namespace mneme {

namespace {

// As many as look-ups overlap with profit (PieceRunner::prepare).
constexpr size_t kMostInGroup = 32;
// A thread that waits looks so often before it lets others run.
constexpr uint32_t kSpins = 64;
constexpr uint32_t kAloneInstalled = 2;

}  // namespace

// One thread's work for a lane that was asked for: a stack of what has to be done before what lies below.
class DemandSchedule::Pull {
 public:
  Pull(DemandSchedule& schedule, ReplayThreadId thread) : schedule_(schedule), thread_(thread) {}

  bool run(BlockLane lane, Place required) {
    stack_.push_back({Frame::Kind::kLane, lane, required, required});
    while (!stack_.empty()) {
      if (schedule_.has_failed()) return give_up();
      switch (stack_.back().kind) {
        case Frame::Kind::kLane:
          step_lane();
          break;
        case Frame::Kind::kFree:
          step_free();
          break;
        case Frame::Kind::kAlone:
          step_alone();
          break;
      }
    }
    return !schedule_.has_failed();
  }

 private:
  struct Frame {
    enum class Kind : uint8_t {
      kLane,   // the lane is to come to `required`, and may go on to `limit`
      kFree,   // the free piece at `required`, a place in the list of free pieces, is to run
      kAlone,  // the batch of `required`, which stands alone, is to be installed
    };
    Kind kind = Kind::kLane;
    BlockLane lane;
    Place required;
    Place limit;
    bool has_lane = false;  // this thread has taken it
    size_t next = 0;        // kAlone: of all lanes, the first that has perhaps not come to the batch
  };

  bool give_up() {
    for (const Frame& frame : stack_) {
      if (frame.has_lane) schedule_.lane(frame.lane).is_taken.store(false, std::memory_order_release);
    }
    stack_.clear();
    return false;
  }
  void pop() {
    if (stack_.back().has_lane)
      schedule_.lane(stack_.back().lane).is_taken.store(false, std::memory_order_release);
    stack_.pop_back();
    waits_ = 0;
  }
  void push(Frame frame) {
    stack_.push_back(frame);
    waits_ = 0;
  }
  // Another thread has to do something first.
  void wait() {
    if (++waits_ < kSpins)
      spin_pause(waits_);
    else
      std::this_thread::yield();
  }
  void fail() { schedule_.failed_.store(true, std::memory_order_release); }

  void step_lane() {
    Frame& frame = stack_.back();
    Lane& lane = schedule_.lane(frame.lane);
    if (lane.place() >= frame.required) return pop();
    if (!frame.has_lane) {
      if (lane.is_taken.exchange(true, std::memory_order_acquire)) return wait();
      frame.has_lane = true;
      waits_ = 0;
    }
    Place at = lane.place();
    // Another thread may just have moved it past a piece of several lanes.
    if (at >= frame.required) return pop();
    if (at.has_arrived()) return bring_others(frame.lane, at);
    const Place before = at;
    const bool runs_free = frame.lane.lane == schedule_.lanes(frame.lane.block);
    group_.clear();
    while (group_.size() < kMostInGroup && at < frame.limit && add_to_group(frame.lane, at, runs_free)) {
    }
    if (!group_.empty()) {
      if (!run_group(frame.lane, runs_free)) return;
    }
    if (at != before) {
      lane.go_to(at);
      if (at == schedule_.end()) schedule_.unsettled_.fetch_sub(1, std::memory_order_release);
      return;
    }
    // It has come no further, and is not where it is to be.
    if (schedule_.batches_[at.batch()].stands_alone())
      return push({Frame::Kind::kAlone, {}, {at.batch(), 0}, {}});
    meet(frame.lane, lane, at);
  }

  // Adds the piece at `at`, or goes past what is no piece. False: nothing more can be added.
  bool add_to_group(BlockLane where, Place& at, bool runs_free) {
    const uint32_t batch = at.batch();
    if (schedule_.batches_[batch].stands_alone()) {
      if (schedule_.alone_[batch].load(std::memory_order_acquire) != kAloneInstalled) return false;
      at = {batch + 1, 0};
      return true;
    }
    LaneLists& lists = schedule_.lists(where.block, batch);
    if (at.number() == lists.size(where.lane)) {
      at = {batch + 1, 0};
      return true;
    }
    LaneLists::Entry& entry = lists.entry(lists.entry_number(where.lane, at.number()));
    if (runs_free) {
      const std::atomic_ref state(entry.lanes_to_come);
      if (state.load(std::memory_order_acquire) == LaneLists::kHasRun) {
        at = {batch, at.number() + 1};
        return true;
      }
      uint32_t waits = LaneLists::kWaits;
      if (blocking(where.block, batch, entry) ||
          !state.compare_exchange_strong(waits, LaneLists::kRuns, std::memory_order_acq_rel))
        return false;
    } else if (entry.lane_count > 1 || blocking(where.block, batch, entry)) {
      return false;
    }
    group_.push_back({batch, entry.piece});
    entries_[group_.size() - 1] = &entry;
    at = {batch, at.number() + 1};
    return true;
  }

  bool run_group(BlockLane where, bool runs_free) {
    const std::span<const BatchPiece> pieces(group_);
    for (size_t done = 0; done < pieces.size();) {
      const uint32_t ready = schedule_.executor_.prepare(where.block, pieces.subspan(done), thread_);
      for (uint32_t i = 0; i < ready; ++i, ++done) {
        if (!schedule_.executor_.run(where.block, pieces[done], thread_)) {
          fail();
          return false;
        }
        if (runs_free)
          std::atomic_ref(entries_[done]->lanes_to_come).store(LaneLists::kHasRun, std::memory_order_release);
        schedule_.lists(where.block, pieces[done].batch).piece_has_run(pieces[done].piece.transaction);
      }
    }
    schedule_.pieces_run_.fetch_add(pieces.size(), std::memory_order_relaxed);
    return true;
  }

  // The block whose pieces of the entry's transaction have yet to run before it.
  std::optional<uint32_t> blocking(uint32_t block, uint32_t batch, const LaneLists::Entry& entry) const {
    const std::optional<uint32_t> procedure =
        schedule_.executor_.procedure_of(batch, entry.piece.transaction);
    if (!procedure) return std::nullopt;
    for (const uint32_t recalled : schedule_.shape_[block].recalls[*procedure]) {
      if (!schedule_.lists(recalled, batch).is_finished(entry.piece.transaction)) return recalled;
    }
    return std::nullopt;
  }

  // The lane stands at a piece that needs something before it may run.
  void meet(BlockLane where, Lane& lane, Place at) {
    LaneLists& lists = schedule_.lists(where.block, at.batch());
    const uint32_t number = lists.entry_number(where.lane, at.number());
    LaneLists::Entry& entry = lists.entry(number);
    if (const auto block = blocking(where.block, at.batch(), entry))
      return pull_transaction(*block, at.batch(), entry.piece.transaction);
    if (entry.lane_count <= 1) return wait();  // it no longer does; or another thread runs the free piece
    lane.go_to({at.batch(), at.number(), true});
    // From here on the last lane to arrive moves this one.
    if (std::atomic_ref(entry.lanes_to_come).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    group_.assign(1, {at.batch(), entry.piece});
    entries_[0] = &entry;
    if (!run_group(where, false)) return;
    for (const uint32_t each : lists.lanes_of(entry))
      schedule_.lane({where.block, each}).go_to({at.batch(), lists.place_of(each, number) + 1});
  }

  // The lane waits for the others of its piece.
  void bring_others(BlockLane where, Place at) {
    LaneLists& lists = schedule_.lists(where.block, at.batch());
    const uint32_t number = lists.entry_number(where.lane, at.number());
    for (const uint32_t other : lists.lanes_of(lists.entry(number))) {
      const Place there(at.batch(), lists.place_of(other, number), true);
      if (schedule_.lane({where.block, other}).place() < there)
        return push({Frame::Kind::kLane, {where.block, other}, there, there});
    }
    wait();
  }

  // What has yet to run of the transaction's pieces in the block comes onto the stack.
  void pull_transaction(uint32_t block, uint32_t batch, uint32_t transaction) {
    LaneLists& lists = schedule_.lists(block, batch);
    const auto [first, end] = lists.entries_of(transaction);
    bool has_pushed = false;
    for (uint32_t number = first; number < end; ++number) {
      LaneLists::Entry& entry = lists.entry(number);
      if (entry.lane_count == 0) {
        if (std::atomic_ref(entry.lanes_to_come).load(std::memory_order_acquire) != LaneLists::kWaits)
          continue;
        const uint32_t free = lists.lanes();
        push({Frame::Kind::kFree, {block, free}, {batch, lists.place_of(free, number)}, {}});
      } else {
        const uint32_t lane = lists.lanes_of(entry).front();
        const Place past(batch, lists.place_of(lane, number) + 1);
        if (schedule_.lane({block, lane}).place() >= past) continue;
        push({Frame::Kind::kLane, {block, lane}, past, std::max(past, Place(batch + 1, 0))});
      }
      has_pushed = true;
      // One at a time: a lane on the stack must stand at a later piece than those above it.
      break;
    }
    if (!has_pushed) wait();
  }

  void step_free() {
    const Frame frame = stack_.back();
    const uint32_t batch = frame.required.batch();
    LaneLists& lists = schedule_.lists(frame.lane.block, batch);
    LaneLists::Entry& entry = lists.entry(lists.entry_number(frame.lane.lane, frame.required.number()));
    const std::atomic_ref state(entry.lanes_to_come);
    if (state.load(std::memory_order_acquire) != LaneLists::kWaits) return pop();
    if (const auto block = blocking(frame.lane.block, batch, entry))
      return pull_transaction(*block, batch, entry.piece.transaction);
    uint32_t waits = LaneLists::kWaits;
    if (state.compare_exchange_strong(waits, LaneLists::kRuns, std::memory_order_acq_rel)) {
      group_.assign(1, {batch, entry.piece});
      entries_[0] = &entry;
      if (!run_group(frame.lane, true)) return;
    }
    pop();
  }

  void step_alone() {
    Frame& frame = stack_.back();
    std::atomic<uint32_t>& state = schedule_.alone_[frame.required.batch()];
    if (state.load(std::memory_order_acquire) == kAloneInstalled) return pop();
    for (; frame.next < schedule_.all_.size(); ++frame.next) {
      const BlockLane lane = schedule_.all_[frame.next];
      const Place batch = frame.required;
      if (schedule_.lane(lane).place() >= batch) continue;
      return push({Frame::Kind::kLane, lane, batch, batch});
    }
    uint32_t untaken = 0;
    if (!state.compare_exchange_strong(untaken, 1, std::memory_order_acq_rel)) return wait();
    if (!schedule_.executor_.run_alone(frame.required.batch())) return fail();
    state.store(kAloneInstalled, std::memory_order_release);
    schedule_.pieces_run_.fetch_add(1, std::memory_order_relaxed);
    pop();
  }

  DemandSchedule& schedule_;
  const ReplayThreadId thread_;
  std::vector<Frame> stack_;
  uint32_t waits_ = 0;
  std::vector<BatchPiece> group_;
  std::array<LaneLists::Entry*, kMostInGroup> entries_;  // of the group
};

DemandSchedule::DemandSchedule(std::vector<Block> blocks, std::vector<DemandBatch> batches, uint32_t threads,
                               DemandExecutor& executor)
    : shape_(std::move(blocks)), batches_(std::move(batches)), executor_(executor), alone_(batches_.size()) {
  for (uint32_t b = 0; b < shape_.size(); ++b) {
    auto& lanes = lanes_.emplace_back();
    for (uint32_t l = 0; l <= shape_[b].lanes; ++l) {
      lanes.push_back(std::make_unique<CachePadded<Lane>>());
      all_.push_back({b, l});
    }
  }
  lane_count_ = all_.size();
  for (const DemandBatch& batch : batches_) {
    piece_count_ += batch.stands_alone() ? 1 : 0;
    for (const auto& lists : batch.blocks) piece_count_ += lists->entry_count();
  }
  unsettled_.store(batches_.empty() ? 0 : lane_count_, std::memory_order_relaxed);
  for (uint32_t t = 0; t < threads; ++t) pulls_.push_back(std::make_unique<Pull>(*this, ReplayThreadId{t}));
}

DemandSchedule::~DemandSchedule() = default;

bool DemandSchedule::is_settled(BlockLane at) const {
  return lane(at).place() >= end();
}

bool DemandSchedule::is_settled_block(uint32_t block) const {
  return std::ranges::all_of(lanes_[block], [&](const auto& lane) { return (**lane).place() >= end(); });
}

bool DemandSchedule::pull(BlockLane at, Place required, ReplayThreadId thread) {
  if (lane(at).place() >= required) return !has_failed();
  return pulls_[thread.value]->run(at, required);
}

bool DemandSchedule::settle(BlockLane at, ReplayThreadId thread) {
  return pull(at, end(), thread);
}

bool DemandSchedule::settle_block(uint32_t block, ReplayThreadId thread) {
  for (uint32_t l = 0; l <= shape_[block].lanes; ++l) {
    if (!settle({block, l}, thread)) return false;
  }
  return true;
}

bool DemandSchedule::go_on(ReplayThreadId thread) {
  const uint64_t step = next_step_.fetch_add(1, std::memory_order_relaxed);
  if (step >= batches_.size() * lane_count_) return false;
  const auto batch = static_cast<uint32_t>(step / lane_count_);
  return pull(all_[step % lane_count_], {batch + 1, 0}, thread);
}

}  // namespace mneme
