// Transaction: inserts, updates and erasures, in the write set and in the indexes. Nothing of them counts
// before commit().
#include <algorithm>
#include <cstring>

#include "engine/transaction/transaction.h"

namespace mneme {

namespace {

// Losing a race for one key that often means heavy contention.
constexpr uint32_t kMaxInsertTries = 16;

}  // namespace

WriteEntry& Transaction::add_write(IndexedTable& table, Row* row, RowWord expected, std::byte* image,
                                   ImageParts parts) {
  scratch_.write_of_row.insert(row, static_cast<uint32_t>(scratch_.writes.size()));
  scratch_.writes.push_back({row, &table, expected, image, parts, ImageParts(), false, false, false});
  return scratch_.writes.back();
}

WriteEntry* Transaction::write_of(IndexedTable& table, const RowRef& ref, ImageParts parts) {
  auto* copy = static_cast<Copy*>(ref.handle);
  WriteEntry* write = own_write(copy->row);
  if (write == nullptr) {
    if (!lock(copy->row, LockMode::kExclusive)) return nullptr;
    // The copy that was read becomes the new image.
    write = &add_write(table, copy->row, copy->version, const_cast<std::byte*>(ref.image), copy->parts);
  }
  CHECK(!write->is_erased);
  if (complete(*write, copy->parts | (parts & table.image_parts()))) return write;
  worker_.count(ConflictCause::kRead);
  return nullptr;
}

bool Transaction::claim(WriteEntry& write) {
  if (!write.is_claimed) write.is_claimed = write.row->try_change(write.expected, write.expected.claimed());
  return write.is_claimed;
}

AccessStatus Transaction::insert(TableId id, std::span<const Value> values) {
  DCHECK(running_);
  IndexedTable& table = database_.table(id);
  const RowLayout& layout = table.layout();
  DCHECK(values.size() == layout.column_count());
  std::byte* image = new_image(id);
  for (uint32_t i = 0; i < values.size(); ++i) layout.set(image, ColumnId{i}, values[i]);
  return insert_image(id, image);
}

std::byte* Transaction::new_image(TableId id) {
  const size_t bytes = database_.table(id).layout().image_bytes();
  auto* image = static_cast<std::byte*>(scratch_.arena.allocate(bytes));
  // Padding and stale tails mean nothing, but bytes of another table's rows have no business in this one's.
  std::memset(image, 0, bytes);
  return image;
}

AccessStatus Transaction::insert_image(TableId id, std::byte* image) {
  DCHECK(running_);
  if (gate_ != nullptr && !gate_->before_insert(worker_.id(), id, image)) [[unlikely]]
    return conflict(ConflictCause::kRead);
  Row* row = nullptr;
  return insert_image(database_.table(id), image, row);
}

AccessStatus Transaction::insert_image(IndexedTable& table, std::byte* image, Row*& row) {
  for (const ColumnId column : table.layout().long_columns()) {
    if (!scratch_.own_text(table.layout(), image, column)) return AccessStatus::kOutOfMemory;
  }
  WriteEntry* write = nullptr;
  Row* existing = nullptr;
  AccessStatus status = table.primary() != nullptr ? claim_key(table, image, write)
                                                   : link_new_row(table, image, existing, write);
  if (status != AccessStatus::kOk) return status;
  row = write->row;
  return add_entries(row, table, image, nullptr);
}

// Makes the row of image's primary key ours: one that stands in the index but is not live, or a new one.
AccessStatus Transaction::claim_key(IndexedTable& table, std::byte* image, WriteEntry*& write) {
  Row* existing = nullptr;
  const AccessStatus status = link_new_row(table, image, existing, write);
  return existing != nullptr ? take_over(table, existing, image, write) : status;
}

AccessStatus Transaction::take_over(IndexedTable& table, Row* row, std::byte* image, WriteEntry*& write) {
  write = own_write(row);
  if (write != nullptr) {
    if (!write->is_erased) return refuse_key(*table.primary(), image);
    if (!claim(*write)) return conflict(ConflictCause::kClaim);
    write->is_erased = false;
    write->image = image;
    write->parts = write->dirty = table.image_parts();
    return AccessStatus::kOk;
  }
  if (!lock(row, LockMode::kExclusive)) return AccessStatus::kConflict;
  const RowWord word = row->read(nullptr, ImageParts(), 0);
  if (word.is_locked()) return conflict(ConflictCause::kClaim);
  if (word.is_live()) {
    note_read(row, word.version());
    return refuse_key(*table.primary(), image);
  }
  worker_.make_room();
  // A free row is on its way out of the index; a claimed one is somebody else's.
  if (word.is_free() || word.is_claimed() || !row->try_change(word, word.claimed()))
    return conflict(ConflictCause::kClaim);
  highest_seen_ = std::max(highest_seen_, word.lsn());
  write = &add_write(table, row, word, image, table.image_parts());
  write->dirty = table.image_parts();
  write->is_claimed = true;
  return AccessStatus::kOk;
}

// Where a row stands under the primary key already, that is `existing` and nothing happened.
AccessStatus Transaction::link_new_row(IndexedTable& table, std::byte* image, Row*& existing,
                                       WriteEntry*& write) {
  worker_.make_room();
  Row* row = table.rows().allocate(worker_.slots(table));
  if (row == nullptr) return AccessStatus::kOutOfMemory;
  // Before any transaction can find it. It cannot fail: every transaction that knew the slot's former row has
  // ended.
  CHECK(lock(row, LockMode::kExclusive));
  if (table.primary() != nullptr) {
    const TableIndex& primary = *table.primary();
    const IndexKey key = table.entry_key(primary, image, row);
    const Index::InsertStatus status =
        primary.index->insert(key.words.data(), row, existing, &scratch_.changes, &worker_.hint(primary));
    if (status != Index::InsertStatus::kInserted) {
      row->set_word(RowWord());
      table.rows().free(worker_.slots(table), row);
      apply_own_changes();
      return status == Index::InsertStatus::kExists ? refuse_key(primary, image) : AccessStatus::kOutOfMemory;
    }
    scratch_.add_created(primary, table, row, key);
  }
  write = &add_write(table, row, RowWord::incoming().unclaimed(), image, table.image_parts());
  write->dirty = table.image_parts();
  write->is_claimed = true;
  write->is_fresh = true;
  if (table.primary() != nullptr) apply_own_changes();
  return AccessStatus::kOk;
}

AccessStatus Transaction::add_entries(Row* row, IndexedTable& table, const std::byte* image,
                                      const std::byte* old_image) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    const IndexKey key = table.entry_key(index, image, row);
    if (old_image != nullptr && key == table.entry_key(index, old_image, row)) continue;
    if (index.has_whole_key_suffix && !index.codec->has_null(image)) {
      const AccessStatus status = check_unique(row, index, image);
      if (status != AccessStatus::kOk) return status;
    }
    const AccessStatus status = add_entry(row, table, index, key);
    if (status != AccessStatus::kOk) return status;
  }
  return AccessStatus::kOk;
}

