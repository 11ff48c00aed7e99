#include "recovery/rows/newest_installer.h"

#include <cstring>

#include "base/spin.h"

namespace mneme {

NewestInstaller::NewestInstaller(Database& database)
    : database_(database),
      codec_(database.change_codec()),
      links_(database),
      slots_(database.table_count()) {}

NewestInstaller::~NewestInstaller() {
  for (uint32_t t = 0; t < slots_.size(); ++t) database_.table(TableId{t}).rows().give_back(slots_[t]);
}

InstallOutcome NewestInstaller::install(TableId table, ChangeAction action, Lsn lsn, ByteSpan columns,
                                        Row* row) {
  if (action == ChangeAction::kPatch) return InstallOutcome::kNoRow;
  return row == nullptr ? add(table, action, lsn, columns) : overwrite(table, action, lsn, columns, row);
}

InstallOutcome NewestInstaller::add(TableId id, ChangeAction action, Lsn lsn, ByteSpan columns) {
  IndexedTable& table = database_.table(id);
  Row* row = table.rows().allocate(slots_[id.value]);
  if (row == nullptr) return InstallOutcome::kOutOfMemory;
  const bool is_erased = action == ChangeAction::kErase;
  Row* existing = nullptr;
  InstallOutcome outcome = InstallOutcome::kNoRow;
  if (is_erased ? codec_.decode_key(id, columns, row->image())
                : codec_.decode_row(id, action, columns, row->image(), ImageOwner::kRow)) {
    // A thread that finds the row before all its entries stand waits.
    row->set_word(RowWord::incoming().locked());
    outcome = links_.link_primary(table, row, existing);
  }
  if (outcome != InstallOutcome::kInstalled) {
    row->set_word(RowWord());
    table.rows().free(slots_[id.value], row);
    return existing != nullptr ? overwrite(id, action, lsn, columns, existing) : outcome;
  }
  if (is_erased) {
    row->set_word(RowWord::tombstone(lsn));
    tombstones_.push_back({id, row, lsn});
    return InstallOutcome::kInstalled;
  }
  outcome = links_.link_others(table, row, row->image());
  row->set_word(RowWord::live(lsn));
  return outcome;
}

InstallOutcome NewestInstaller::overwrite(TableId id, ChangeAction action, Lsn lsn, ByteSpan columns,
                                          Row* row) {
  // LSNs only rise, so what is newer already needs no latch to be passed over.
  if (lsn < row->word().lsn()) return InstallOutcome::kInstalled;
  const RowWord word = latch(row);
  if (lsn < word.lsn()) {
    row->set_word(word);
    return InstallOutcome::kInstalled;
  }
  if (action == ChangeAction::kErase) {
    if (word.is_live()) links_.unlink_others(database_.table(id), row);
    row->set_word(RowWord::tombstone(lsn));
    tombstones_.push_back({id, row, lsn});
    return InstallOutcome::kInstalled;
  }
  const InstallOutcome outcome = replace(id, action, columns, row, word.is_live());
  row->set_word(outcome == InstallOutcome::kInstalled ? RowWord::live(lsn) : word);
  return outcome;
}

InstallOutcome NewestInstaller::replace(TableId id, ChangeAction action, ByteSpan columns, Row* row,
                                        bool was_live) {
  const IndexedTable& table = database_.table(id);
  if (table.indexes().size() == 1) {
    return codec_.decode_row(id, action, columns, row->image(), ImageOwner::kRow) ? InstallOutcome::kInstalled
                                                                                  : InstallOutcome::kNoRow;
  }
  image_.resize(table.layout().image_bytes());
  if (!codec_.decode_row(id, action, columns, image_.data())) return InstallOutcome::kNoRow;
  const InstallOutcome outcome = was_live ? links_.relink_others(table, row, image_.data())
                                          : links_.link_others(table, row, image_.data());
  if (outcome != InstallOutcome::kInstalled) return outcome;
  return table.layout().copy_to_row(image_.data(), row->image()) ? outcome : InstallOutcome::kOutOfMemory;
}

RowWord NewestInstaller::latch(Row* row) {
  for (uint32_t tries = 0;; spin_pause(tries++)) {
    const RowWord word = row->word();
    if (!word.is_locked() && row->try_change(word, word.locked())) return word;
  }
}

void NewestInstaller::sweep() {
  for (const Tombstone& tombstone : tombstones_) {
    // It may have been inserted again, or erased once more, which another installer knows of.
    if (tombstone.row->word() != RowWord::tombstone(tombstone.lsn)) continue;
    IndexedTable& table = database_.table(tombstone.table);
    links_.unlink_primary(table, tombstone.row);
    tombstone.row->set_word(RowWord());
    table.rows().free(slots_[tombstone.table.value], tombstone.row);
  }
  tombstones_.clear();
}

}  // namespace mneme
