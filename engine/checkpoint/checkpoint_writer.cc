#include "engine/checkpoint/checkpoint_writer.h"

#include "base/parallel.h"
#include "engine/checkpoint/slot_ranges.h"

namespace mneme {

namespace {

Result<void> write_ranges(const Database& database, CheckpointFile& file, SlotRanges& ranges,
                          size_t chunk_bytes) {
  CheckpointRows rows(database, file, chunk_bytes);
  while (const auto range = ranges.next()) {
    Result<void> result;
    const Table& table = database.table(range->table).rows();
    table.for_each_live(range->begin, range->end, [&](const Row* row) {
      if (result) result = rows.add(range->table, table.slot_of(row), row->image());
    });
    RETURN_IF_ERROR(result);
  }
  return rows.flush();
}

}  // namespace

Result<WrittenCheckpoint> write_checkpoint(const Database& database, const std::string& directory,
                                           const CheckpointIdentity& identity, uint32_t threads,
                                           size_t chunk_bytes) {
  auto file = CheckpointFile::create(directory, identity);
  if (!file) return file.error();
  SlotRanges ranges(database);
  RETURN_IF_ERROR(run_on_threads(threads, [&](uint32_t) {
    Result<void> written = write_ranges(database, **file, ranges, chunk_bytes);
    if (!written) ranges.stop();
    return written;
  }));
  return (*file)->complete();
}

}  // namespace mneme
