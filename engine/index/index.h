// Index: entries (key, row), unique by key, safe for many threads, with versions to validate what was read.
//
// Implemented by   BtreeIndex: ordered. HashIndex: by whole key, or by the leading words that it hashes.
// Keys        key_words() words each, compared lexicographically (index_key.h, indexed_table.h).
// Versions    every entry, and every gap between entries, belongs to one node (a leaf, a bucket), whose
//             version changes with each insert, erase or split there. So what was absent under a node version
//             is absent as long as the version stands. A writer reports the versions it changed, so that a
//             transaction's own inserts don't look like others' to it.
// Threads     all methods but verify() and for_each(): any, at once. Two writers of one key must agree
//             beforehand (the transaction that has claimed the row). A NodeVersion's node stays readable for
//             the index's life.
// Waiting     for node locks, held for one change each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "engine/index/node_pool.h"
#include "engine/index/row.h"
#include "engine/schema/index_key.h"

namespace mneme {

struct NodeVersion {
  const NodeWord* node = nullptr;
  uint64_t version = 0;

  bool is_current() const { return node->load(std::memory_order_acquire) == version; }
};

// The change that one of the transaction's own writes made to a node. A node that was split off another (or
// took over some of its entries) names it: a transaction that watched the one must watch both.
struct NodeChange {
  const NodeWord* node;
  uint64_t before;
  uint64_t after;
  const NodeWord* split_from = nullptr;
};
using NodeChanges = std::vector<NodeChange>;

[[gnu::always_inline]] inline int compare_words(const uint64_t* a, const uint64_t* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

// One of the look-ups that Index::find_ahead() makes at once.
struct AheadLookup {
  const uint64_t* key = nullptr;
  bool wants_row = true;  // otherwise only the node where the key belongs is brought into the cache
  // What was found.
  Row* row = nullptr;
  bool is_exact = false;  // the row stood under the very key, at one moment
  // A tree's leaf in which the row stood, and the leaf before it if the key itself belongs there, behind all
  // that it holds. As long as both are current, no entry lies between the key and the row. No node where the
  // tree changed meanwhile.
  NodeVersion leaf{};
  NodeVersion passed{};

  bool leads_on() const {
    return leaf.node != nullptr && leaf.is_current() && (passed.node == nullptr || passed.is_current());
  }
};

enum class ScanDirection : uint8_t { kForward, kBackward };

// A walk over a range, piece by piece: the entries of one node, in the walk's order, and the node's version.
class IndexCursor {
 public:
  // low and high have the index's key_words(), and low <= high.
  IndexCursor(std::span<const uint64_t> low, std::span<const uint64_t> high, ScanDirection direction)
      : key_words(static_cast<uint32_t>(low.size())), direction(direction) {
    std::copy(low.begin(), low.end(), this->low.begin());
    std::copy(high.begin(), high.end(), this->high.begin());
  }

  const uint64_t* key(size_t i) const { return keys.data() + i * key_words; }

  // The capacity of the largest node (static_assert'ed where nodes are laid out).
  static constexpr size_t kMaxEntries = 64;
  static constexpr size_t kMaxEntryWords = 1024;
  using Key = std::array<uint64_t, kMaxKeyWords>;

  const uint32_t key_words;
  const ScanDirection direction;
  // The rest of the range. The index moves `low` up, or `high` down, with each piece.
  Key low;
  Key high;
  bool high_exclusive = false;
  bool done = false;
  // A caller that wants rows alone clears it: then the piece's keys may be left out.
  bool wants_keys = true;
  // What was found ahead for the walk's `low`, if the caller knows: a tree's walk forwards then begins in
  // that leaf, if it still stands.
  const AheadLookup* ahead = nullptr;

  // The piece.
  NodeVersion node;
  uint32_t count = 0;
  // A tree sets these: the node's parent, nullptr if it has none, and which child the node was.
  NodeVersion parent;
  uint32_t index_in_parent = 0;
  std::array<uint64_t, kMaxEntryWords> keys;
  std::array<Row*, kMaxEntries> rows;
};

// Where one owner's last insert went, in case the next key goes there as well, as an order's lines do. Kept
// by the inserting caller, filled by the index: while the node has this version, keys from `low` up to `high`
// belong there. It has no node where an index's keys are wider than usual.
struct InsertHint {
  NodeWord* node = nullptr;
  uint64_t version = 0;
  bool has_high = false;
  std::array<uint64_t, kUsualKeyWords> low;
  std::array<uint64_t, kUsualKeyWords> high;

  // Whether a key of so many words belongs there, if the version still stands.
  [[gnu::always_inline]] bool covers(const uint64_t* key, size_t words) const {
    return node != nullptr && compare_words(key, low.data(), words) >= 0 &&
           (!has_high || compare_words(key, high.data(), words) < 0);
  }
};

struct IndexEntry {
  const uint64_t* key;
  Row* row;
};

class Index {
 public:
  explicit Index(uint32_t key_words) : key_words_(key_words) {}
  virtual ~Index() = default;
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;

  uint32_t key_words() const { return key_words_; }

  // The row under `key`, or nullptr, and the version under which that is so. The caller may set `node` before
  // to where it last saw the entry or a neighbour: find() looks there first.
  virtual Row* find(const uint64_t* key, NodeVersion& node) const = 0;

  // Fills the cursor's piece and moves it on; false when the walk is over. A hash index walks ranges whose
  // ends agree in the words that it hashes, in no order.
  virtual bool next(IndexCursor& cursor) const = 0;

  // Whether entries that come in are kept, so that their keys matter.
  virtual bool keeps_entries() const { return true; }

  // Adds an entry. kExists: there is one under this key already; `existing` is its row, and nothing changed.
  // `changes`, where wanted, is appended to; a `hint`, where given, is tried first and renewed.
  enum class InsertStatus : uint8_t { kInserted, kExists, kOutOfMemory };
  virtual InsertStatus insert(const uint64_t* key, Row* row, Row*& existing, NodeChanges* changes,
                              InsertHint* hint = nullptr) = 0;

  // The same for several entries, one after the other: those that belong side by side go in at once. It stops
  // at the first that is not inserted; `done` is how many are.
  virtual InsertStatus insert_run(std::span<const IndexEntry> entries, InsertHint& hint, size_t& done,
                                  Row*& existing);

  // Gives the entry under `key` another row; false when there is none that leads to `from`.
  virtual bool replace(const uint64_t* key, const Row* from, Row* to, NodeChanges* changes) = 0;

  // Removes the entry under `key`, if it leads to `row`. It looks into `near` first, as find() does.
  virtual bool erase(const uint64_t* key, const Row* row, const NodeVersion& near = {}) = 0;

  // Looks for the rows under these keys (in an ordered index: each under the first key that is not below),
  // all at once: each look-up goes from node to node in turn with the others, so that their cache misses
  // overlap. It waits for no lock and promises nothing: a row may be another one by now, or none where a
  // writer was in the way. It needs no epoch, as it doesn't look into rows. At most kMostAhead.
  static constexpr size_t kMostAhead = 64;
  virtual void find_ahead(std::span<AheadLookup* const> lookups) const = 0;

  // Calls visit(key, row) for every entry, in key order where there is one. The index is at rest.
  virtual void for_each(FunctionRef<void(const uint64_t*, Row*)> visit) const = 0;

  // Returns the memory of all nodes, with room for more in them and beside them.
  virtual size_t memory_bytes() const = 0;

  // Walks the whole structure and CHECKs that it is well-formed. The index is at rest.
  virtual void verify() const = 0;

 private:
  const uint32_t key_words_;
};

std::unique_ptr<Index> make_btree_index(uint32_t key_words, HugePageSource& memory);
// `hashed_words`: how many leading words of a key decide its bucket.
std::unique_ptr<Index> make_hash_index(uint32_t key_words, uint32_t hashed_words, HugePageSource& memory);

}  // namespace mneme
