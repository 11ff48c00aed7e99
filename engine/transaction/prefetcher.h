// Prefetcher: brings the rows that a transaction will ask for into the cache, a group of look-ups at a time.
//
// Flow        start(lookups): the look-ups of each index go from node to node together (Index::find_ahead),
//             and then the wanted lines of all rows are asked for. A row that was found may tell what to look
//             up next: peek() -> add(lookups), the group's next round.
//             Look-ups in an index whose keys are wider than usual are left out.
//             Replay has ExpectedRows instead: one round, whose look-ups stay where they were named.
// Source      Chen et al., "Improving Hash Join Performance through Prefetching" (ICDE'04): group
//             prefetching.
// Threads     one owner; beside any number of writers (Index::find_ahead). No transaction need run.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "engine/index/index.h"
#include "engine/transaction/row_access.h"

namespace mneme {

class Database;
class Table;

// Asks for a row's word and the lines of the parts, and doesn't wait. Returns how many lines these are.
size_t prefetch_row(const Table& rows, const Row* row, ImageParts parts);

class Prefetcher {
 public:
  // About as many misses as a core keeps under way, two or three times over. What a group has beyond that is
  // left out.
  static constexpr size_t kMaxLookups = Index::kMostAhead;

  // The most rounds of a group.
  static constexpr size_t kMaxRounds = 4;

  // Copies what it needs of `lookups`. What the last group found is forgotten.
  void start(Database& database, std::span<const RowLookup> lookups) {
    forget();
    add(database, lookups);
  }
  // The same besides what the group has already.
  void add(Database& database, std::span<const RowLookup> lookups);

  // The row that the last group found under exactly this key, if it is known: then it need not be looked up
  // again. A caller that asks for all of a round asks in its order; a row is returned once. The index may
  // have changed since, but the row is what it was as long as a transaction runs that was running when the
  // group was started.
  [[gnu::always_inline]] Row* take(IndexId index, const IndexKey& key) {
    // Mostly the next one is asked for.
    if (round_count_ == 1 && rounds_[0].next < rounds_[0].end) {
      const Entry& next = entries_[rounds_[0].next];
      if (next.rows != nullptr && next.id == index && begins_with(next.key, key)) {
        ++rounds_[0].next;
        return next.lookup.is_exact ? next.lookup.row : nullptr;
      }
    }
    return take_later(index, key);
  }
  // Copies `parts` of the row that the group's look-up number `at` found to their places in `image`; returns
  // false if none was found. A hint only: it does not check whether the row is locked, half written, or
  // deleted.
  bool peek(size_t at, ImageParts parts, std::byte* image) const;
  size_t size() const { return count_; }
  // Returns how many cache lines of rows all groups so far asked for.
  uint64_t lines_asked_for() const { return lines_asked_for_; }
  // take() looks for the first round's rows from its look-up number `at` on: those before were not asked for.
  void go_on_at(size_t at) {
    if (round_count_ > 0) rounds_[0].next = at;
  }
  void forget() { count_ = round_count_ = 0; }

 private:
  using Key = std::array<uint64_t, kUsualKeyWords>;
  struct Entry {
    AheadLookup lookup;
    IndexId id;
    const Table* rows;  // nullptr: no row is wanted, only its index's node
    ImageParts parts;
    Key key;
  };

  static bool begins_with(const Key& key, const IndexKey& prefix) {
    // Few words, so the call that std::equal becomes would take longer than the work.
    uint64_t difference = 0;
    for (size_t i = 0; i < prefix.word_count; ++i) difference |= key[i] ^ prefix.words[i];
    return difference == 0;
  }
  Row* take_later(IndexId index, const IndexKey& key);
  void look_up(Database& database, std::span<Entry*> entries);

  // Branches not taken leave out a look-up or two.
  static constexpr size_t kMaxTries = 4;

