#include "engine/transaction.h"

#include <algorithm>
#include <cstring>

namespace mneme {

namespace {

// Rows stay locked for about a microsecond each; whoever waits longer runs something else, or again, instead.
constexpr uint32_t kMaxLockTries = 300;
// A scan asks for a row's lines this many rows before it reads them: more would be in vain where it soon ends.
constexpr uint32_t kRowsAhead = 4;
// Losing a race for one key that often means heavy contention.
constexpr uint32_t kMaxInsertTries = 16;

}  // namespace

void Transaction::begin() {
  CHECK(!running_);
  worker_.tidy(database_.log());
  worker_.epochs_.enter(worker_.id());
  running_ = true;
}

void Transaction::end() {
  worker_.epochs_.leave(worker_.id());
  worker_.reads_.clear();
  worker_.writes_.clear();
  worker_.created_.clear();
  worker_.nodes_.clear();
  worker_.write_of_row_.clear();
  worker_.node_of_word_.clear();
  worker_.arena_.reset();
  highest_taken_over_ = Lsn{};
  running_ = false;
}

// ---- reading ----

WriteEntry* Transaction::own_write(const Row* row) {
  const uint32_t index = worker_.write_of_row_.find(row);
  return index == PointerMap::kNone ? nullptr : &worker_.writes_[index];
}

AccessStatus Transaction::visit(IndexedTable& table, Row* row, ImageParts parts, RowRef& ref) {
  parts = parts & table.image_parts();
  if (WriteEntry* write = own_write(row); write != nullptr) {
    if (write->is_erased) return AccessStatus::kAbsent;
    if (!complete(*write, parts)) return conflict(ConflictCause::kRead);
    auto* copy = new (worker_.arena_.allocate(sizeof(Copy))) Copy{row, write->expected, parts};
    ref = {write->image, copy};
    return AccessStatus::kOk;
  }
  auto* copy =
      new (worker_.arena_.allocate(sizeof(Copy) + table.rows().image_bytes())) Copy{row, RowWord(), parts};
  const RowWord word = row->read(copy->image(), parts, table.rows().image_words());
  if (word.is_locked()) return conflict(ConflictCause::kRead);
  copy->version = word.version();
  worker_.reads_.push_back({row, copy->version});
  if (!word.is_live()) return AccessStatus::kAbsent;
  ref = {copy->image(), copy};
  return AccessStatus::kOk;
}

bool Transaction::complete(WriteEntry& write, ImageParts parts) {
  const ImageParts missing = parts.without(write.parts);
  if (missing.is_empty()) return true;
  const RowWord word = write.row->read(write.image, missing, write.table->rows().image_words());
  if (word.is_locked() || word.version() != write.expected) return false;
  write.parts |= missing;
  return true;
}

bool Transaction::watch(const NodeVersion& node) {
  const uint32_t index = worker_.node_of_word_.find(node.node);
  if (index != PointerMap::kNone) return worker_.nodes_[index].version == node.version;
  worker_.node_of_word_.insert(node.node, static_cast<uint32_t>(worker_.nodes_.size()));
  worker_.nodes_.push_back(node);
  return true;
}

// Our own inserts are no phantoms to us: where we watched a node as it was before, we watch it as it is
// after. Had somebody else changed it in between, `before` would differ, and validation fail.
void Transaction::apply_own_changes() {
  for (const NodeChange& change : worker_.changes_) {
    const NodeWord* watched = change.split_from != nullptr ? change.split_from : change.node;
    const uint32_t index = worker_.node_of_word_.find(watched);
    if (index == PointerMap::kNone || worker_.nodes_[index].version != change.before) continue;
    if (change.split_from == nullptr) {
      worker_.nodes_[index].version = change.after;
    } else {
      watch({change.node, change.after});
    }
  }
  worker_.changes_.clear();
}

AccessStatus Transaction::find_parts(IndexId id, const IndexKey& key, ImageParts parts, RowRef& ref) {
  DCHECK(running_);
  const TableIndex& index = database_.index(id);
  IndexedTable& table = database_.table_of(id);
  DCHECK(index.is_unique && key.word_count == index.codec->word_count());
  if (!index.is_primary) return find_by_entries(index, key, parts, ref);

  NodeVersion node;
  Row* row = index.index->find(key.words.data(), node);
  const AccessStatus status = row == nullptr ? AccessStatus::kAbsent : visit(table, row, parts, ref);
  if (status == AccessStatus::kAbsent && !watch(node)) return conflict(ConflictCause::kNodeValidation);
  return status;
}

AccessStatus Transaction::find_by_entries(const TableIndex& index, const IndexKey& key, ImageParts parts,
                                          RowRef& ref) {
  RowRef found;
  const AccessStatus status =
      scan_parts(index.id, {key, key}, Direction::kForward, parts, [&](const RowRef& row) {
        found = row;
        return false;
      });
  if (status != AccessStatus::kOk) return status;
  if (found.image == nullptr) return AccessStatus::kAbsent;
  ref = found;
  return AccessStatus::kOk;
}

AccessStatus Transaction::scan_parts(IndexId id, const KeyRange& range, Direction direction, ImageParts parts,
                                     FunctionRef<bool(const RowRef&)> visit_row) {
  DCHECK(running_);
  const TableIndex& index = database_.index(id);
  IndexedTable& table = database_.table_of(id);
  if (!index.is_primary) parts |= index.key_parts;
  const KeyRange entries = table.entry_range(index, range.low, range.high);
  IndexCursor cursor(entries.low.span(), entries.high.span(),
                     direction == Direction::kForward ? ScanDirection::kForward : ScanDirection::kBackward);
  while (index.index->next(cursor)) {
    if (!watch(cursor.node)) return conflict(ConflictCause::kNodeValidation);
    const auto ask_for = [&](uint32_t i) {
      if (i < cursor.count) prefetch_row(table.rows(), cursor.rows[i], parts);
    };
    for (uint32_t i = 0; i < kRowsAhead; ++i) ask_for(i);
    for (uint32_t i = 0; i < cursor.count; ++i) {
      ask_for(i + kRowsAhead);
      RowRef row;
      const AccessStatus status = visit(table, cursor.rows[i], parts, row);
      if (status == AccessStatus::kAbsent) continue;
      if (status != AccessStatus::kOk) return status;
      if (!index.is_primary) {
        const IndexKey key = table.entry_key(index, row.image, cursor.rows[i]);
        if (compare_words(key.words.data(), cursor.key(i), key.word_count) != 0) continue;
      }
      if (!visit_row(row)) return AccessStatus::kOk;
    }
  }
  return AccessStatus::kOk;
}

void Transaction::prefetch(std::span<const RowLookup> lookups) {
  Prefetcher& prefetcher = worker_.prefetcher_;
  while (!lookups.empty()) {
    const size_t group = std::min(lookups.size(), Prefetcher::kMaxLookups);
    prefetcher.start(database_, lookups.first(group));
    while (!prefetcher.done()) prefetcher.step();
    lookups = lookups.subspan(group);
  }
}

// ---- writing ----

WriteEntry& Transaction::add_write(IndexedTable& table, Row* row, RowWord expected, std::byte* image,
                                   ImageParts parts) {
  worker_.write_of_row_.insert(row, static_cast<uint32_t>(worker_.writes_.size()));
  worker_.writes_.push_back({row, &table, expected, image, parts, ImageParts(), false, false, false});
  return worker_.writes_.back();
}

WriteEntry* Transaction::write_of(IndexedTable& table, const RowRef& ref, ImageParts parts) {
  auto* copy = static_cast<Copy*>(ref.handle);
  WriteEntry* write = own_write(copy->row);
  if (write == nullptr) {
    // The copy that was read becomes the new image.
    write = &add_write(table, copy->row, copy->version, const_cast<std::byte*>(ref.image), copy->parts);
  }
  CHECK(!write->is_erased);
  return complete(*write, copy->parts | (parts & table.image_parts())) ? write : nullptr;
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
  Row* row = nullptr;
  return insert_image(table, image, row);
}

std::byte* Transaction::new_image(TableId id) {
  const size_t bytes = database_.table(id).layout().image_bytes();
  auto* image = static_cast<std::byte*>(worker_.arena_.allocate(bytes));
  // Padding and stale tails mean nothing, but bytes of another table's rows have no business in this one's.
  std::memset(image, 0, bytes);
  return image;
}

AccessStatus Transaction::insert_image(TableId id, std::byte* image) {
  DCHECK(running_);
  Row* row = nullptr;
  return insert_image(database_.table(id), image, row);
}

AccessStatus Transaction::insert_image(IndexedTable& table, std::byte* image, Row*& row) {
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
    if (!write->is_erased) return AccessStatus::kDuplicateKey;
    if (!claim(*write)) return conflict(ConflictCause::kClaim);
    write->is_erased = false;
    write->image = image;
    write->parts = write->dirty = table.image_parts();
    return AccessStatus::kOk;
  }
  const RowWord word = row->read(nullptr, ImageParts(), 0);
  if (word.is_locked()) return conflict(ConflictCause::kClaim);
  if (word.is_live()) {
    worker_.reads_.push_back({row, word.version()});
    return AccessStatus::kDuplicateKey;
  }
  // A free row is on its way out of the index; a claimed one is somebody else's.
  if (word.is_free() || word.is_claimed() || !row->try_change(word, word.claimed()))
    return conflict(ConflictCause::kClaim);
  highest_taken_over_ = std::max(highest_taken_over_, word.lsn());
  write = &add_write(table, row, word, image, table.image_parts());
  write->dirty = table.image_parts();
  write->is_claimed = true;
  return AccessStatus::kOk;
}

