#include "recovery/rows/key_installer.h"

#include <cstring>

namespace mneme {

KeyInstaller::KeyInstaller(Database& database, std::span<const RecordView> records, ReplayOrder order)
    : database_(database),
      codec_(database.change_codec()),
      records_(records),
      is_reverse_(order == ReplayOrder::kReverse),
      links_(database),
      slots_(database.table_count()) {}

KeyInstaller::~KeyInstaller() {
  for (uint32_t t = 0; t < slots_.size(); ++t) database_.table(TableId{t}).rows().give_back(slots_[t]);
}

InstallOutcome KeyInstaller::install(TableId table, Changes changes, Row* row) {
  const InstallOutcome checked = check(changes, row != nullptr);
  if (checked != InstallOutcome::kInstalled) return checked;
  failed_at_ = lsn_of(changes.back());
  const bool is_erased = changes.back()->action() == ChangeAction::kErase;
  if (row == nullptr) return is_erased ? InstallOutcome::kInstalled : make(table, changes);
  return is_erased ? erase(table, row) : change(table, changes, row);
}

// That what is inserted is not there, and all else is.
InstallOutcome KeyInstaller::check(Changes changes, bool is_there) {
  for (const ShuffledChange* change : changes) {
    const bool is_insert = change->action() == ChangeAction::kInsert;
    if (is_insert == is_there) {
      failed_at_ = lsn_of(change);
      return is_there ? InstallOutcome::kExists : InstallOutcome::kMissing;
    }
    is_there = change->action() != ChangeAction::kErase;
  }
  return InstallOutcome::kInstalled;
}

InstallOutcome KeyInstaller::make(TableId id, Changes changes) {
  IndexedTable& table = database_.table(id);
  Row* row = table.rows().allocate(slots_[id.value]);
  if (row == nullptr) return InstallOutcome::kOutOfMemory;
  if (!write(id, changes, row->image(), ImageOwner::kRow)) {
    row->set_word(RowWord());
    table.rows().free(slots_[id.value], row);
    return InstallOutcome::kNoRow;
  }
  row->set_word(RowWord::live(lsn_of(changes.back())));
  made_.push_back(row);
  return InstallOutcome::kInstalled;
}

InstallOutcome KeyInstaller::change(TableId id, Changes changes, Row* row) {
  const IndexedTable& table = database_.table(id);
  const bool has_others = table.indexes().size() > 1;
  std::byte* image = row->image();
  if (has_others) {
    image_.assign(row->image(), row->image() + table.layout().image_bytes());
    image = image_.data();
  }
  if (!write(id, changes, image, has_others ? ImageOwner::kNone : ImageOwner::kRow))
    return InstallOutcome::kNoRow;
  if (has_others) {
    const InstallOutcome linked = links_.relink_others(table, row, image);
    if (linked != InstallOutcome::kInstalled) return linked;
    if (!table.layout().copy_to_row(image, row->image())) return InstallOutcome::kOutOfMemory;
  }
  row->set_word(RowWord::live(lsn_of(changes.back())));
  return InstallOutcome::kInstalled;
}

InstallOutcome KeyInstaller::erase(TableId id, Row* row) {
  IndexedTable& table = database_.table(id);
  links_.unlink_others(table, row);
  links_.unlink_primary(table, row);
  row->set_word(RowWord());
  table.rows().free(slots_[id.value], row);
  return InstallOutcome::kInstalled;
}

bool KeyInstaller::write(TableId table, Changes changes, std::byte* image, ImageOwner owner) {
  for (const ShuffledChange* change : is_reverse_ ? changes.last(1) : changes) {
    switch (change->action()) {
      case ChangeAction::kErase:
        continue;
      case ChangeAction::kInsert:
      case ChangeAction::kUpdate:
        if (!codec_.decode_row(table, change->action(), change->bytes(), image, owner)) break;
        continue;
      case ChangeAction::kPatch:
        // The columns that a partial image lacks would be lost with the older images.
        if (is_reverse_ ||
            !codec_.decode_changed(table, change->action(), change->bytes(), nullptr, image, owner))
          break;
        continue;
    }
    failed_at_ = lsn_of(change);
    return false;
  }
  return true;
}

}  // namespace mneme
