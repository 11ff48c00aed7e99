#include "recovery/replay_access.h"

#include <algorithm>

#include "base/check.h"

namespace mneme {
namespace {

Row* row_of(const RowRef& row) {
  return static_cast<Row*>(row.handle);
}

bool depends_on(const TableIndex& index, std::span<const ColumnValue> changes) {
  return std::ranges::any_of(changes, [&](const ColumnValue& c) { return index.depends_on[c.column.value]; });
}

}  // namespace

ReplayAccess::ReplayAccess(Database& database) {
  const Catalog& catalog = database.schema().catalog();
  indexes_.resize(catalog.indexes().size());
  for (const TableDefinition& definition : catalog.tables()) {
    IndexedTable& table = database.table(definition.id);
    tables_.push_back({&table, {}});
    for (const TableIndex& index : table.indexes()) indexes_[index.id.value] = {&table, &index};
  }
}

ReplayAccess::~ReplayAccess() {
  for (OpenTable& open : tables_) open.table->rows().give_back(open.slots);
}

AccessStatus ReplayAccess::find(IndexId index, const IndexKey& key, RowRef& row) {
  const OpenIndex& open = indexes_[index.value];
  Row* found = nullptr;
  if (open.index->has_whole_key_suffix) {
    const KeyRange range = open.table->entry_range(*open.index, key, key);
    IndexCursor cursor(range.low.span(), range.high.span(), ScanDirection::kForward);
    while (found == nullptr && open.index->index->next(cursor)) {
      if (cursor.count > 0) found = cursor.rows[0];
    }
  } else {
    NodeVersion node;
    found = open.index->index->find(key.words.data(), node);
  }
  if (found == nullptr) return AccessStatus::kAbsent;
  row = {found->image(), found};
  return AccessStatus::kOk;
}

AccessStatus ReplayAccess::scan(IndexId index, const KeyRange& range, Direction direction,
                                FunctionRef<bool(const RowRef&)> visit) {
  const OpenIndex& open = indexes_[index.value];
  const KeyRange entries = open.table->entry_range(*open.index, range.low, range.high);
  IndexCursor cursor(entries.low.span(), entries.high.span(),
                     direction == Direction::kForward ? ScanDirection::kForward : ScanDirection::kBackward);
  while (open.index->index->next(cursor)) {
    for (uint32_t i = 0; i < cursor.count; ++i) {
      if (!visit({cursor.rows[i]->image(), cursor.rows[i]})) return AccessStatus::kOk;
    }
  }
  return AccessStatus::kOk;
}

AccessStatus ReplayAccess::link(const IndexedTable& table, const TableIndex& index, const IndexKey& key,
                                Row* row) {
  Row* existing = nullptr;
  switch (index.index->insert(key.words.data(), row, existing, nullptr)) {
    case Index::InsertStatus::kInserted:
      return AccessStatus::kOk;
    case Index::InsertStatus::kExists:
      return AccessStatus::kDuplicateKey;
    case Index::InsertStatus::kOutOfMemory:
      return AccessStatus::kOutOfMemory;
  }
  CHECK(false);
}

AccessStatus ReplayAccess::insert(TableId table, std::span<const Value> values) {
  OpenTable& open = tables_[table.value];
  Row* row = open.table->rows().allocate(open.slots);
  if (row == nullptr) return AccessStatus::kOutOfMemory;
  const RowLayout& layout = open.table->layout();
  DCHECK(values.size() == layout.column_count());
  for (uint32_t c = 0; c < values.size(); ++c) layout.set(row->image(), ColumnId{c}, values[c]);
  for (const TableIndex& index : open.table->indexes()) {
    const AccessStatus status =
        link(*open.table, index, open.table->entry_key(index, row->image(), row), row);
    if (status != AccessStatus::kOk) return status;
  }
  // As a row from the checkpoint: what replay has put there is durable.
  row->set_word(RowWord::live(kCheckpointLsn));
  return AccessStatus::kOk;
}

// A change's value that does not change when the image does.
Value ReplayAccess::out_of_image(const IndexedTable& table, const std::byte* image,
                                 const ColumnValue& change) {
  const Value& value = change.value;
  if (value.is_null() || !table.definition().column(change.column).type.is_string()) return value;
  const auto* text = reinterpret_cast<const std::byte*>(value.as_text().data());
  const bool inside = text >= image && text < image + table.rows().image_bytes();
  return inside ? Value::of_text(scratch_.copy(value.as_text())) : value;
}

AccessStatus ReplayAccess::update(TableId table_id, RowRef& ref, std::span<const ColumnValue> changes) {
  const IndexedTable& table = *tables_[table_id.value].table;
  Row* row = row_of(ref);
  std::byte* image = row->image();
  scratch_.reset();
  changes_.clear();
  old_keys_.clear();
  for (const ColumnValue& change : changes) {
    changes_.push_back({change.column, out_of_image(table, image, change)});
  }
  // Entries of all indexes end in the primary key.
  const bool moves = table.primary() != nullptr && depends_on(*table.primary(), changes_);
  for (const TableIndex& index : table.indexes()) {
    if (moves || depends_on(index, changes_)) old_keys_.push_back(table.entry_key(index, image, row));
  }
  for (const ColumnValue& change : changes_) table.layout().set(image, change.column, change.value);

  size_t next = 0;
  for (const TableIndex& index : table.indexes()) {
    if (!moves && !depends_on(index, changes_)) continue;
    const IndexKey& old_key = old_keys_[next++];
    const IndexKey new_key = table.entry_key(index, image, row);
    if (new_key == old_key) continue;
    const AccessStatus status = link(table, index, new_key, row);
    if (status != AccessStatus::kOk) return status;
    CHECK(index.index->erase(old_key.words.data(), row));
  }
  return AccessStatus::kOk;
}

AccessStatus ReplayAccess::erase(TableId table_id, RowRef& ref) {
  OpenTable& open = tables_[table_id.value];
  Row* row = row_of(ref);
  for (const TableIndex& index : open.table->indexes()) {
    CHECK(index.index->erase(open.table->entry_key(index, row->image(), row).words.data(), row));
  }
  open.table->rows().free(open.slots, row);
  return AccessStatus::kOk;
}

}  // namespace mneme
