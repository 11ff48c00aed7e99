// BatchPieces: the pieces of one batch in one block, in commit order, each with its lanes: what replay on
// demand finds its way by.
//
// Flow        PieceDispatch::fill -> append*() -> LaneTables (demand_schedule.cc) -> replayed entry by entry
// Free        a piece that conflicts with no other of its block stands in no lane, and may run at any time.
// Memory      12 bytes a piece, and 16 more for each lane of one that stands in several. A block whose wide
//             pieces would take more room than that is told (is_too_wide), and is to be filled anew with
//             fewer lanes.
// Threads     one owner while it is filled; then constant, but for what an entry's functions say.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "recovery/calls/lane_scheduler.h"

namespace mneme {

class BatchPieces final : public LaneFill {
 public:
  // `is_recalled`: whether other pieces wait for those of a transaction here (is_finished()).
  BatchPieces(uint32_t transactions, uint32_t lanes, bool is_recalled);

  void place(uint32_t placement, uint32_t lanes) override;
  void append(Piece piece, std::span<const uint32_t> lanes) override;
  void append_free(Piece piece) override;
  void append_to_all(Piece piece) override;
  bool is_too_wide() const { return is_too_wide_; }

  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  Piece piece(uint32_t entry) const { return entries_[entry].piece; }
  // The entry's lanes; none: it is free.
  std::span<const uint32_t> lanes(uint32_t entry) const {
    const uint32_t lane = lane_of(entry);
    if (lane < kSeveral) return {&entries_[entry].lane, 1};
    if (lane >= kFirstFree) return {};
    const Several& several = several_[lane - kSeveral];
    return std::span(lanes_of_several_).subspan(several.first, several.count);
  }
  bool has_one_lane(uint32_t entry) const { return lane_of(entry) < kSeveral; }
  // The entries of a transaction, which follow one another: the first, and one past the last.
  std::pair<uint32_t, uint32_t> entries_of(uint32_t transaction) const;

  // One more lane of an entry in several has arrived. Returns whether it is the last, which then sees what
  // the others' pieces did (acq_rel).
  bool arrive(uint32_t entry) {
    std::atomic_ref to_come(several_[entries_[entry].lane - kSeveral].to_come);
    return to_come.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  // The thread that takes a free entry runs it, and then says so (release). Who finds that it has run
  // (acquire) sees what it did.
  enum class Free : uint8_t { kWaits, kRuns, kHasRun };
  Free free_state(uint32_t entry) { return free_of(state(entry).load(std::memory_order_acquire)); }
  bool take_free(uint32_t entry) {
    uint32_t waits = kFreeWaits;
    return state(entry).compare_exchange_strong(waits, kFreeRuns, std::memory_order_acq_rel);
  }
  void free_has_run(uint32_t entry) { state(entry).store(kFreeHasRun, std::memory_order_release); }

  // Whether all of the transaction's pieces have run. Written by the threads that have run one (release); who
  // finds that they have (acquire) sees what all of them recorded.
  bool is_finished(uint32_t transaction) {
    return std::atomic_ref(unfinished_[transaction]).load(std::memory_order_acquire) == 0;
  }
  void piece_has_run(uint32_t transaction) {
    if (!unfinished_.empty())
      std::atomic_ref(unfinished_[transaction]).fetch_sub(1, std::memory_order_release);
  }

 private:
  struct Entry {
    Piece piece;
    uint32_t lane;  // or kSeveral and its number among these, or how a free one stands
  };
  struct Several {
    uint32_t first = 0;
    uint32_t count = 0;
    uint32_t to_come = 0;
  };
  static constexpr uint32_t kSeveral = uint32_t{1} << 30;
  static constexpr uint32_t kFirstFree = uint32_t{1} << 31;
  static constexpr uint32_t kFreeWaits = kFirstFree;
  static constexpr uint32_t kFreeRuns = kFirstFree + 1;
  static constexpr uint32_t kFreeHasRun = kFirstFree + 2;

  // A free entry's may change meanwhile (relaxed: that it is a free one does not).
  uint32_t lane_of(uint32_t entry) const {
    return std::atomic_ref(const_cast<uint32_t&>(entries_[entry].lane)).load(std::memory_order_relaxed);
  }
  static Free free_of(uint32_t lane) { return static_cast<Free>(lane - kFirstFree); }
  std::atomic_ref<uint32_t> state(uint32_t entry) {
    DCHECK(lane_of(entry) >= kFirstFree);
    return std::atomic_ref(entries_[entry].lane);
  }
  void add(Piece piece, uint32_t lane);
  void add_several(Piece piece, uint32_t first);

  const uint32_t lanes_;
  const uint64_t most_wide_places_;
  std::vector<Entry> entries_;
  std::vector<Several> several_;
  std::vector<uint32_t> lanes_of_several_;
  std::vector<uint32_t> unfinished_;  // by transaction; empty where nobody asks
  uint64_t wide_places_ = 0;
  bool is_too_wide_ = false;
};

}  // namespace mneme
