// Place merge: brings the records of several streams into commit order, by their places (epoch_lsn.h).
//
// Flow        add() each part -> merge()
// Invariants  a part's records are of rising epochs; within an epoch in any order. Each epoch's records lie
//             behind those of the epochs before it, so the first one's place is known, and each record's
//             distance from it is its index. An index that lies outside of its epoch, or is taken twice,
//             shows that one is missing.
// Threads     add, merge: one. merge() uses threads of its own.
#pragma once

#include <optional>
#include <vector>

#include "logging/reading/log_reader.h"
#include "logging/record/epoch_lsn.h"

namespace mneme {

class PlaceMerge {
 public:
  void add(std::vector<RecordView> records);
  size_t size() const { return size_; }

  // `first`: the LSN whose place the first record has; nothing: that of the lowest one there is. Returns the
  // records in commit order; nothing: their places have a gap.
  std::optional<std::vector<RecordView>> merge(std::optional<Lsn> first, uint32_t threads);

 private:
  // Records of one epoch, in one part or in all.
  struct Stretch {
    LogEpoch epoch;
    size_t begin = 0;
    size_t count = 0;
  };
  struct Part {
    std::vector<RecordView> records;
    std::vector<Stretch> stretches;
  };

  std::vector<Stretch> whole_epochs() const;
  Lsn lowest() const;
  bool place_epoch(const Stretch& epoch, Lsn first, std::vector<RecordView>& into) const;

  std::vector<Part> parts_;
  size_t size_ = 0;
};

}  // namespace mneme
