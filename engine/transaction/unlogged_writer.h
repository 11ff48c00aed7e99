// UnloggedWriter: direct changes to a database at rest, for loaders, checkpoint loading and replay.
//
// Flow        insert rows, or change and erase them in place, indexes included; no locks, no validation, no
//             log. What is inserted stands at LSN 0, as what has no LSN of the log's does.
// Invariants  no transaction runs. Row words stay as they are, but for live and free.
// Threads     one writer a thread; several at once if they touch different rows, or different columns of one
//             row none of which is in a key. Indexes may be shared without restriction.
// Errors      kDuplicateKey: a unique key exists already; nothing changed. kOutOfMemory: the loading is over.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/index/insert_hints.h"
#include "engine/transaction/database.h"
#include "engine/transaction/row_access.h"

namespace mneme {

class UnloggedWriter {
 public:
  explicit UnloggedWriter(Database& database);
  // Passes free slots on to others.
  ~UnloggedWriter();
  UnloggedWriter(const UnloggedWriter&) = delete;
  UnloggedWriter& operator=(const UnloggedWriter&) = delete;

  // Makes the rows with keys in the range be there, where some are not loaded yet (unloaded_rows.h). find(),
  // scan(), and what inserts and changes keys do it themselves. A caller does it who has found a row
  // otherwise. Its error is told by UnloadedRows alone.
  void load(IndexId index, const IndexKey& low, const IndexKey& high) {
    if (UnloadedRows* unloaded = database_.unloaded()) [[unlikely]]
      unloaded->load(index, {low, high});
  }

  // The live row under a whole key of a unique index, or nullptr.
  Row* find(IndexId index, const IndexKey& key);

  // Visits the live rows with keys in the range, in key order or backwards, until the visitor returns false.
  // The visitor must not insert or erase entries in the range.
  // `ahead`: what was found ahead for the range's low key, or nullptr.
  void scan(IndexId index, const KeyRange& range, RowAccess::Direction direction,
            FunctionRef<bool(Row*)> visit, const AheadLookup* ahead = nullptr);

  // `inserted`, where wanted, gets the row.
  AccessStatus insert(TableId table, std::span<const Value> values, Row** inserted = nullptr);
  // In two steps, for a caller that writes the columns itself: a zeroed image, valid until the table's next
  // insert, and then the insert. The image is the new row's own, which no thread finds before it is inserted.
  std::byte* new_image(TableId table);
  AccessStatus insert_image(TableId table, const std::byte* image, Row** inserted = nullptr);
  // The same for a row that enters the index only when insert_waiting() is called, or the caller looks for
  // rows there by this writer: so an order's lines go in at once. Whether its key was free is found out no
  // sooner, either.
  AccessStatus insert_later(TableId table, const std::byte* image);
  // The two for machine code, which knows the image's size, and the row's key in the primary index, which is
  // usual.
  template <size_t kBytes>
  [[gnu::always_inline]] std::byte* new_image_of(TableId id) {
    Row*& row = new_rows_[id.value];
    if (row == nullptr) row = database_.table(id).rows().allocate(slots_[id.value]);
    if (row == nullptr) [[unlikely]]
      return new_image(id);
    std::memset(row->image(), 0, kBytes);
    return row->image();
  }
  [[gnu::always_inline]] AccessStatus insert_later_under(TableId id, const std::byte* image, IndexId primary,
                                                         const LookupKey& key) {
    Row* const row = new_rows_[id.value];
    const bool is_new = row != nullptr && row->image() == image;
    if (!is_new || !can_wait(id, primary) || database_.unloaded() != nullptr) [[unlikely]]
      return insert_later(id, image);
    new_rows_[id.value] = nullptr;
    row->set_word(RowWord::live(kCheckpointLsn));
    std::copy_n(key.words.begin(), key.word_count, waiting_keys_[waiting_count_].begin());
    waiting_for_ = primary;
    waiting_[waiting_count_++] = row;
    return waiting_status_;
  }
  AccessStatus insert_waiting() {
    if (waiting_count_ > 0) link_waiting();
    return std::exchange(waiting_status_, AccessStatus::kOk);
  }
  // Whether an insert of this whole key of the index will find its place without a search, as those before
  // went there.
  bool knows_place(IndexId index, const LookupKey& key) const {
    return hints_[index.value].know(key.words.data(), key.word_count);
  }
  // Values may point into the row.
  AccessStatus update(TableId table, Row* row, std::span<const ColumnValue> changes);
  void erase(TableId table, Row* row);

 private:
  AccessStatus link(IndexedTable& table, Row* row);
  AccessStatus link(IndexedTable& table, const TableIndex& index, Row* row);
  void link_waiting();
  // Whether one more row can wait for its place in the index, which alone its table has.
  bool can_wait(TableId id, IndexId primary) const {
    if (waiting_count_ > 0) return waiting_for_ == primary && waiting_count_ < kMostWaiting;
    const std::vector<TableIndex>& indexes = database_.table(id).indexes();
    return indexes.size() == 1 && indexes[0].is_primary && indexes[0].id == primary &&
           indexes[0].index->key_words() <= kUsualKeyWords;
  }
  void show_waiting(IndexId index) {
    if (waiting_count_ > 0 && waiting_for_ == index) link_waiting();
  }
  Row* take_new_row(TableId table, const std::byte* image);
  // Loads the rows that may have the key in a unique index that the row with this image gets.
  void load_equals(const TableIndex& index, const std::byte* image) {
    if (database_.unloaded() == nullptr || !index.is_unique) [[likely]]
      return;
    const IndexKey key = index.codec->of_row(image, 0);
    load(index.id, key, key);
  }
  AccessStatus update_keys(IndexedTable& table, Row* row, std::span<const ColumnValue> changes);

  void free_slot(TableId table, Row* row);

  // A scan, and what it has found. Procedures often go through a range twice: to change its rows and to add
  // them up. While the one node that held them is what it was, they are there.
  struct Scan {
    IndexId index;
    KeyRange range;
    RowAccess::Direction direction;
    std::optional<IndexCursor> cursor;
    bool is_whole = false;  // the cursor's piece is all

    bool shows(IndexId index, const KeyRange& range, RowAccess::Direction direction) const;
  };

  Database& database_;
  std::vector<SlotCache> slots_;              // by table
  std::vector<Row*> new_rows_;                // by table: whose image is handed out; none: nullptr
  std::vector<InsertHints> hints_;            // by index
  std::vector<NodeVersion> seen_;             // by index: where rows were found last
  std::vector<std::unique_ptr<Scan>> scans_;  // the last one on each level: visitors may scan
  size_t scans_under_way_ = 0;
  // Rows of one table that have yet to enter its one index, and the first that failed to.
  static constexpr size_t kMostWaiting = 32;
  std::array<Row*, kMostWaiting> waiting_;
  std::array<std::array<uint64_t, kUsualKeyWords>, kMostWaiting> waiting_keys_;
  size_t waiting_count_ = 0;
  IndexId waiting_for_;
  AccessStatus waiting_status_ = AccessStatus::kOk;
  std::vector<std::byte> new_image_;
  Arena scratch_;
};

}  // namespace mneme