// That no other row holds the key of `image` in a unique index. What it saw is watched, so it holds at the
// commit too.
AccessStatus Transaction::check_unique(const Row* row, const TableIndex& index, const std::byte* image) {
  const IndexKey key = index.codec->of_row(image, 0);
  AccessStatus found = AccessStatus::kOk;
  const AccessStatus status = scan_parts(index.id, {key, key}, Direction::kForward, ImageParts(),
                                         Purpose::kRead, [&](const RowRef& other) {
                                           if (static_cast<Copy*>(other.handle)->row == row) return true;
                                           found = refuse_key(index, image);
                                           return false;
                                         });
  return status == AccessStatus::kOk ? found : status;
}

AccessStatus Transaction::add_entry(Row* row, IndexedTable& table, const TableIndex& index,
                                    const IndexKey& key) {
  scratch_.make_room_for_entry();
  for (uint32_t tries = 0; tries < kMaxInsertTries; ++tries) {
    Row* existing = nullptr;
    const Index::InsertStatus status =
        index.index->insert(key.words.data(), row, existing, &scratch_.changes, &worker_.hint(index));
    if (status == Index::InsertStatus::kInserted) scratch_.add_created(index, table, row, key);
    apply_own_changes();
    if (status == Index::InsertStatus::kOutOfMemory) return AccessStatus::kOutOfMemory;
    if (status == Index::InsertStatus::kInserted) return AccessStatus::kOk;
    // A stale entry of our own row becomes valid; a worker that means to remove it finds the row claimed, and
    // looks again.
    if (existing == row) return AccessStatus::kOk;
    // The key names a primary key, which is ours: this is an entry that an earlier, freed row left behind.
    const bool replaced = index.index->replace(key.words.data(), existing, row, &scratch_.changes);
    if (replaced) scratch_.add_created(index, table, row, key);
    apply_own_changes();
    if (replaced) return AccessStatus::kOk;
  }
  return conflict(ConflictCause::kClaim);
}

