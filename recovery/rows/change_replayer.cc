#include "recovery/rows/change_replayer.h"

namespace mneme {

ChangeReplayer::ChangeReplayer(Database& database)
    : database_(database), next_slots_(database.table_count()), rows_(database), keys_(database) {}

InstallOutcome ChangeReplayer::replay(const RowChange& change, const ColumnBits* among) {
  if (change.action == ChangeAction::kInsert) return rows_.insert(change.table, change.columns);
  const TableIndex* primary = database_.table(change.table).primary();
  Row* row = nullptr;
  if (primary == nullptr) {
    if (change.action != ChangeAction::kErase) return InstallOutcome::kNoRow;
    row = find_equal(change);
  } else {
    IndexKey key;
    if (!keys_.of(change.table, change.columns, key)) return InstallOutcome::kNoRow;
    NodeVersion node;
    row = primary->index->find(key.words.data(), node);
  }
  if (change.action != ChangeAction::kErase)
    return rows_.update(change.table, change.action, row, change.columns, among);
  const InstallOutcome outcome = rows_.erase(change.table, row);
  rows_.free_erased();
  return outcome;
}

Row* ChangeReplayer::find_equal(const RowChange& erased) {
  const IndexedTable& table = database_.table(erased.table);
  const RowCodec& codec = database_.change_codec().rest(erased.table);
  image_.assign(table.layout().image_bytes(), std::byte{0});
  if (!database_.change_codec().decode_row(erased.table, erased.action, erased.columns, image_.data()))
    return nullptr;
  uint64_t& next = next_slots_[erased.table.value];
  const uint64_t end = table.rows().slot_end();
  for (uint64_t looked_at = 0; looked_at < end; ++looked_at) {
    if (next >= end) next = 0;
    Row* row = table.rows().at(next++);
    if (row != nullptr && row->word().is_live() && codec.equal(row->image(), image_.data())) return row;
  }
  return nullptr;
}

bool ChangeReplayer::name_lookup(const RowChange& change, RowLookup& lookup) {
  const IndexedTable& table = database_.table(change.table);
  if (table.primary() == nullptr) return false;
  lookup.index = table.primary()->id;
  lookup.parts = table.image_parts();
  lookup.is_place = change.action == ChangeAction::kInsert;
  IndexKey key;
  if (!keys_.of(change.table, change.columns, key)) return false;
  lookup.key = key;
  return true;
}

bool ChangeReplayer::takes_out_entries(const RowChange& change) const {
  if (change.action == ChangeAction::kInsert || change.action == ChangeAction::kErase)
    return change.action == ChangeAction::kErase;
  const std::optional<ColumnBits> changed =
      database_.change_codec().changed_columns(change.table, change.columns);
  return changed && rows_.changes_an_index(change.table, *changed);
}

}  // namespace mneme
