#include "recovery/log/row_links.h"

namespace mneme {

InstallOutcome RowLinks::insert(const TableIndex& index, const IndexKey& key, Row* row, Row*& existing) {
  switch (index.index->insert(key.words.data(), row, existing, nullptr, &hints_[index.id.value])) {
    case Index::InsertStatus::kInserted:
      return InstallOutcome::kInstalled;
    case Index::InsertStatus::kExists:
      return InstallOutcome::kExists;
    case Index::InsertStatus::kOutOfMemory:
      break;
  }
  return InstallOutcome::kOutOfMemory;
}

InstallOutcome RowLinks::link_primary(const IndexedTable& table, Row* row, Row*& existing) {
  const TableIndex* primary = table.primary();
  if (primary == nullptr) return InstallOutcome::kInstalled;
  return insert(*primary, table.entry_key(*primary, row->image(), row), row, existing);
}

InstallOutcome RowLinks::link_others(const IndexedTable& table, Row* row, const std::byte* image) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    Row* existing = nullptr;
    const InstallOutcome outcome = insert(index, table.entry_key(index, image, row), row, existing);
    if (outcome != InstallOutcome::kInstalled) return outcome;
  }
  return InstallOutcome::kInstalled;
}

InstallOutcome RowLinks::relink_others(const IndexedTable& table, Row* row, const std::byte* image) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    const IndexKey old_key = table.entry_key(index, row->image(), row);
    const IndexKey key = table.entry_key(index, image, row);
    if (old_key == key) continue;
    index.index->erase(old_key.words.data(), row);
    Row* existing = nullptr;
    const InstallOutcome outcome = insert(index, key, row, existing);
    if (outcome != InstallOutcome::kInstalled) return outcome;
  }
  return InstallOutcome::kInstalled;
}

void RowLinks::unlink_others(const IndexedTable& table, Row* row) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    index.index->erase(table.entry_key(index, row->image(), row).words.data(), row);
  }
}

void RowLinks::unlink_primary(const IndexedTable& table, Row* row) {
  const TableIndex& primary = *table.primary();
  primary.index->erase(table.entry_key(primary, row->image(), row).words.data(), row);
}

Error no_rows_error(Lsn lsn) {
  return damaged(
      "the log's record at LSN {} holds no rows of this database's tables; recovery stops here and has "
      "changed "
      "nothing on disk",
      lsn.value);
}

Error install_error(const Catalog& catalog, TableId table, Lsn lsn, InstallOutcome outcome) {
  switch (outcome) {
    case InstallOutcome::kOutOfMemory:
      return failed(
          "no memory is left to replay the record at LSN {}; nothing on disk was changed: recover with more "
          "memory",
          lsn.value);
    case InstallOutcome::kMissing:
    case InstallOutcome::kExists:
      return damaged(
          "replay stopped at LSN {}: a row of table {} that was to be {} is {} there; the log does not fit "
          "the "
          "checkpoint, or Mneme has a bug; nothing on disk was changed",
          lsn.value, catalog.table(table).name, outcome == InstallOutcome::kExists ? "inserted" : "changed",
          outcome == InstallOutcome::kExists ? "already" : "not");
    case InstallOutcome::kOtherVersion:
      return damaged(
          "replay stopped at LSN {}: a row of table {} is not the version there that the record follows; the "
          "log does "
          "not fit the checkpoint, or Mneme has a bug; nothing on disk was changed",
          lsn.value, catalog.table(table).name);
    case InstallOutcome::kNoRow:
    case InstallOutcome::kInstalled:
      break;
  }
  return no_rows_error(lsn);
}

}  // namespace mneme
