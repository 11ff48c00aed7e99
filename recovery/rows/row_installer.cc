#include "recovery/rows/row_installer.h"

namespace mneme {

RowInstaller::RowInstaller(Database& database)
    : database_(database), codec_(database.change_codec()), links_(database), slots_(database.table_count()) {
  for (const TableDefinition& table : database.catalog().tables()) {
    const std::span<const ColumnId> columns = codec_.rest_columns(table.id);
    std::vector<std::byte>& bits = indexed_.emplace_back(ColumnBits::bytes_for(columns.size()));
    for (size_t i = 0; i < columns.size(); ++i) {
      if (database.table(table.id).is_indexed(columns[i])) bits[i / 8] |= std::byte{1} << i % 8;
    }
  }
}

RowInstaller::~RowInstaller() {
  free_erased();
  for (uint32_t t = 0; t < slots_.size(); ++t) database_.table(TableId{t}).rows().give_back(slots_[t]);
}

void RowInstaller::free_erased() {
  for (const ErasedRow& erased : erased_) {
    database_.table(erased.table).rows().free(slots_[erased.table.value], erased.row);
  }
  erased_.clear();
}

InstallOutcome RowInstaller::insert(TableId id, ByteSpan columns) {
  IndexedTable& table = database_.table(id);
  Row* row = table.rows().allocate(slots_[id.value]);
  if (row == nullptr) return InstallOutcome::kOutOfMemory;
  InstallOutcome outcome = InstallOutcome::kNoRow;
  if (codec_.decode_row(id, ChangeAction::kInsert, columns, row->image(), ImageOwner::kRow)) {
    Row* existing = nullptr;
    outcome = links_.link_primary(table, row, existing);
    if (outcome == InstallOutcome::kInstalled) outcome = links_.link_others(table, row, row->image());
  }
  if (outcome == InstallOutcome::kInstalled) {
    row->set_word(RowWord::live(kCheckpointLsn));
  } else {
    row->set_word(RowWord());
    table.rows().free(slots_[id.value], row);
  }
  return outcome;
}

bool RowInstaller::changes_an_index(TableId table, const ColumnBits& changed) const {
  const std::vector<std::byte>& indexed = indexed_[table.value];
  for (size_t i = 0; i < indexed.size(); ++i) {
    if ((indexed[i] & changed.bytes()[i]) != std::byte{0}) return true;
  }
  return false;
}

InstallOutcome RowInstaller::update(TableId id, ChangeAction action, Row* row, ByteSpan columns,
                                    const ColumnBits* among) {
  if (row == nullptr) return InstallOutcome::kMissing;
  const std::optional<ColumnBits> changed = codec_.changed_columns(id, columns);
  if (!changed) return InstallOutcome::kNoRow;
  if (changes_an_index(id, *changed)) {
    const IndexedTable& table = database_.table(id);
    image_.assign(row->image(), row->image() + table.layout().image_bytes());
    if (!codec_.decode_changed(id, action, columns, among, image_.data())) return InstallOutcome::kNoRow;
    const InstallOutcome outcome = links_.relink_others(table, row, image_.data());
    if (outcome != InstallOutcome::kInstalled) return outcome;
  }
  return codec_.decode_changed(id, action, columns, among, row->image(), ImageOwner::kRow)
             ? InstallOutcome::kInstalled
             : InstallOutcome::kNoRow;
}

InstallOutcome RowInstaller::erase(TableId id, Row* row) {
  if (row == nullptr) return InstallOutcome::kMissing;
  const IndexedTable& table = database_.table(id);
  links_.unlink_others(table, row);
  if (table.primary() != nullptr) links_.unlink_primary(table, row);
  row->set_word(RowWord());
  erased_.push_back({id, row});
  return InstallOutcome::kInstalled;
}

}  // namespace mneme