bool Transaction::ask_gate(TableId table, std::span<const ColumnValue> changes, ImageParts parts,
                           bool keys_change) {
  if (keys_change) return gate_->before_move(worker_.id(), table);
  std::vector<ColumnId> columns;
  for (const ColumnValue& change : changes) columns.push_back(change.column);
  return gate_->before_change(worker_.id(), table, parts, columns);
}

AccessStatus Transaction::update(TableId id, RowRef& ref, std::span<const ColumnValue> changes) {
  DCHECK(running_);
  IndexedTable& table = database_.table(id);
  const RowLayout& layout = table.layout();
  ImageParts changed;
  bool in_place = true;
  bool keys_change = false;
  for (const ColumnValue& change : changes) {
    const TypeKind kind = layout.place(change.column).kind;
    // A string may lie in the very image that is about to change.
    if (changes.size() > 1 && (kind == TypeKind::kChar || kind == TypeKind::kVarchar)) in_place = false;
    keys_change |= table.is_indexed(change.column);
    changed |= layout.parts(change.column);
  }
  if (gate_ != nullptr && !ask_gate(id, changes, changed, keys_change)) [[unlikely]]
    return conflict(ConflictCause::kRead);
  // A changed key may need any column: another index's key, or a whole new row.
  WriteEntry* write = write_of(table, ref, keys_change ? table.image_parts() : changed);
  if (write == nullptr) return AccessStatus::kConflict;

  std::byte* image = write->image;
  if (!in_place || keys_change) {
    image = static_cast<std::byte*>(scratch_.arena.allocate(layout.image_bytes()));
    write->parts.for_each_run(table.rows().image_words(), [&](size_t begin, size_t end) {
      std::memcpy(image + 8 * begin, write->image + 8 * begin, 8 * (end - begin));
    });
  }
  for (const ColumnValue& change : changes) {
    layout.set(image, change.column, change.value);
    if (layout.place(change.column).is_long && !scratch_.own_text(layout, image, change.column))
      return AccessStatus::kOutOfMemory;
  }
  write->dirty |= changed;
  if (keys_change) return update_keys(table, *write, image, ref);
  write->image = image;
  ref.image = image;
  return AccessStatus::kOk;
}

AccessStatus Transaction::change_parts(TableId id, RowRef& ref, ImageParts changed, std::byte*& image) {
  DCHECK(running_);
  if (gate_ != nullptr && !gate_->before_change(worker_.id(), id, changed, {})) [[unlikely]]
    return conflict(ConflictCause::kRead);
  IndexedTable& table = database_.table(id);
  WriteEntry* write = write_of(table, ref, changed);
  if (write == nullptr) return AccessStatus::kConflict;
  write->dirty |= changed & table.image_parts();
  image = write->image;
  ref.image = image;
  return AccessStatus::kOk;
}

