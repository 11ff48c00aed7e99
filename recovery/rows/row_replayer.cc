#include "recovery/rows/row_replayer.h"

#include <algorithm>

namespace mneme {

Result<ReplayStatistics> RowReplayer::replay(RecordStream& stretch, const Progress& progress) {
  ReplayOptions options = setting_.options;
  options.progress = progress;
  return replay_rows(stretch.kept(), options);
}

std::optional<Lsn> RowReplayer::position(std::span<const RecordView> rows, uint64_t done) const {
  const size_t read = std::min<size_t>(done, rows.size());
  if (read == 0) return std::nullopt;
  return rows[setting_.options.order == ReplayOrder::kReverse ? rows.size() - read : read - 1].lsn;
}

}  // namespace mneme
