#include "recovery/rows/change_replayer.h"

namespace mneme {

ChangeReplayer::ChangeReplayer(Database& database) : database_(database), rows_(database), keys_(database) {}

InstallOutcome ChangeReplayer::replay(const RowChange& change, const ColumnBits* among) {
  if (change.action == ChangeAction::kInsert) return rows_.insert(change.table, change.columns);
  const TableIndex* primary = database_.table(change.table).primary();
  if (primary == nullptr) return InstallOutcome::kNoRow;
  IndexKey key;
  if (!keys_.of(change.table, change.columns, key)) return InstallOutcome::kNoRow;
  NodeVersion node;
  Row* row = primary->index->find(key.words.data(), node);
  if (change.action != ChangeAction::kErase)
    return rows_.update(change.table, change.action, row, change.columns, among);
  const InstallOutcome outcome = rows_.erase(change.table, row);
  rows_.free_erased();
  return outcome;
}

bool ChangeReplayer::name_lookup(const RowChange& change, RowLookup& lookup) {
  const IndexedTable& table = database_.table(change.table);
  if (table.primary() == nullptr) return false;
  lookup.index = table.primary()->id;
  lookup.parts = table.image_parts();
  lookup.is_place = change.action == ChangeAction::kInsert;
  return keys_.of(change.table, change.columns, lookup.key);
}

bool ChangeReplayer::takes_out_entries(const RowChange& change) const {
  if (change.action == ChangeAction::kInsert || change.action == ChangeAction::kErase)
    return change.action == ChangeAction::kErase;
  const std::optional<ColumnBits> changed =
      database_.change_codec().changed_columns(change.table, change.columns);
  return changed && rows_.changes_an_index(change.table, *changed);
}

}  // namespace mneme
