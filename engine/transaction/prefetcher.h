// Prefetcher: brings the rows that a transaction will ask for into the cache, a group of look-ups at a time.
//
// Flow        start(lookups): the look-ups of each index go from node to node together (Index::find_ahead),
//             and then the wanted lines of all rows are asked for. A row that was found may tell what to look
//             up next: peek() -> add(lookups), the group's next round.
//             Look-ups in an index whose keys are wider than usual are left out.
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

}  // namespace mneme
