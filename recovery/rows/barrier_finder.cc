#include "recovery/rows/barrier_finder.h"

#include <algorithm>
#include <optional>

#include "base/memory/prefetch.h"
#include "base/parallel.h"

namespace mneme {

namespace {

// So many at a time, and of the next one so much is asked for ahead, as its changes lie here and there in it.
constexpr size_t kStretchRecords = 1024;
constexpr size_t kMaxBarrierAheadBytes = 4096;

bool is_ad_hoc(const RecordView& record) {
  return record.kind == RecordKind::kLogical || record.kind == RecordKind::kPhysical;
}

bool stands_alone(const ChangePlacement& placement, const ChangeCodec& codec, const RecordView& record) {
  const std::optional<LoggedChanges> logged = changes_of(record.kind, record.payload);
  if (!logged) return false;
  ChangeReader reader(codec, *logged);
  LoggedChange change;
  while (reader.next(change.row)) {
    if (!placement.may_be_barrier(change.row.table)) continue;
    if (!find_changed_columns(codec, change)) return false;
    if (placement.is_barrier(change)) return true;
  }
  return false;
}

}  // namespace

std::vector<size_t> find_barriers(const ChangePlacement& placement, const ChangeCodec& codec,
                                  std::span<const RecordView> records, uint32_t threads) {
  std::vector<std::vector<size_t>> found((records.size() + kStretchRecords - 1) / kStretchRecords);
  for_each_in_parallel(threads, found.size(), [&](size_t stretch) {
    const size_t end = std::min(records.size(), (stretch + 1) * kStretchRecords);
    for (size_t r = stretch * kStretchRecords; r < end; ++r) {
      if (!is_ad_hoc(records[r])) continue;
      if (r + 1 < end && is_ad_hoc(records[r + 1]))
        prefetch_lines(records[r + 1].payload.data(),
                       std::min(records[r + 1].payload.size(), kMaxBarrierAheadBytes));
      if (stands_alone(placement, codec, records[r])) found[stretch].push_back(r);
    }
  });
  std::vector<size_t> barriers;
  for (const std::vector<size_t>& of_stretch : found)
    barriers.insert(barriers.end(), of_stretch.begin(), of_stretch.end());
  return barriers;
}

}  // namespace mneme