// Where a row stands under the primary key already, that is `existing` and nothing happened.
AccessStatus Transaction::link_new_row(IndexedTable& table, std::byte* image, Row*& existing,
                                       WriteEntry*& write) {
  Row* row = table.rows().allocate(worker_.slots(table));
  if (row == nullptr) return AccessStatus::kOutOfMemory;
  if (table.primary() != nullptr) {
    const TableIndex& primary = *table.primary();
    const IndexKey key = table.entry_key(primary, image, row);
    const Index::InsertStatus status =
        primary.index->insert(key.words.data(), row, existing, &worker_.changes_, &worker_.hint(primary));
    apply_own_changes();
    if (status != Index::InsertStatus::kInserted) {
      row->set_word(RowWord());
      table.rows().free(worker_.slots(table), row);
      return status == Index::InsertStatus::kExists ? AccessStatus::kDuplicateKey
                                                    : AccessStatus::kOutOfMemory;
    }
    worker_.created_.push_back({&primary, &table, row, key});
  }
  write = &add_write(table, row, RowWord::incoming().unclaimed(), image, table.image_parts());
  write->dirty = table.image_parts();
  write->is_claimed = true;
  write->is_fresh = true;
  return AccessStatus::kOk;
}

AccessStatus Transaction::add_entries(Row* row, IndexedTable& table, const std::byte* image,
                                      const std::byte* old_image) {
  for (const TableIndex& index : table.indexes()) {
    if (index.is_primary) continue;
    const IndexKey key = table.entry_key(index, image, row);
    if (old_image != nullptr && key == table.entry_key(index, old_image, row)) continue;
    if (index.has_whole_key_suffix) {
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
  const AccessStatus status =
      scan_parts(index.id, {key, key}, Direction::kForward, ImageParts(), [&](const RowRef& other) {
        if (static_cast<Copy*>(other.handle)->row == row) return true;
        found = AccessStatus::kDuplicateKey;
        return false;
      });
  return status == AccessStatus::kOk ? found : status;
}

AccessStatus Transaction::add_entry(Row* row, IndexedTable& table, const TableIndex& index,
                                    const IndexKey& key) {
  for (uint32_t tries = 0; tries < kMaxInsertTries; ++tries) {
    Row* existing = nullptr;
    const Index::InsertStatus status =
        index.index->insert(key.words.data(), row, existing, &worker_.changes_, &worker_.hint(index));
    apply_own_changes();
    if (status == Index::InsertStatus::kOutOfMemory) return AccessStatus::kOutOfMemory;
    if (status == Index::InsertStatus::kInserted) {
      worker_.created_.push_back({&index, &table, row, key});
      return AccessStatus::kOk;
    }
    // A stale entry of our own row becomes valid; whoever means to remove it finds the row claimed, and looks
    // again.
    if (existing == row) return AccessStatus::kOk;
    // The key names a primary key, which is ours: this is an entry that an earlier, freed row left behind.
    const bool replaced = index.index->replace(key.words.data(), existing, row, &worker_.changes_);
    apply_own_changes();
    if (replaced) {
      worker_.created_.push_back({&index, &table, row, key});
      return AccessStatus::kOk;
    }
  }
  return conflict(ConflictCause::kClaim);
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
  // A changed key may need any column: another index's key, or a whole new row.
  WriteEntry* write = write_of(table, ref, keys_change ? table.image_parts() : changed);
  if (write == nullptr) return conflict(ConflictCause::kRead);

  std::byte* image = write->image;
  if (!in_place || keys_change) {
    image = static_cast<std::byte*>(worker_.arena_.allocate(layout.image_bytes()));
    write->parts.for_each_run(table.rows().image_words(), [&](size_t begin, size_t end) {
      std::memcpy(image + 8 * begin, write->image + 8 * begin, 8 * (end - begin));
    });
  }
  for (const ColumnValue& change : changes) layout.set(image, change.column, change.value);
  write->dirty |= changed;
  if (keys_change) return update_keys(table, *write, image, ref);
  write->image = image;
  ref.image = image;
  return AccessStatus::kOk;
}

AccessStatus Transaction::change_parts(TableId id, RowRef& ref, ImageParts changed, std::byte*& image) {
  DCHECK(running_);
  IndexedTable& table = database_.table(id);
  WriteEntry* write = write_of(table, ref, changed);
  if (write == nullptr) return conflict(ConflictCause::kRead);
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
  return status == AccessStatus::kOk ? visit(table, row, ImageParts::all(), ref) : status;
}

AccessStatus Transaction::erase(TableId id, RowRef& ref) {
  DCHECK(running_);
  WriteEntry* write = write_of(database_.table(id), ref, ImageParts());
  if (write == nullptr) return conflict(ConflictCause::kRead);
  write->is_erased = true;
  return AccessStatus::kOk;
}

// ---- ending ----

CommitOutcome Transaction::commit(ByteSpan log_payload) {
  CHECK(running_);
  if (worker_.writes_.empty()) {
    const CommitOutcome outcome{validate(false) ? CommitStatus::kCommitted : CommitStatus::kConflict,
                                highest_read(), false};
    end();
    return outcome;
  }
  CommitLog& log = database_.log();
  const auto payload_bytes = static_cast<uint32_t>(log_payload.size());
  if (!log.await_space(worker_.id(), payload_bytes)) {
    abort();
    return {CommitStatus::kLogFailed, Lsn{}, false};
  }
  if (!lock_writes()) {
    abort();
    return {CommitStatus::kConflict, Lsn{}, false};
  }
  const Lsn lsn = log.reserve(worker_.id(), payload_bytes);
  if (!validate(true)) {
    unlock_writes();
    log.fill(worker_.id(), lsn, RecordKind::kSkip, log_payload);
    abort();
    return {CommitStatus::kConflict, Lsn{}, false};
  }
  install(lsn);
  log.fill(worker_.id(), lsn, RecordKind::kCommand, log_payload);
  end();
  return {CommitStatus::kCommitted, lsn, true};
}

CommitOutcome Transaction::roll_back() {
  CHECK(running_);
  // Before our own entries are taken out, which changes the nodes that we watch.
  const CommitOutcome outcome{validate(false) ? CommitStatus::kCommitted : CommitStatus::kConflict,
                              highest_read(), false};
  abort();
  return outcome;
}

void Transaction::abort() {
  if (!running_) return;
  undo();
  end();
}

Lsn Transaction::highest_read() const {
  Lsn highest = highest_taken_over_;
  for (const ReadEntry& read : worker_.reads_) highest = std::max(highest, read.version.lsn());
  return highest;
}

// In order of address, so that two transactions don't wait for each other. Nobody else locks a row that we have
// claimed, so those need neither order nor waiting.
bool Transaction::lock_writes() {
  std::vector<LockEntry>& order = worker_.lock_order_;
  order.clear();
  for (const WriteEntry& write : worker_.writes_) {
    if (!write.is_claimed) order.push_back({write.row, write.expected});
  }
  std::ranges::sort(order, {}, &LockEntry::row);
  for (size_t locked = 0; locked < order.size(); ++locked) {
    const auto& [row, expected] = order[locked];
    for (uint32_t tries = 0; !row->try_change(expected, expected.locked()); spin_pause(tries++)) {
      if (row->word().version() == expected && tries < kMaxLockTries) continue;
      while (locked-- > 0) order[locked].row->set_word(order[locked].expected);
      worker_.count(ConflictCause::kLock);
      return false;
    }
  }
  for (const WriteEntry& write : worker_.writes_) {
    if (write.is_claimed) write.row->set_word(write.expected.claimed().locked());
  }
  return true;
}

// Claims stay.
void Transaction::unlock_writes() {
  for (const WriteEntry& write : worker_.writes_)
    write.row->set_word(write.is_claimed ? write.expected.claimed() : write.expected);
}

bool Transaction::validate(bool locked) {
  for (const ReadEntry& read : worker_.reads_) {
    const RowWord word = read.row->word();
    const bool is_stable = !word.is_locked() || (locked && own_write(read.row) != nullptr);
    if (word.version() == read.version && is_stable) continue;
    worker_.count(ConflictCause::kRowValidation);
    return false;
  }
  if (std::ranges::all_of(worker_.nodes_, &NodeVersion::is_current)) return true;
  worker_.count(ConflictCause::kNodeValidation);
  return false;
}

void Transaction::install(Lsn lsn) {
  // While rows are locked only pointers to them are of use to others: first what needs the old images.
  for (const WriteEntry& write : worker_.writes_) {
    if (write.is_claimed) note_stale_entries(write, lsn);
  }
  for (const WriteEntry& write : worker_.writes_) {
    // A tombstone keeps an image under which all its entries are found: those of a claimed row are its new one's.
    if (write.is_claimed || !write.is_erased)
      write.row->write(write.image, write.dirty, write.table->rows().image_words());
    write.row->set_word(write.is_erased ? RowWord::tombstone(lsn) : RowWord::live(lsn));
    if (write.is_erased) worker_.tombstones_.push({lsn, write.table, write.row});
  }
  // Entries that a later change of this same transaction left behind.
  for (const CreatedEntry& created : worker_.created_) {
    if (created.index->is_primary) continue;
    const WriteEntry& write = *own_write(created.row);
    if (created.table->entry_key(*created.index, write.image, created.row) == created.key) continue;
    worker_.stale_.push({lsn, created.table, created.row, created.index, created.key});
  }
}

// The entries of the row's old image, a tombstone's too, that those of the new one don't replace.
void Transaction::note_stale_entries(const WriteEntry& write, Lsn lsn) {
  if (write.is_fresh) return;
  for (const TableIndex& index : write.table->indexes()) {
    if (index.is_primary) continue;
    const IndexKey old_key = write.table->entry_key(index, write.row->image(), write.row);
    if (old_key == write.table->entry_key(index, write.image, write.row)) continue;
    worker_.stale_.push({lsn, write.table, write.row, &index, old_key});
  }
}

void Transaction::undo() {
  // Backwards: a new row's entry under its primary key goes last, so that nobody inserts that key with
  // another row while other entries of this one stand.
  for (size_t i = worker_.created_.size(); i-- > 0;) {
    const CreatedEntry& created = worker_.created_[i];
    created.index->index->erase(created.key.words.data(), created.row);
  }
  for (const WriteEntry& write : worker_.writes_) {
    if (!write.is_claimed) continue;
    write.row->set_word(write.is_fresh ? RowWord() : write.expected);
    if (write.is_fresh) worker_.retire(*write.table, write.row);
  }
}

}  // namespace mneme
