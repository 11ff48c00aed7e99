// ReplayAccess: rows as replay changes them: in place, without locks, validation or log.
//
// Invariants  a row that one access reads or writes is written by no other at that time: the scheduler
//             ensures it. Indexes are shared by all lanes and take care of themselves; an erased row leaves
//             them at once, and its slot is free at once, as no other access can have found it. Expected rows
//             are looked up beforehand, in groups, so that cache misses overlap. A row that was found so is
//             still the one under its key when it is asked for: until then only this access takes rows of its
//             lane out of an index, or gives them another key, and then it drops those. A range is walked
//             from where its first row was found, if the tree is what it was there. Rows
//             that machine code inserts go into their index at the end of its run, neighbours at once, or as
//             soon as the run looks for rows there: no other access may look for them sooner. RowRef::image
//             is the row itself: it shows every later change of the row, by this access or, of columns on
//             which no piece here may depend, by others. Rows of a table that the whole replay leaves as it
//             is are found without its index (constant_rows.h).
// Threads     one owner each; any number on one database.
#pragma once

#include <span>

#include "engine/table/constant_rows.h"
#include "engine/transaction/database.h"
#include "engine/transaction/prefetcher.h"
#include "engine/transaction/row_access.h"
#include "engine/transaction/unlogged_writer.h"

namespace mneme {

class ReplayAccess final : public RowAccess {
 public:
  explicit ReplayAccess(Database& database) : database_(database), rows_(database) {}

  // By index, nullptr for most; empty: none. They stay as they are until the next call.
  void use(std::span<const ConstantRows* const> constant) { constant_ = constant; }

  // Looks up the rows that will be asked for next, in this order; at most ExpectedRows::kMost, which stay
  // where they are until the next call. It leaves out places of insertion that are known, whether as places
  // or as rows of which nothing is wanted: nodes used lately are in the cache, and need not be searched for.
  void expect(std::span<RowLookup> lookups) {
    expected_.begin();
    for (RowLookup& lookup : lookups) {
      if (const ConstantRows* constant = constant_rows(lookup.index)) {
        const Row* row = constant->find(lookup.key);
        if (row != nullptr) lines_asked_for_ += prefetch_row(constant->table(), row, lookup.parts);
        expected_.pass();
      } else if ((lookup.is_place || lookup.parts.is_empty()) &&
                 rows_.knows_place(lookup.index, lookup.key)) {
        expected_.pass();
      } else {
        expected_.add(database_, lookup);
      }
    }
    expected_.search();
  }
  // Returns how many cache lines of rows expect() has asked for so far.
  uint64_t lines_asked_for() const { return lines_asked_for_ + expected_.lines_asked_for(); }
  // Must be called when other code has taken a row of its lane out of an index.
  void forget_expected() { expected_.forget(); }
  // Publishes the rows that the run inserted. Returns whether that went well.
  AccessStatus end_run() { return rows_.insert_waiting(); }
  // The next requests begin with the expected look-up number `at`.
  void go_on_at(size_t at) { expected_.go_on_at(at); }

  // Mostly the row has been found ahead, so what else there may be is kept out of machine code.
  [[gnu::always_inline]] AccessStatus find_parts(IndexId index, const IndexKey& key, ImageParts, Purpose,
                                                 RowRef& row) override {
    Row* found = nullptr;
    if (const ConstantRows* constant = constant_rows(index)) {
      found = constant->find(key);
    } else {
      found = expected_.take(index, key);
      // A row that was found ahead may just be on its way into another index.
      if (found == nullptr || !found->word().is_live() || database_.unloaded() != nullptr) [[unlikely]]
        found = find_unexpected(index, key);
    }
    if (found == nullptr) return AccessStatus::kAbsent;
    row = ref(found);
    return AccessStatus::kOk;
  }
  AccessStatus scan_parts(IndexId index, const KeyRange& range, Direction direction, ImageParts, Purpose,
                          FunctionRef<bool(const RowRef&)> visit) override {
    rows_.scan(
        index, range, direction, [&](Row* row) { return visit(ref(row)); },
        expected_.take_first(index, range.low));
    return AccessStatus::kOk;
  }
  AccessStatus insert(TableId table, std::span<const Value> values) override {
    return rows_.insert(table, values);
  }
  std::byte* new_image(TableId table) override { return rows_.new_image(table); }
  AccessStatus insert_image(TableId table, std::byte* image) override {
    return rows_.insert_later(table, image);
  }
  // For machine code: as UnloggedWriter has them.
  template <size_t kBytes>
  [[gnu::always_inline]] std::byte* new_image_of(TableId table) {
    return rows_.new_image_of<kBytes>(table);
  }
  [[gnu::always_inline]] AccessStatus insert_image_under(TableId table, const std::byte* image,
                                                         IndexId primary, const LookupKey& key) {
    return rows_.insert_later_under(table, image, primary, key);
  }
  AccessStatus update(TableId table, RowRef& row, std::span<const ColumnValue> changes) override {
    expected_.drop(static_cast<Row*>(row.handle));
    return rows_.update(table, static_cast<Row*>(row.handle), changes);
  }
  AccessStatus change_parts(TableId, RowRef& row, ImageParts, std::byte*& image) override {
    image = static_cast<Row*>(row.handle)->image();
    return AccessStatus::kOk;
  }
  AccessStatus erase(TableId table, RowRef& row) override {
    expected_.drop(static_cast<Row*>(row.handle));
    rows_.erase(table, static_cast<Row*>(row.handle));
    return AccessStatus::kOk;
  }

 private:
  [[gnu::noinline]] Row* find_unexpected(IndexId index, const IndexKey& key) {
    rows_.load(index, key, key);
    Row* const found = expected_.take_later(index, key);
    return found != nullptr && found->word().is_live() ? found : rows_.find(index, key);
  }
  static RowRef ref(Row* row) { return {row->image(), row}; }
  const ConstantRows* constant_rows(IndexId index) const {
    return index.value < constant_.size() ? constant_[index.value] : nullptr;
  }

  Database& database_;
  UnloggedWriter rows_;
  ExpectedRows expected_;
  std::span<const ConstantRows* const> constant_;
  uint64_t lines_asked_for_ = 0;  // of constant rows
};

}  // namespace mneme
