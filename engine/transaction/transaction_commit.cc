// Transaction: how it ends.
#include <algorithm>

#include "engine/table/version_keeper.h"
#include "engine/transaction/transaction.h"

namespace mneme {

namespace {

// Rows stay locked for about a microsecond each; a transaction that would wait longer is run again instead.
constexpr uint32_t kMaxLockTries = 300;

// Inserted and erased by one transaction: nothing came of it.
bool is_void(const WriteEntry& write) {
  return write.is_erased && !write.expected.is_live();
}

}  // namespace

CommitOutcome Transaction::commit(ByteSpan call, RecordContent content) {
  CHECK(running_);
  if (scratch_.writes.empty()) {
    const CommitOutcome outcome{validate(false) ? CommitStatus::kCommitted : CommitStatus::kConflict,
                                highest_read(), false};
    end();
    return outcome;
  }
  ByteSpan payload;
  if (const CommitStatus made = make_record(call, content, payload); made != CommitStatus::kCommitted) {
    abort();
    return {made, Lsn{}, false};
  }
  CommitLog& log = database_.log();
  const auto payload_bytes = static_cast<uint32_t>(payload.size());
  if (!log.await_space(worker_.id(), payload_bytes)) {
    abort();
    return {CommitStatus::kLogFailed, Lsn{}, false};
  }
  worker_.make_room_for_install();
  if (!lock_writes()) {
    abort();
    return {CommitStatus::kConflict, Lsn{}, false};
  }
  const Lsn lsn = log.reserve(worker_.id(), payload_bytes);
  if (!validate(true)) {
    unlock_writes();
    log.fill(worker_.id(), lsn, RecordKind::kSkip, payload);
    abort();
    return {CommitStatus::kConflict, Lsn{}, false};
  }
  const RecordKind kind = kind_of(content);
  if (log.leaves_holes()) {
    // No transaction may read, or write over, what a crash could still take back alone.
    log.fill(worker_.id(), lsn, kind, payload);
    install(lsn);
  } else {
    install(lsn);
    log.fill(worker_.id(), lsn, kind, payload);
  }
  end();
  return {CommitStatus::kCommitted, lsn, true};
}

CommitStatus Transaction::make_record(ByteSpan call, RecordContent content, ByteSpan& payload) {
  payload = call;
  if (!holds_images(content)) return CommitStatus::kCommitted;
  uint32_t count = 0;
  if (const CommitStatus status = complete_images(content, count); status != CommitStatus::kCommitted)
    return status;
  ChangeRecord& record = scratch_.record;
  record.clear();
  if (holds_calls(content)) record.put_call(call);
  record.put_count(count);
  for (const WriteEntry& write : scratch_.writes) {
    if (!is_named_by_values(write, content)) continue;
    if (!put_former_row(write)) {
      worker_.count(ConflictCause::kRead);
      return CommitStatus::kConflict;
    }
    if (record.payload().size() > kMaxPayloadBytes) return CommitStatus::kTooLarge;
  }
  for (const WriteEntry& write : scratch_.writes) {
    if (is_void(write)) continue;
    const bool former_is_put = is_named_by_values(write, content);
    if (former_is_put && write.is_erased) continue;
    const TableId table = write.table->definition().id;
    const RowLocation at{write.table->rows().slot_of(write.row), write.expected.lsn(),
                         write.expected.is_live()};
    const RowLocation* location = holds_locations(content) ? &at : nullptr;
    if (write.is_erased) {
      record.put(database_.change_codec(), table, ChangeAction::kErase, location, write.image);
    } else if (former_is_put || !write.expected.is_live()) {
      record.put(database_.change_codec(), table, ChangeAction::kInsert, location, write.image);
    } else if (!put_update(write, location)) {
      worker_.count(ConflictCause::kRead);
      return CommitStatus::kConflict;
    }
    if (record.payload().size() > kMaxPayloadBytes) return CommitStatus::kTooLarge;
  }
  payload = record.payload();
  return CommitStatus::kCommitted;
}

CommitStatus Transaction::complete_images(RecordContent content, uint32_t& count) {
  // Also where only the log's other records name rows so: a scheme that finds rows by key must find all of
  // them.
  const bool needs_keys = holds_keys(content) || holds_keys(database_.record_content());
  for (WriteEntry& write : scratch_.writes) {
    if (is_void(write)) continue;
    ++count;
    const TableIndex* primary = write.table->primary();
    if (primary == nullptr && write.expected.is_live() && needs_keys && holds_locations(content))
      return CommitStatus::kUnnamed;
    if (is_named_by_values(write, content) && !write.is_erased) ++count;  // its erasure, and an insert
    const ImageParts key = primary == nullptr ? ImageParts() : primary->key_parts;
    ImageParts needed = write.table->image_parts();
    if (write.is_erased) {
      needed = key;
    } else if (primary != nullptr && write.expected.is_live() &&
               database_.tuple_image() == TupleImage::kChanged) {
      needed = key | write.dirty;
    }
    if (complete(write, needed)) continue;
    worker_.count(ConflictCause::kRead);
    return CommitStatus::kConflict;
  }
  return CommitStatus::kCommitted;
}

bool Transaction::is_named_by_values(const WriteEntry& write, RecordContent content) {
  return write.table->primary() == nullptr && write.expected.is_live() && !holds_locations(content);
}

bool Transaction::put_former_row(const WriteEntry& write) {
  auto* before = static_cast<std::byte*>(scratch_.arena.allocate(write.table->layout().image_bytes()));
  const RowWord word = write.row->read(before, write.table->image_parts(), write.table->rows().image_words());
  if (word.is_locked() || word.version() != write.expected) return false;
  scratch_.record.put(database_.change_codec(), write.table->definition().id, ChangeAction::kErase, nullptr,
                      before);
  return true;
}

bool Transaction::put_update(const WriteEntry& write, const RowLocation* location) {
  const TableId table = write.table->definition().id;
  const RowCodec& rest = database_.change_codec().rest(table);
  const size_t bits_bytes = ColumnBits::bytes_for(rest.column_count());
  auto* bits = static_cast<std::byte*>(scratch_.arena.allocate(bits_bytes));
  // The row itself still shows what it was before: nothing is written into it until the record has its place.
  auto* before = static_cast<std::byte*>(scratch_.arena.allocate(write.table->layout().image_bytes()));
  const RowWord word = write.row->read(before, write.dirty, write.table->rows().image_words());
  if (word.is_locked() || word.version() != write.expected) return false;
  rest.compare(before, write.image, write.dirty, {bits, bits_bytes});
  const ColumnBits changed({bits, bits_bytes});
  scratch_.record.put(
      database_.change_codec(), table,
      database_.tuple_image() == TupleImage::kFull ? ChangeAction::kUpdate : ChangeAction::kPatch, location,
      write.image, &changed);
  return true;
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
  Lsn highest = highest_seen_;
  for (const ReadEntry& read : scratch_.reads) highest = std::max(highest, read.version.lsn());
  return highest;
}

// In order of address, so that two transactions don't wait for each other. No other transaction locks a row
// that we have claimed, so those need neither order nor waiting.
bool Transaction::lock_writes() {
  std::vector<LockEntry>& order = scratch_.lock_order;
  order.clear();
  for (const WriteEntry& write : scratch_.writes) {
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
  for (const WriteEntry& write : scratch_.writes) {
    if (write.is_claimed) write.row->set_word(write.expected.claimed().locked());
  }
  return true;
}

// Claims stay.
void Transaction::unlock_writes() {
  for (const WriteEntry& write : scratch_.writes)
    write.row->set_word(write.is_claimed ? write.expected.claimed() : write.expected);
}

bool Transaction::validate(bool locked) {
  for (const ReadEntry& read : scratch_.reads) {
    const RowWord word = read.row->word();
    const bool is_stable = !word.is_locked() || (locked && own_write(read.row) != nullptr);
    if (word.version() == read.version && is_stable) continue;
    worker_.count(ConflictCause::kRowValidation);
    return false;
  }
  if (std::ranges::all_of(scratch_.nodes, &NodeVersion::is_current)) return true;
  worker_.count(ConflictCause::kNodeValidation);
  return false;
}

void Transaction::install(Lsn lsn) {
  // Not before the reservation: a transaction that reserves behind a checkpoint's LSN must know of the
  // checkpoint.
  if (const Lsn boundary = database_.versions().boundary(); boundary != Lsn{}) [[unlikely]]
    keep_versions(boundary, lsn);
  // While rows are locked only pointers to them are of use to others: first what needs the old images.
  for (const WriteEntry& write : scratch_.writes) {
    if (write.is_claimed) note_stale_entries(write, lsn);
  }
  for (const WriteEntry& write : scratch_.writes) {
    // A tombstone keeps an image under which all its entries are found: those of a claimed row are its new
    // one's.
    if (write.is_claimed || !write.is_erased) {
      if (!write.table->layout().long_columns().empty()) [[unlikely]]
        exchange_texts(write);
      write.row->write(write.image, write.dirty, write.table->rows().image_words());
    }
    write.row->set_word(write.is_erased ? RowWord::tombstone(lsn) : RowWord::live(lsn));
    if (write.is_erased) worker_.unlink_later(lsn, write.table, write.row);
  }
  // Entries that a later change of this same transaction left behind.
  for (const CreatedEntry& created : scratch_.created) {
    if (created.index->is_primary) continue;
    const WriteEntry& write = *own_write(created.row);
    const std::span<const uint64_t> key = scratch_.key_of(created);
    if (std::ranges::equal(created.table->entry_key(*created.index, write.image, created.row).span(), key))
      continue;
    worker_.unlink_later(lsn, created.table, created.row, created.index, key);
  }
}

// The texts that the row's cells are about to own, and those that they own no more.
void Transaction::exchange_texts(const WriteEntry& write) {
  const RowLayout& layout = write.table->layout();
  for (const ColumnId column : layout.long_columns()) {
    // A part that is written for another column's sake has the cell as it was, and perhaps half of it.
    if (!write.dirty.covers(layout.parts(column))) continue;
    const char* const former = TextCell::outside(layout.cell(write.row->image(), column));
    const char* const next = TextCell::outside(layout.cell(write.image, column));
    if (former == next) continue;
    if (next != nullptr) LongText::of(next)->set_installed();
    if (former != nullptr) worker_.retire(*LongText::of(former));
  }
}

void Transaction::keep_versions(Lsn boundary, Lsn lsn) {
  for (const WriteEntry& write : scratch_.writes) {
    if (!write.expected.is_live() || !(write.expected.lsn() < boundary)) continue;
    database_.versions().keep(worker_.id(), boundary, *write.table, write.row, write.expected.lsn(), lsn);
  }
}

// The entries of the row's old image, a tombstone's too, that those of the new one don't replace.
void Transaction::note_stale_entries(const WriteEntry& write, Lsn lsn) {
  if (write.is_fresh) return;
  for (const TableIndex& index : write.table->indexes()) {
    if (index.is_primary) continue;
    const IndexKey old_key = write.table->entry_key(index, write.row->image(), write.row);
    if (old_key == write.table->entry_key(index, write.image, write.row)) continue;
    worker_.unlink_later(lsn, write.table, write.row, &index, old_key.span());
  }
}

void Transaction::undo() {
  // Backwards: a new row's entry under its primary key goes last, so that no transaction inserts that key
  // with another row while other entries of this one stand.
  for (size_t i = scratch_.created.size(); i-- > 0;) {
    const CreatedEntry& created = scratch_.created[i];
    created.index->index->erase(scratch_.key_of(created).data(), created.row);
  }
  for (const WriteEntry& write : scratch_.writes) {
    if (!write.is_claimed) continue;
    write.row->set_word(write.is_fresh ? RowWord() : write.expected);
    if (write.is_fresh) worker_.retire(*write.table, write.row);
  }
}

}  // namespace mneme