AccessStatus Transaction::update_keys(IndexedTable& table, WriteEntry& write, std::byte* image, RowRef& ref) {
  if (const TableIndex* primary = table.primary(); primary != nullptr) {
    if (table.entry_key(*primary, image, nullptr) != table.entry_key(*primary, write.image, nullptr)) {
      return move(table, write, image, ref);
    }
  }
  const auto changed = [&](const TableIndex& index) {
    return table.entry_key(index, image, write.row) != table.entry_key(index, write.image, write.row);
  };
  if (std::ranges::any_of(table.indexes(), changed)) {
    if (!claim(write)) return conflict(ConflictCause::kClaim);
    const AccessStatus status = add_entries(write.row, table, image, write.image);
    if (status != AccessStatus::kOk) return status;
  }
  write.image = image;
  ref.image = image;
  return AccessStatus::kOk;
}

// A row belongs to one primary key for ever: changing it deletes the row and inserts another.
AccessStatus Transaction::move(IndexedTable& table, WriteEntry& write, std::byte* image, RowRef& ref) {
  write.is_erased = true;
  Row* row = nullptr;
  const AccessStatus status = insert_image(table, image, row);
  return status == AccessStatus::kOk ? visit(table, row, ImageParts::all(), Purpose::kChange, ref) : status;
}

AccessStatus Transaction::erase(TableId id, RowRef& ref) {
  DCHECK(running_);
  if (gate_ != nullptr && !gate_->before_erase(worker_.id(), id)) [[unlikely]]
    return conflict(ConflictCause::kRead);
  WriteEntry* write = write_of(database_.table(id), ref, ImageParts());
  if (write == nullptr) return AccessStatus::kConflict;
  write->is_erased = true;
  return AccessStatus::kOk;
}

Transaction::Savepoint Transaction::savepoint() {
  CHECK(running_);
  Savepoint savepoint;
  for (const WriteEntry& write : scratch_.writes) {
    // The image changes in place.
    const size_t bytes = write.table->layout().image_bytes();
    auto* image = static_cast<std::byte*>(scratch_.arena.allocate(bytes));
    write.parts.for_each_run(write.table->rows().image_words(), [&](size_t begin, size_t end) {
      std::memcpy(image + 8 * begin, write.image + 8 * begin, 8 * (end - begin));
    });
    savepoint.writes.push_back({image, write.parts, write.dirty, write.is_erased});
  }
  return savepoint;
}

bool Transaction::roll_back_to(const Savepoint& savepoint) {
  CHECK(running_);
  for (size_t i = 0; i < scratch_.writes.size(); ++i) {
    WriteEntry& write = scratch_.writes[i];
    if (i < savepoint.writes.size()) {
      const Savepoint::Saved& saved = savepoint.writes[i];
      // A copy, as the savepoint may be gone back to again.
      auto* image = static_cast<std::byte*>(scratch_.arena.allocate(write.table->layout().image_bytes()));
      saved.parts.for_each_run(write.table->rows().image_words(), [&](size_t begin, size_t end) {
        std::memcpy(image + 8 * begin, saved.image + 8 * begin, 8 * (end - begin));
      });
      write.image = image;
      write.parts = saved.parts;
      write.dirty = saved.dirty;
      write.is_erased = saved.is_erased;
    } else if (write.expected.is_live()) {
      // Nothing of it is changed; it is read anew where it is asked for.
      write.image = static_cast<std::byte*>(scratch_.arena.allocate(write.table->layout().image_bytes()));
      write.parts = write.dirty = ImageParts();
      write.is_erased = false;
    } else {
      write.is_erased = true;
    }
    // The entries of a claimed row are compared with those of its image when it is installed.
    if (write.is_claimed && write.expected.is_live() && !complete(write, write.table->image_parts())) {
      worker_.count(ConflictCause::kRead);
      return false;
    }
  }
  return true;
}

namespace {

class SavepointMark final : public RowAccess::Mark {
 public:
  explicit SavepointMark(Transaction::Savepoint point) : point_(std::move(point)) {}
  const Transaction::Savepoint& point() const { return point_; }

 private:
  Transaction::Savepoint point_;
};

}  // namespace

std::unique_ptr<RowAccess::Mark> Transaction::mark() {
  return std::make_unique<SavepointMark>(savepoint());
}

bool Transaction::go_back_to(const Mark& mark) {
  return roll_back_to(static_cast<const SavepointMark&>(mark).point());
}

}  // namespace mneme
