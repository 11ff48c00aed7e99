#include "engine/transaction/unlogged_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory/prefetch.h"

namespace mneme {

namespace {

AccessStatus access_status(Index::InsertStatus status) {
  switch (status) {
    case Index::InsertStatus::kInserted:
      return AccessStatus::kOk;
    case Index::InsertStatus::kExists:
      return AccessStatus::kDuplicateKey;
    case Index::InsertStatus::kOutOfMemory:
      break;
  }
  return AccessStatus::kOutOfMemory;
}

}  // namespace

UnloggedWriter::UnloggedWriter(Database& database)
    : database_(database),
      slots_(database.table_count()),
      new_rows_(database.table_count(), nullptr),
      hints_(database.catalog().indexes().size()),
      seen_(database.catalog().indexes().size()) {}

UnloggedWriter::~UnloggedWriter() {
  (void)insert_waiting();
  for (uint32_t i = 0; i < slots_.size(); ++i) {
    if (Row* row = new_rows_[i]; row != nullptr) {
      // Somebody may have written into the image what it does not own.
      const RowLayout& layout = database_.table(TableId{i}).layout();
      for (const ColumnId column : layout.long_columns()) TextCell::clear(layout.cell(row->image(), column));
      free_slot(TableId{i}, row);
    }
    database_.table(TableId{i}).rows().give_back(slots_[i]);
  }
}

void UnloggedWriter::free_slot(TableId id, Row* row) {
  row->set_word(RowWord());
  database_.table(id).rows().free(slots_[id.value], row);
}

Row* UnloggedWriter::find(IndexId id, const IndexKey& key) {
  show_waiting(id);
  load(id, key, key);
  const TableIndex& index = database_.index(id);
  DCHECK(index.is_unique && key.word_count == index.codec->word_count());
  if (index.is_primary) {
    Row* row = index.index->find(key.words.data(), seen_[id.value]);
    return row != nullptr && row->word().is_live() ? row : nullptr;
  }
  Row* found = nullptr;
  scan(id, {key, key}, RowAccess::Direction::kForward, [&](Row* row) {
    found = row;
    return false;
  });
  return found;
}

void UnloggedWriter::scan(IndexId id, const KeyRange& range, RowAccess::Direction direction,
                          FunctionRef<bool(Row*)> visit, const AheadLookup* ahead) {
  show_waiting(id);
  load(id, range.low, range.high);
  const TableIndex& index = database_.index(id);
  if (scans_under_way_ == scans_.size()) scans_.push_back(std::make_unique<Scan>());
  Scan& scan = *scans_[scans_under_way_];
  std::optional<IndexCursor>& cursor = scan.cursor;
  if (!scan.shows(id, range, direction)) {
    const KeyRange entries = database_.table_of(id).entry_range(index, range.low, range.high);
    cursor.emplace(
        entries.low.span(), entries.high.span(),
        direction == RowAccess::Direction::kForward ? ScanDirection::kForward : ScanDirection::kBackward);
    cursor->wants_keys = false;
    if (ahead != nullptr && compare_words(ahead->key, cursor->low.data(), cursor->key_words) == 0)
      cursor->ahead = ahead;
    CHECK(index.index->next(*cursor));
    scan.index = id;
    scan.range = range;
    scan.direction = direction;
    scan.is_whole = cursor->done;
  }
  ++scans_under_way_;
  bool go_on = true;
  do {
    seen_[id.value] = cursor->node;
    for (uint32_t i = 0; i < cursor->count && go_on; ++i) {
      if (i + 1 < cursor->count) prefetch_line(cursor->rows[i + 1]);
      if (cursor->rows[i]->word().is_live()) go_on = visit(cursor->rows[i]);
    }
  } while (go_on && index.index->next(*cursor));
  --scans_under_way_;
}

bool UnloggedWriter::Scan::shows(IndexId other, const KeyRange& others, RowAccess::Direction way) const {
  return is_whole && index == other && direction == way && range.low == others.low &&
         range.high == others.high && cursor->node.is_current();
}

AccessStatus UnloggedWriter::insert(TableId id, std::span<const Value> values, Row** inserted) {
  const RowLayout& layout = database_.table(id).layout();
  std::byte* image = new_image(id);
  for (uint32_t i = 0; i < values.size(); ++i) layout.set(image, ColumnId{i}, values[i]);
  return insert_image(id, image, inserted);
}

std::byte* UnloggedWriter::new_image(TableId id) {
  Table& rows = database_.table(id).rows();
  Row*& row = new_rows_[id.value];
  if (row == nullptr) row = rows.allocate(slots_[id.value]);
  const size_t bytes = database_.table(id).layout().image_bytes();
  if (row == nullptr) {
    // The insert will find that no memory is left.
    new_image_.assign(bytes, std::byte{0});
    return new_image_.data();
  }
  std::memset(row->image(), 0, bytes);
  return row->image();
}

Row* UnloggedWriter::take_new_row(TableId id, const std::byte* image) {
  IndexedTable& table = database_.table(id);
  Row* row = std::exchange(new_rows_[id.value], nullptr);
  if (row == nullptr) row = table.rows().allocate(slots_[id.value]);
  if (row == nullptr) return nullptr;
  if (image != row->image()) std::memcpy(row->image(), image, table.layout().image_bytes());
  if (!table.layout().own_texts(row->image())) {
    free_slot(id, row);
    return nullptr;
  }
  for (const TableIndex& index : table.indexes()) load_equals(index, row->image());
  row->set_word(RowWord::live(kCheckpointLsn));
  return row;
}

AccessStatus UnloggedWriter::insert_image(TableId id, const std::byte* image, Row** inserted) {
  Row* const row = take_new_row(id, image);
  if (row == nullptr) return AccessStatus::kOutOfMemory;
  const AccessStatus status = link(database_.table(id), row);
  if (status != AccessStatus::kOk) {
    free_slot(id, row);
  } else if (inserted != nullptr) {
    *inserted = row;
  }
  return status;
}

AccessStatus UnloggedWriter::insert_later(TableId id, const std::byte* image) {
  IndexedTable& table = database_.table(id);
  const std::vector<TableIndex>& indexes = table.indexes();
  if (indexes.size() != 1) return insert_image(id, image);
  const TableIndex& primary = indexes[0];
  if (waiting_count_ > 0 && !can_wait(id, primary.id)) link_waiting();
  if (!can_wait(id, primary.id)) return insert_image(id, image);
  Row* const row = take_new_row(id, image);
  if (row == nullptr) return AccessStatus::kOutOfMemory;
  std::array<uint64_t, kUsualKeyWords>& key = waiting_keys_[waiting_count_];
  if (!primary.codec->put_row(row->image(), key.data()))
    std::ranges::copy(table.entry_key(primary, row->image(), row).span(), key.begin());
  waiting_for_ = primary.id;
  waiting_[waiting_count_++] = row;
  return waiting_status_;
}

// Neighbours, whose keys differ in the last word alone, share a hint and go in at once. A row that can't be
// inserted takes the neighbours behind it along.
void UnloggedWriter::link_waiting() {
  IndexedTable& table = database_.table_of(waiting_for_);
  const TableIndex& index = table.indexes()[0];
  const size_t words = index.codec->word_count();
  std::array<IndexEntry, kMostWaiting> entries;
  const size_t count = std::exchange(waiting_count_, 0);
  for (size_t i = 0; i < count; ++i) entries[i] = {waiting_keys_[i].data(), waiting_[i]};
  const auto are_neighbours = [&](size_t i) {
    uint64_t difference = 0;
    for (size_t w = 0; w + 1 < words; ++w) difference |= waiting_keys_[i - 1][w] ^ waiting_keys_[i][w];
    return difference == 0;
  };
  InsertHints& hints = hints_[index.id.value];
  for (size_t begin = 0; begin < count;) {
    InsertHint& hint = hints.of(entries[begin].key, words);
    size_t end = begin + 1;
    while (end < count && are_neighbours(end)) ++end;
    const std::span<const IndexEntry> neighbours(entries.data() + begin, end - begin);
    size_t done = 0;
    Row* existing = nullptr;
    const AccessStatus status = access_status(index.index->insert_run(neighbours, hint, done, existing));
    for (const IndexEntry& each : neighbours.subspan(done)) free_slot(table.definition().id, each.row);
    if (waiting_status_ == AccessStatus::kOk) waiting_status_ = status;
    begin = end;
  }
}

// Into all indexes, or none.
AccessStatus UnloggedWriter::link(IndexedTable& table, Row* row) {
  const std::vector<TableIndex>& indexes = table.indexes();
  for (size_t i = 0; i < indexes.size(); ++i) {
    const AccessStatus status = link(table, indexes[i], row);
    if (status == AccessStatus::kOk) continue;
    while (i-- > 0) indexes[i].index->erase(table.entry_key(indexes[i], row->image(), row).words.data(), row);
    return status;
  }
  return AccessStatus::kOk;
}

AccessStatus UnloggedWriter::link(IndexedTable& table, const TableIndex& index, Row* row) {
  if (index.has_whole_key_suffix && !index.codec->has_null(row->image())) {
    if (find(index.id, index.codec->of_row(row->image(), 0)) != nullptr) return AccessStatus::kDuplicateKey;
  }
  if (!index.index->keeps_entries()) return AccessStatus::kOk;
  Row* existing = nullptr;
  const IndexKey key = table.entry_key(index, row->image(), row);
  InsertHint& hint = hints_[index.id.value].of(key.words.data(), key.word_count);
  return access_status(index.index->insert(key.words.data(), row, existing, nullptr, &hint));
}

AccessStatus UnloggedWriter::update(TableId id, Row* row, std::span<const ColumnValue> changes) {
  IndexedTable& table = database_.table(id);
  const RowLayout& layout = table.layout();
  size_t strings = 0;
  for (const ColumnValue& change : changes) {
    if (table.is_indexed(change.column)) return update_keys(table, row, changes);
    const TypeKind kind = layout.place(change.column).kind;
    strings += kind == TypeKind::kChar || kind == TypeKind::kVarchar ? 1 : 0;
  }
  if (strings <= 1) {
    for (const ColumnValue& change : changes) {
      if (!layout.set_in_row(row->image(), change.column, change.value)) return AccessStatus::kOutOfMemory;
    }
    return AccessStatus::kOk;
  }
  // One string may be another's new value, so all are put aside before any is written. (Not the whole image:
  // another thread may be writing other columns of the row.)
  scratch_.reset();
  const std::span<Value> values = scratch_.make_array<Value>(changes.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    const TypeKind kind = layout.place(changes[i].column).kind;
    const bool is_string = kind == TypeKind::kChar || kind == TypeKind::kVarchar;
    values[i] = is_string && !changes[i].value.is_null()
                    ? Value::of_text(scratch_.copy(changes[i].value.as_text()))
                    : changes[i].value;
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (!layout.set_in_row(row->image(), changes[i].column, values[i])) return AccessStatus::kOutOfMemory;
  }
  return AccessStatus::kOk;
}

AccessStatus UnloggedWriter::update_keys(IndexedTable& table, Row* row,
                                         std::span<const ColumnValue> changes) {
  const RowLayout& layout = table.layout();
  const size_t bytes = layout.image_bytes();
  const std::vector<std::byte> old_image(row->image(), row->image() + bytes);
  new_image_ = old_image;
  for (const ColumnValue& change : changes) layout.set(new_image_.data(), change.column, change.value);
  const auto set_image = [&](const std::vector<std::byte>& image) {
    std::memcpy(row->image(), image.data(), bytes);
  };

  // Its own entries must not look like somebody else's: all that change go out before any new one comes in.
  std::vector<const TableIndex*> changed;
  for (const TableIndex& index : table.indexes()) {
    const IndexKey old_key = table.entry_key(index, old_image.data(), row);
    if (old_key == table.entry_key(index, new_image_.data(), row)) continue;
    index.index->erase(old_key.words.data(), row);
    changed.push_back(&index);
  }
  for (const TableIndex* index : changed) load_equals(*index, new_image_.data());
  set_image(new_image_);
  for (size_t i = 0; i < changed.size(); ++i) {
    const AccessStatus status = link(table, *changed[i], row);
    if (status == AccessStatus::kOk) continue;
    for (size_t j = 0; j < i; ++j) {
      changed[j]->index->erase(table.entry_key(*changed[j], new_image_.data(), row).words.data(), row);
    }
    set_image(old_image);
    for (const TableIndex* index : changed) CHECK(link(table, *index, row) == AccessStatus::kOk);
    return status;
  }
  if (layout.long_columns().empty()) [[likely]]
    return AccessStatus::kOk;
  // The row borrows its new texts, and still owns the former ones.
  set_image(old_image);
  return layout.copy_to_row(new_image_.data(), row->image()) ? AccessStatus::kOk : AccessStatus::kOutOfMemory;
}

void UnloggedWriter::erase(TableId id, Row* row) {
  IndexedTable& table = database_.table(id);
  for (const TableIndex& index : table.indexes()) {
    if (!index.index->keeps_entries()) continue;
    index.index->erase(table.entry_key(index, row->image(), row).words.data(), row, seen_[index.id.value]);
  }
  free_slot(id, row);
}

}  // namespace mneme
