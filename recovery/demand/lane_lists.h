// LaneLists: the pieces of one batch in one block, as lists, one a lane, in commit order: where replay on
// demand finds what it has to run.
//
// Flow        PieceDispatch::fill -> append*() -> finish() -> DemandSchedule runs the entries
// Free        a piece that conflicts with no other of its block stands in no lane. All of these are in one list
//             more, in commit order, but any of them may run before the others.
// Memory      20 bytes a piece, and 8 for each lane that it stands in. A block whose wide pieces would take
//             more room than that is told (is_too_wide), and is to be filled anew with fewer lanes.
// Threads     one owner until finish(); then the lists are constant. What of an entry changes while it is
//             replayed says Entry.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "recovery/calls/lane_scheduler.h"

namespace mneme {

class LaneLists final : public LaneFill {
 public:
  struct Entry {
    Piece piece;
    uint32_t first_lane = 0;
    uint32_t lane_count = 0;  // 0: the piece is free
    // How many of its lanes have yet to arrive at it; of a free piece FreeState. Through std::atomic_ref,
    // acq_rel: the last one to arrive sees what the others' lanes did.
    uint32_t lanes_to_come = 0;
  };
  enum FreeState : uint32_t { kRuns = 0, kWaits = 1, kHasRun = 2 };

  // `recalled`: whether other pieces wait for those of a transaction here (unfinished()).
  LaneLists(uint32_t transactions, uint32_t lanes, bool recalled);

  void place(uint32_t placement, uint32_t lanes) override;
  void append(Piece piece, std::span<const uint32_t> lanes) override;
  void append_free(Piece piece) override;
  void append_to_all(Piece piece) override;
  // Must be called once, after the last piece.
  void finish();
  bool is_too_wide() const { return is_too_wide_; }

  // The lists: 0 .. lanes()-1, and that of the free pieces, which has the number lanes().
  uint32_t lanes() const { return lanes_; }
  uint32_t size(uint32_t list) const { return begins_[list + 1] - begins_[list]; }
  uint32_t entry_number(uint32_t list, uint32_t place) const { return list_[begins_[list] + place]; }
  Entry& entry(uint32_t number) { return entries_[number]; }
  size_t entry_count() const { return entries_.size(); }
  std::span<const uint32_t> lanes_of(const Entry& entry) const {
    return std::span(entry_lanes_).subspan(entry.first_lane, entry.lane_count);
  }
  // Where an entry stands in a list that holds it.
  uint32_t place_of(uint32_t list, uint32_t entry) const;
  // The entries of a transaction, which follow one another: the first, and one past the last.
  std::pair<uint32_t, uint32_t> entries_of(uint32_t transaction) const;

  // How many of the transaction's pieces have not run. Written by the threads that have run one (release);
  // who reads 0 (acquire) sees what all of them recorded.
  bool is_finished(uint32_t transaction) {
    return std::atomic_ref(unfinished_[transaction]).load(std::memory_order_acquire) == 0;
  }
  void piece_has_run(uint32_t transaction) {
    if (!unfinished_.empty())
      std::atomic_ref(unfinished_[transaction]).fetch_sub(1, std::memory_order_release);
  }

 private:
  void add(Piece piece, uint32_t lanes);
  void add_lane(uint32_t lane);

  const uint32_t lanes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> entry_lanes_;
  std::vector<uint32_t> begins_;  // by list, and the end; before finish(): how many
  std::vector<uint32_t> list_;
  std::vector<uint32_t> unfinished_;  // by transaction; empty where nobody asks
  std::vector<uint32_t> last_entry_;  // by lane, until finish(): the entry that was added last, from 1
  uint64_t wide_ = 0;
  bool is_too_wide_ = false;
};

}  // namespace mneme
