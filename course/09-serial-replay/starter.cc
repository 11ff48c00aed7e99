// Your part of chapter 9: the records of several streams, in the order in which their transactions committed.
// Read logging/reading/place_merge.h and logging/record/epoch_lsn.h first.
//
// This starter returns one stream after the other. Of the private functions in the header you may define
// those that you use, and leave out the others.
#include <algorithm>

#include "logging/reading/place_merge.h"

namespace mneme {

void PlaceMerge::add(std::vector<RecordView> records) {
  Part part;
  size_ += records.size();
  part.records = std::move(records);
  parts_.push_back(std::move(part));
}

// `threads` says how many threads may share the work; one may do all of it.
std::optional<std::vector<RecordView>> PlaceMerge::merge(std::optional<Lsn> first, uint32_t threads) {
  (void)first;
  (void)threads;
  std::vector<RecordView> merged;
  for (const Part& part : parts_) merged.insert(merged.end(), part.records.begin(), part.records.end());
  return merged;
}

}  // namespace mneme
