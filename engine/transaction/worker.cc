#include "engine/transaction/worker.h"

#include <algorithm>

#include "engine/transaction/database.h"

namespace mneme {

namespace {

// So many retired slots make a batch: a batch costs a look at every worker's epoch.
constexpr size_t kLimboBatch = 64;
// And so many bytes of texts.
constexpr size_t kLimboTextBytes = size_t{1} << 20;
// An insert reports them while it holds nodes, where an allocation must not fail: two for each level of a
// tree that splits to its root.
constexpr size_t kMostNodeChanges = 64;

}  // namespace

Worker::Worker(WorkerId id, EpochManager& epochs, std::span<const std::unique_ptr<IndexedTable>> tables)
    : id_(id), epochs_(epochs), limbo_(epochs) {
  size_t indexes = 0;
  for (const std::unique_ptr<IndexedTable>& table : tables) {
    slots_.push_back({&table->rows(), {}});
    indexes += table->indexes().size();
  }
  hints_.resize(indexes);
  scratch_.changes.reserve(kMostNodeChanges);
}

RowLocks& Worker::claims(Database& database) {
  if (claims_ == nullptr)
    claims_ = std::make_unique<RowLocks>(database.claims(), id_, /*early_release=*/true);
  return *claims_;
}

void Worker::come_to_rest(const CommitLog& log) {
  tidy(log, tombstones_.size() + stale_.size());
  collect();
  CHECK(untidy() == 0);
}

void Worker::follow(const TableChanges& changes) {
  CHECK(untidy() == 0);
  scratch_.prefetcher.forget();
  if (!changes.keeps_indexes) hints_.clear();
  hints_.resize(changes.indexes);
  std::vector<std::pair<TableId, TableSlots>> slots;
  for (const TableChanges::Changed& changed : changes.changed) {
    TableSlots of_table{&changes.tables[changed.id.value]->rows(), {}};
    if (changed.former) {
      of_table.cache = std::move(slots_[changed.former->value].cache);
    } else {
      // A table that was emptied or laid out anew has its indexes' numbers, and none of their nodes.
      for (const TableIndex& index : changes.tables[changed.id.value]->indexes()) hints_[index.id.value] = {};
    }
    slots.emplace_back(changed.id, std::move(of_table));
  }
  slots_.resize(changes.tables.size());
  for (auto& [id, of_table] : slots) slots_[id.value] = std::move(of_table);
}

void Worker::free_slot(void* slots, void* row) {
  auto* table_slots = static_cast<TableSlots*>(slots);
  table_slots->rows->free(table_slots->cache, static_cast<Row*>(row));
}

void Worker::retire(const IndexedTable& table, Row* row) {
  limbo_.retire(row, free_slot, &slots_[table.definition().id.value]);
}

void Worker::retire(LongText& text) {
  retired_text_bytes_ += text.text().size();
  const auto release = [](void*, void* retired) { static_cast<LongText*>(retired)->release(); };
  limbo_.retire(&text, release, nullptr);
}

void Worker::collect() {
  limbo_.collect();
  retired_text_bytes_ = 0;
}

void Worker::tidy(const CommitLog& log, size_t most) {
  if (!tombstones_.empty() || !stale_.empty()) {
    const Lsn durable = log.durable();
    unlink_durable_tombstones(durable, most);
    unlink_durable_entries(durable, most);
  }
  if (limbo_.size() >= kLimboBatch || retired_text_bytes_ >= kLimboTextBytes) collect();
}

void Worker::unlink_durable_tombstones(Lsn durable, size_t most) {
  for (size_t i = std::min(most, tombstones_.size()); i > 0 && tombstones_.front().lsn < durable; --i) {
    const Tombstone next = tombstones_.front();
    tombstones_.pop();
    if (!unlink(next)) tombstones_.push(next);
  }
}

void Worker::unlink_durable_entries(Lsn durable, size_t most) {
  for (size_t i = std::min(most, stale_.size()); i > 0 && stale_.front().lsn < durable; --i) {
    const StaleEntry next = stale_.front();
    stale_.pop();
    IndexKey key;
    for (key.word_count = 0; key.word_count < next.index->index->key_words(); stale_words_.pop())
      key.words[key.word_count++] = stale_words_.front();
    if (!unlink(next, key)) unlink_later(next.lsn, next.table, next.row, next.index, key.span());
  }
}

bool Worker::unlink(const Tombstone& tombstone) {
  Row* row = tombstone.row;
  const RowWord word = row->word();
  if (word.version() != RowWord::tombstone(tombstone.lsn)) return true;  // in use again
  if (word.is_claimed() || word.is_locked()) return false;
  if (!row->try_change(word, word.claimed())) return false;

  // The primary key's entry last: as long as it stands, no transaction can insert the key with another row,
  // and find entries of this one in its way.
  const std::vector<TableIndex>& indexes = tombstone.table->indexes();
  for (size_t i = indexes.size(); i-- > 0;) {
    const IndexKey key = tombstone.table->entry_key(indexes[i], row->image(), row);
    indexes[i].index->erase(key.words.data(), row);
  }
  row->set_word(RowWord());
  retire(*tombstone.table, row);
  return true;
}

bool Worker::unlink(const StaleEntry& stale, const IndexKey& key) {
  Row* row = stale.row;
  const RowWord word = row->word();
  if (word.is_claimed() || word.is_locked()) return false;
  if (!row->try_change(word, word.claimed())) return false;
  // Under the claim the image stands still. The row may have got its old key back; a tombstone's own entries
  // are unlinked with it. A free row has no entries but forgotten ones.
  const bool valid = !word.is_free() && stale.table->entry_key(*stale.index, row->image(), row) == key;
  if (!valid) stale.index->index->erase(key.words.data(), row);
  row->set_word(word);
  return true;
}

}  // namespace mneme
