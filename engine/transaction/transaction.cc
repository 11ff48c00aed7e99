// Transaction: its beginning, and what it reads.
#include "engine/transaction/transaction.h"

#include <algorithm>

namespace mneme {

namespace {

// A scan asks for a row's lines this many rows before it reads them: more would be in vain where it soon
// ends.
constexpr uint32_t kRowsAhead = 12;

}  // namespace

void Transaction::begin() {
  locks_ = worker_.row_locks();
  if (locks_ != nullptr) locks_->begin();
  begin_again();
}

void Transaction::begin_again() {
  CHECK(!running_);
  worker_.tidy(database_.log());
  worker_.enter();
  scratch_.prefetcher.forget();
  gate_ = database_.gate();
  running_ = true;
}

void Transaction::end() {
  // Before the epoch: a row's memory is not used again while anybody has it locked.
  if (locks_ != nullptr) locks_->release_all();
  if (claims_ != nullptr) claims_->release_all();
  claims_ = nullptr;
  worker_.leave();
  scratch_.clear();
  highest_seen_ = Lsn{};
  running_ = false;
}

WriteEntry* Transaction::own_write(const Row* row) {
  const uint32_t index = scratch_.write_of_row.find(row);
  return index == PointerMap::kNone ? nullptr : &scratch_.writes[index];
}

// For every row that is read: with calls in it, it takes a quarter more instructions.
[[gnu::flatten]] AccessStatus Transaction::visit(IndexedTable& table, Row* row, ImageParts parts,
                                                 Purpose purpose, RowRef& ref) {
  parts = parts & table.image_parts();
  if (WriteEntry* write = own_write(row); write != nullptr) {
    if (write->is_erased) return AccessStatus::kAbsent;
    if (!complete(*write, parts)) return conflict(ConflictCause::kRead);
    auto* copy = new (scratch_.arena.allocate(sizeof(Copy))) Copy{row, write->expected, parts};
    ref = {write->image, copy};
    return AccessStatus::kOk;
  }
  const bool peeks = purpose == Purpose::kPeek;
  if (purpose == Purpose::kChangeNow && locks_ != nullptr) {
    if (!locks_->try_lock(*row, LockMode::kExclusive, database_.log())) return AccessStatus::kLocked;
  } else if (!peeks && !lock(row, purpose == Purpose::kRead ? LockMode::kShared : LockMode::kExclusive)) {
    return AccessStatus::kConflict;
  }
  auto* copy =
      new (scratch_.arena.allocate(sizeof(Copy) + table.rows().image_bytes())) Copy{row, RowWord(), parts};
  const RowWord word = row->read(copy->image(), parts, table.rows().image_words());
  if (word.is_locked()) return peeks ? AccessStatus::kAbsent : conflict(ConflictCause::kRead);
  copy->version = word.version();
  if (!peeks) note_read(row, copy->version);
  if (!word.is_live()) return AccessStatus::kAbsent;
  ref = {copy->image(), copy};
  return AccessStatus::kOk;
}

// A row that was only peeked at is locked first, and then held against what was seen of it: from then on it
// is as if it had been read.
AccessStatus Transaction::lock_row(const RowRef& ref, RowLockStrength strength, RowLockWait wait) {
  const auto& copy = *static_cast<const Copy*>(ref.handle);
  if (const WriteEntry* write = own_write(copy.row); write != nullptr)
    return write->is_erased ? AccessStatus::kAbsent : AccessStatus::kOk;
  const LockMode mode = strength == RowLockStrength::kShared ? LockMode::kShared : LockMode::kExclusive;
  const bool is_ours = kept_rows().try_lock(*copy.row, mode, database_.log());
  if (wait == RowLockWait::kWaits) return AccessStatus::kOk;
  if (!is_ours) return wait == RowLockWait::kNoWait ? AccessStatus::kLocked : AccessStatus::kAbsent;
  if (wait == RowLockWait::kNoWait) return AccessStatus::kOk;
  const RowWord word = copy.row->word();
  if (word.is_locked() || word.version() != copy.version) return AccessStatus::kAbsent;
  note_read(copy.row, copy.version);
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
  const uint32_t index = scratch_.node_of_word.find(node.node);
  if (index != PointerMap::kNone) return scratch_.nodes[index].version == node.version;
  scratch_.node_of_word.insert(node.node, static_cast<uint32_t>(scratch_.nodes.size()));
  scratch_.nodes.push_back(node);
  return true;
}

// Our own inserts are no phantoms to us: where we watched a node as it was before, we watch it as it is
// after. Had somebody else changed it in between, `before` would differ, and validation fail.
void Transaction::apply_own_changes() {
  for (const NodeChange& change : scratch_.changes) {
    const NodeWord* watched = change.split_from != nullptr ? change.split_from : change.node;
    const uint32_t index = scratch_.node_of_word.find(watched);
    if (index == PointerMap::kNone || scratch_.nodes[index].version != change.before) continue;
    if (change.split_from == nullptr) {
      scratch_.nodes[index].version = change.after;
    } else {
      watch({change.node, change.after});
    }
  }
  scratch_.changes.clear();
}

AccessStatus Transaction::find_parts(IndexId id, const IndexKey& key, ImageParts parts, Purpose purpose,
                                     RowRef& ref) {
  DCHECK(running_);
  if (gate_ != nullptr && !gate_->before_read(worker_.id(), id, {key, key})) [[unlikely]]
    return conflict(ConflictCause::kRead);
  const TableIndex& index = database_.index(id);
  IndexedTable& table = database_.table_of(id);
  DCHECK(index.is_unique && key.word_count == index.codec->word_count());
  if (!index.is_primary) return find_by_entries(index, key, parts, purpose, ref);

  if (Row* row = scratch_.prefetcher.take(id, key); row != nullptr) {
    const AccessStatus status = visit(table, row, parts, purpose, ref);
    if (status != AccessStatus::kAbsent) return status;
  }
  NodeVersion node;
  Row* row = index.index->find(key.words.data(), node);
  const AccessStatus status = row == nullptr ? AccessStatus::kAbsent : visit(table, row, parts, purpose, ref);
  if (status == AccessStatus::kAbsent && purpose != Purpose::kPeek && !watch(node))
    return conflict(ConflictCause::kNodeValidation);
  return status;
}

AccessStatus Transaction::find_by_entries(const TableIndex& index, const IndexKey& key, ImageParts parts,
                                          Purpose purpose, RowRef& ref) {
  RowRef found;
  const AccessStatus status =
      scan_parts(index.id, {key, key}, Direction::kForward, parts, purpose, [&](const RowRef& row) {
        found = row;
        return false;
      });
  if (status != AccessStatus::kOk) return status;
  if (found.image == nullptr) return AccessStatus::kAbsent;
  ref = found;
  return AccessStatus::kOk;
}

AccessStatus Transaction::scan_parts(IndexId id, const KeyRange& range, Direction direction, ImageParts parts,
                                     Purpose purpose, FunctionRef<bool(const RowRef&)> visit_row) {
  DCHECK(running_);
  if (gate_ != nullptr && !gate_->before_read(worker_.id(), id, range)) [[unlikely]]
    return conflict(ConflictCause::kRead);
  const TableIndex& index = database_.index(id);
  IndexedTable& table = database_.table_of(id);
  if (!index.is_primary) parts |= index.key_parts;
  const KeyRange entries = table.entry_range(index, range.low, range.high);
  IndexCursor cursor(entries.low.span(), entries.high.span(),
                     direction == Direction::kForward ? ScanDirection::kForward : ScanDirection::kBackward);
  while (index.index->next(cursor)) {
    if (purpose != Purpose::kPeek && !watch(cursor.node)) return conflict(ConflictCause::kNodeValidation);
    const auto ask_for = [&](uint32_t i) {
      if (i < cursor.count) prefetch_row(table.rows(), cursor.rows[i], parts);
    };
    for (uint32_t i = 0; i < kRowsAhead; ++i) ask_for(i);
    for (uint32_t i = 0; i < cursor.count; ++i) {
      ask_for(i + kRowsAhead);
      RowRef row;
      const AccessStatus status = visit(table, cursor.rows[i], parts, purpose, row);
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

// A gate's rows are not looked at ahead of their time.
void Transaction::prefetch(std::span<const RowLookup> lookups) {
  if (gate_ != nullptr) return;
  Prefetcher& prefetcher = scratch_.prefetcher;
  while (!lookups.empty()) {
    const size_t group = std::min(lookups.size(), Prefetcher::kMaxLookups);
    prefetcher.start(database_, lookups.first(group));
    lookups = lookups.subspan(group);
  }
}

void Transaction::prefetch_more(std::span<const RowLookup> lookups) {
  if (gate_ != nullptr) return;
  scratch_.prefetcher.add(database_, lookups);
}

}  // namespace mneme
