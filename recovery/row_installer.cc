#include "recovery/row_installer.h"

#include <cstring>

namespace mneme {

RowInstaller::RowInstaller(Database& database)
    : database_(database),
      codec_(database.change_codec()),
      links_(database),
      slots_(database.table_count()) {}

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
  if (codec_.decode_row(id, columns, row->image())) {
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

InstallOutcome RowInstaller::update(TableId id, Row* row, ByteSpan columns) {
  if (row == nullptr) return InstallOutcome::kMissing;
  IndexedTable& table = database_.table(id);
  if (table.indexes().size() == 1) {
    return codec_.decode_row(id, columns, row->image()) ? InstallOutcome::kInstalled : InstallOutcome::kNoRow;
  }
  image_.resize(table.layout().image_bytes());
  if (!codec_.decode_row(id, columns, image_.data())) return InstallOutcome::kNoRow;
  const InstallOutcome outcome = links_.relink_others(table, row, image_.data());
  if (outcome == InstallOutcome::kInstalled) std::memcpy(row->image(), image_.data(), image_.size());
  return outcome;
}

InstallOutcome RowInstaller::erase(TableId id, Row* row) {
  if (row == nullptr) return InstallOutcome::kMissing;
  const IndexedTable& table = database_.table(id);
  links_.unlink_others(table, row);
  links_.unlink_primary(table, row);
  row->set_word(RowWord());
  erased_.push_back({id, row});
  return InstallOutcome::kInstalled;
}

}  // namespace mneme
