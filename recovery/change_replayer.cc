#include "recovery/change_replayer.h"

namespace mneme {

ChangeReplayer::ChangeReplayer(Database& database) : database_(database), rows_(database) {
  for (uint32_t t = 0; t < database.table_count(); ++t)
    images_.emplace_back(database.table(TableId{t}).layout().image_bytes());
}

InstallOutcome ChangeReplayer::replay(const RowChange& change, const ColumnBits* among) {
  if (change.action == ChangeAction::kInsert) return rows_.insert(change.table, change.columns);
  const TableIndex* primary = database_.table(change.table).primary();
  if (primary == nullptr) return InstallOutcome::kNoRow;
  std::byte* image = images_[change.table.value].data();
  if (!database_.change_codec().decode_key(change.table, change.columns, image)) return InstallOutcome::kNoRow;
  NodeVersion node;
  Row* row = primary->index->find(primary->codec->of_row(image, 0).words.data(), node);
  if (change.action != ChangeAction::kErase)
    return rows_.update(change.table, change.action, row, change.columns, among);
  const InstallOutcome outcome = rows_.erase(change.table, row);
  rows_.free_erased();
  return outcome;
}

bool ChangeReplayer::takes_out_entries(const RowChange& change) const {
  if (change.action == ChangeAction::kInsert || change.action == ChangeAction::kErase)
    return change.action == ChangeAction::kErase;
  const std::optional<ColumnBits> changed = database_.change_codec().changed_columns(change.table, change.columns);
  return changed && rows_.changes_an_index(change.table, *changed);
}

}  // namespace mneme