  std::array<Entry, kMaxLookups> entries_;
  size_t count_ = 0;
  struct Round {
    size_t end;
    size_t next;  // where take() looks first
  };
  std::array<Round, kMaxRounds> rounds_;
  size_t round_count_ = 0;
  uint64_t lines_asked_for_ = 0;
};

// The rows that replay will ask for next, in the order in which it will.
//
// Invariants  a row that was found is taken once, for exactly its index and key. The look-ups lie where their
//             caller named them, and stay there until the next begin() or forget().
// Threads     one owner, beside any number of writers (Index::find_ahead).
class ExpectedRows {
 public:
  static constexpr size_t kMost = Prefetcher::kMaxLookups;

  // Begins to take look-ups in: at most kMost of them before search(), in the order in which their rows will
  // be asked for.
  void begin() {
    forget();
    taken_in_ = groups_used_ = 0;
  }
  // Leaves out those that are none, or of wider keys than usual.
  void add(Database& database, RowLookup& lookup);
  // A look-up that needs no search counts as one, for go_on_at().
  void pass() { first_row_[taken_in_++] = static_cast<uint8_t>(row_count_); }
  // Looks all of them up, index by index, and asks for the rows' lines.
  void search();

  // The row that was found under exactly this key, if it is known: then it need not be looked up again.
  [[gnu::always_inline]] Row* take(IndexId index, const IndexKey& key) {
    // Mostly the next one is asked for.
    if (next_ < row_count_) {
      const Expected& next = rows_[next_];
      if (next.is_for(index, key)) {
        ++next_;
        return next.found->is_exact ? next.found->row : nullptr;
      }
    }
    return nullptr;
  }
  // The same where take() has found none: it may be one of the next few, as branches not taken leave out a
  // look-up or two.
  Row* take_later(IndexId index, const IndexKey& key);
  // What was found for the first key of a range, or nullptr.
  const AheadLookup* take_first(IndexId index, const IndexKey& low);
  // The row leaves an index, or changes its key.
  void drop(const Row* row) {
    for (AheadLookup& found : std::span(found_).first(found_count_)) {
      if (found.row == row) found.row = nullptr;
    }
  }
  // take() goes on with the rows of the look-up that was taken in as number `at`: those before were not asked
  // for.
  void go_on_at(size_t at) {
    if (at < taken_in_) next_ = first_row_[at];
  }
  void forget() { row_count_ = next_ = found_count_ = 0; }
  // Returns how many cache lines of rows all searches so far asked for.
  uint64_t lines_asked_for() const { return lines_asked_for_; }

 private:
  struct Expected {
    const RowLookup* named;
    const AheadLookup* found;

    [[gnu::always_inline]] bool is_for(IndexId index, const IndexKey& key) const {
      // An index of wider keys has none that is named.
      if (named->index != index || key.word_count > named->key.words.size()) return false;
      // Few words, so the call that std::equal becomes would take longer than the work.
      uint64_t difference = 0;
      for (size_t i = 0; i < key.word_count; ++i) difference |= named->key.words[i] ^ key.words[i];
      return difference == 0;
    }
  };
  // Look-ups of one index. Few are asked for between two searches; of more the rest is left out.
  struct Group {
    IndexId id;
    const Index* index;
    const Table* rows;
    size_t count;
    std::array<AheadLookup*, kMost> lookups;
  };
  static constexpr size_t kMostGroups = 12;
  static constexpr size_t kMostTries = 4;

  Group* group_of(Database& database, IndexId index);
  // One of the next few that are expected, which then is taken; nullptr: none is for the key.
  const AheadLookup* next_for(IndexId index, const IndexKey& key);

  std::array<Group, kMostGroups> groups_;
  size_t groups_used_ = 0;
  std::array<AheadLookup, kMost> found_;
  std::array<const RowLookup*, kMost> named_;  // for each of them
  size_t found_count_ = 0;
  std::array<Expected, kMost> rows_;  // those of rows
  size_t row_count_ = 0;
  size_t next_ = 0;
  std::array<uint8_t, kMost> first_row_;  // by look-up: how many rows were expected before it
  size_t taken_in_ = 0;
  uint64_t lines_asked_for_ = 0;
};

}  // namespace mneme
