// BtreeIndex: a B+tree with optimistic lock coupling.
//
// Reading     BtreeReader.
// Writing     splits full nodes on the way down (so a parent always has room), and locks leaf and parent only
//             for as long as one change takes. Locks are taken from the top, each by compare-exchange from
//             the version that was read, so nothing waits while it holds one.
// Removal     a leaf that becomes empty is cut out, together with ancestors that it alone stood in; queues
//             (rows inserted at one end and deleted at the other) would else leave a trail of empty leaves
//             for every scan to cross. Underfull nodes are not merged, and the tree never gets lower. Cutting
//             out is given up after a few collisions: an empty leaf is harmless.
// Source      Leis, Haubenschild, Neumann: "Optimistic Lock Coupling" (2019); node set: Silo (SOSP'13),
//             section 4.6.
#include <utility>

#include "base/exhaustion.h"
#include "engine/index/btree_reader.h"

namespace mneme {

namespace {

template <uint32_t kWords>
class BtreeIndex final : public Index, BtreeReader<kWords> {
 public:
  using Reader = BtreeReader<kWords>;
  using typename Reader::Node;

  BtreeIndex(uint32_t key_words, size_t node_bytes, HugePageSource& memory)
      : Index(key_words), Reader(key_words, node_bytes / sizeof(NodeWord)), pool_(node_bytes, memory) {
    CHECK(shape_.leaf_capacity <= IndexCursor::kMaxEntries && shape_.inner_capacity >= 4);
    CHECK(shape_.leaf_capacity * key_words <= IndexCursor::kMaxEntryWords);
    NodeWord* block = pool_.take();
    if (block == nullptr) out_of_memory(0);
    const Node root(block);
    root.unlock_unchanged(root.begin_life(0));
    root_.store(block, std::memory_order_release);
  }

  Row* find(const uint64_t* key, NodeVersion& node) const override { return Reader::find(key, node); }
  bool next(IndexCursor& cursor) const override { return Reader::next(cursor); }
  void find_ahead(std::span<AheadLookup* const> lookups) const override { Reader::find_ahead(lookups); }
  void for_each(FunctionRef<void(const uint64_t*, Row*)> visit) const override { Reader::for_each(visit); }
  void verify() const override { Reader::verify(); }

  InsertStatus insert(const uint64_t* key, Row* row, Row*& existing, NodeChanges* changes,
                      InsertHint* hint) override {
    if (words() > kUsualKeyWords) hint = nullptr;
    // A leaf's range never shrinks but by a split, which changes its version.
    if (hint != nullptr && hint->covers(key, words())) {
      const Node leaf(hint->node);
      const uint64_t version = hint->version;
      if (leaf.try_lock(version)) {
        if (leaf.count() < shape_.leaf_capacity)
          return insert_locked(leaf, version, key, row, existing, changes, hint);
        leaf.unlock_unchanged(version);
      }
    }
    // The descent overwrites its bounds.
    if (hint != nullptr) hint->node = nullptr;
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      Path path;
      bool full = false;
      if (!descend_for_insert(key, path, full, hint)) continue;
      if (full) {
        if (!split(path, key, changes)) return InsertStatus::kOutOfMemory;
        continue;
      }
      if (!path.node.try_lock(path.version)) continue;
      return insert_locked(path.node, path.version, key, row, existing, changes, hint);
    }
  }

  InsertStatus insert_run(std::span<const IndexEntry> entries, InsertHint& hint, size_t& done,
                          Row*& existing) override {
    for (done = 0; done < entries.size();) {
      const size_t side_by_side = insert_where_hinted(entries.subspan(done), hint);
      done += side_by_side;
      if (side_by_side > 0) continue;
      const IndexEntry& entry = entries[done];
      const InsertStatus status = insert(entry.key, entry.row, existing, nullptr, &hint);
      if (status != InsertStatus::kInserted) return status;
      ++done;
    }
    return InsertStatus::kInserted;
  }

  bool replace(const uint64_t* key, const Row* from, Row* to, NodeChanges* changes) override {
    Node leaf;
    uint64_t version;
    uint32_t at;
    if (!lock_entry({}, key, from, leaf, version, at)) return false;
    leaf.set_value(shape_, 0, at, to);
    const uint64_t after = leaf.unlock_changed(version);
    if (changes != nullptr) changes->push_back({leaf.block(), version, after});
    return true;
  }

  bool erase(const uint64_t* key, const Row* row, const NodeVersion& near) override {
    Node leaf;
    uint64_t version;
    uint32_t at;
    if (!lock_entry(near, key, row, leaf, version, at)) return false;
    const uint32_t count = leaf.count();
    for (uint32_t i = at + 1; i < count; ++i) {
      leaf.copy_entry(shape_, i - 1, leaf, i);
      leaf.copy_value(shape_, 0, i - 1, leaf, i);
    }
    leaf.set_meta(count - 1, 0);
    leaf.unlock_changed(version);
    if (count == 1) {
      for (uint32_t tries = 0; tries < kMaxCutTries && !cut_out_empty_leaf(key); ++tries) spin_pause(tries);
    }
    return true;
  }

  size_t memory_bytes() const override { return pool_.memory_bytes(); }

 private:
  using Reader::bounded_count;
  using Reader::descend;
  using Reader::root;
  using Reader::root_;
  using Reader::shape_;
  using Reader::start;
  using Reader::step;
  using Reader::words;
  using typename Reader::Path;

  static constexpr uint32_t kMaxCutTries = 8;

  // Into a leaf that has room; unlocks it.
  InsertStatus insert_locked(const Node& leaf, uint64_t version, const uint64_t* key, Row* row,
                             Row*& existing, NodeChanges* changes, InsertHint* hint) {
    const uint32_t count = leaf.count();
    // Rows come in the order of their keys more often than not.
    const bool is_last = count > 0 && leaf.compare(shape_, count - 1, key) < 0;
    const uint32_t at = is_last ? count : leaf.rank(shape_, count, key, false);
    if (at < count && leaf.compare(shape_, at, key) == 0) {
      existing = leaf.row(shape_, at);
      leaf.unlock_unchanged(version);
      return InsertStatus::kExists;
    }
    for (uint32_t i = count; i > at; --i) {
      leaf.copy_entry(shape_, i, leaf, i - 1);
      leaf.copy_value(shape_, 0, i, leaf, i - 1);
    }
    leaf.store_key(shape_, at, key);
    leaf.set_value(shape_, 0, at, row);
    leaf.set_meta(count + 1, 0);
    const uint64_t after = leaf.unlock_changed(version);
    if (changes != nullptr) changes->push_back({leaf.block(), version, after});
    if (hint != nullptr) {
      hint->node = leaf.block();
      hint->version = after;
      std::copy_n(key, words(), hint->low.data());
    }
    return InsertStatus::kInserted;
  }

  // As many of the first entries as follow one another, and belong where the last insert went with nothing
  // between them and room for all; none where that is not known.
  size_t insert_where_hinted(std::span<const IndexEntry> entries, InsertHint& hint) const {
    const uint64_t* const first = entries.front().key;
    if (!hint.covers(first, words())) return 0;
    const Node leaf(hint.node);
    const uint64_t version = hint.version;
    if (!leaf.try_lock(version)) return 0;
    const uint32_t count = leaf.count();
    const uint32_t at = leaf.rank(shape_, count, first, false);
    size_t fitting = std::min<size_t>(entries.size(), shape_.leaf_capacity - count);
    if (at < count && leaf.compare(shape_, at, first) == 0) fitting = 0;
    if (fitting == 0) {
      leaf.unlock_unchanged(version);
      return 0;
    }
    size_t taken = 1;
    for (; taken < fitting; ++taken) {
      const uint64_t* const key = entries[taken].key;
      const bool follows = compare_words(key, entries[taken - 1].key, words()) > 0;
      if (!follows || (at < count && leaf.compare(shape_, at, key) <= 0)) break;
      if (hint.has_high && compare_words(key, hint.high.data(), words()) >= 0) break;
    }
    const auto more = static_cast<uint32_t>(taken);
    for (uint32_t i = count; i-- > at;) {
      leaf.copy_entry(shape_, i + more, leaf, i);
      leaf.copy_value(shape_, 0, i + more, leaf, i);
    }
    for (uint32_t i = 0; i < more; ++i) {
      leaf.store_key(shape_, at + i, entries[i].key);
      leaf.set_value(shape_, 0, at + i, entries[i].row);
    }
    leaf.set_meta(count + more, 0);
    hint.version = leaf.unlock_changed(version);
    std::copy_n(entries[taken - 1].key, words(), hint.low.data());
    return taken;
  }

  // Stops at the first full node.
  bool descend_for_insert(const uint64_t* key, Path& path, bool& full, InsertHint* hint) const {
    if (!start(path)) return false;
    if (hint != nullptr) hint->has_high = false;
    for (;;) {
      const uint32_t level = path.node.level();
      const uint32_t count = bounded_count(path.node);
      full = count == Node::capacity(shape_, level);
      if (level == 0 || full) return path.node.version() == path.version;
      const uint32_t index = path.node.rank(shape_, count, key, true);
      if (hint != nullptr && index < count) {
        path.node.load_key(shape_, index, hint->high.data());
        hint->has_high = true;
      }
      if (!step(path, level, index)) return false;
    }
  }

  // False: the leaf has another version by now. Else `is_held` says whether it has the entry: then it is
  // locked, and the entry is at `at`.
  bool lock_if_held(const Node& leaf, uint64_t version, const uint64_t* key, const Row* row, uint32_t& at,
                    bool& is_held) const {
    if (!leaf.try_lock(version)) return false;
    const uint32_t count = leaf.count();
    at = leaf.rank(shape_, count, key, false);
    is_held = at < count && leaf.compare(shape_, at, key) == 0 && leaf.row(shape_, at) == row;
    if (!is_held) leaf.unlock_unchanged(version);
    return true;
  }
  // Locks the leaf that holds the entry. It looks into `near` first. False: no leaf holds it.
  bool lock_entry(const NodeVersion& near, const uint64_t* key, const Row* row, Node& leaf, uint64_t& version,
                  uint32_t& at) const {
    bool is_held = false;
    if (near.node != nullptr) {
      leaf = Node(const_cast<NodeWord*>(near.node));
      version = near.version;
      if (lock_if_held(leaf, version, key, row, at, is_held) && is_held) return true;
    }
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      Path path;
      if (!descend(key, true, path)) continue;
      leaf = path.node;
      version = path.version;
      if (lock_if_held(leaf, version, key, row, at, is_held)) return is_held;
    }
  }

  // Splits path.node, which is full, and puts its new sibling into the parent, which is not. False: no
  // memory. When another thread is in the way it does nothing; the caller starts again either way.
  bool split(const Path& path, const uint64_t* key, NodeChanges* changes) {
    NodeWord* block = pool_.take();
    if (block == nullptr) return false;
    NodeWord* root_block = nullptr;
    if (!path.parent) {
      root_block = pool_.take();
      if (root_block == nullptr) {
        pool_.give_back(block);
        return false;
      }
    }
    if (!lock_for_split(path)) {
      pool_.give_back(block);
      if (root_block != nullptr) pool_.give_back(root_block);
      return true;
    }

    const Node node = path.node;
    const Node sibling(block);
    const uint32_t level = node.level();
    const uint64_t sibling_version = sibling.begin_life(level);
    IndexCursor::Key separator;
    move_upper_part(node, sibling, level, key, separator.data());
    if (path.parent) {
      insert_child(path.parent, path.index_in_parent, separator.data(), sibling);
      path.parent.unlock_changed(path.parent_version);
    } else {
      const Node top(root_block);
      const uint64_t top_version = top.begin_life(level + 1);
      top.set_value(shape_, level + 1, 0, node.block());
      top.set_value(shape_, level + 1, 1, sibling.block());
      top.store_key(shape_, 0, separator.data());
      top.set_meta(1, level + 1);
      top.unlock_unchanged(top_version);
      root_.store(root_block, std::memory_order_release);
    }
    sibling.unlock_unchanged(sibling_version);
    const uint64_t after = node.unlock_changed(path.version);
    if (changes != nullptr && level == 0) {
      // The sibling first: it is looked up by the version that the split one had before.
      changes->push_back({sibling.block(), path.version, sibling_version, node.block()});
      changes->push_back({node.block(), path.version, after});
    }
    return true;
  }

  bool lock_for_split(const Path& path) const {
    if (path.parent && !path.parent.try_lock(path.parent_version)) return false;
    if (path.node.try_lock(path.version)) {
      if (path.parent || path.node == root()) return true;
      path.node.unlock_unchanged(path.version);
      return false;
    }
    if (path.parent) path.parent.unlock_unchanged(path.parent_version);
    return false;
  }

  // Where a full node is split for a new key: in the middle, as a rule. But keys that come in ascending order
  // should fill nodes entirely: one above all others takes only the last one along. So should those that come
  // in ascending order within groups (a district's orders): one at the end of a group that has most of the
  // lower part takes only the next group along.
  uint32_t split_point(const Node& node, uint32_t count, const uint64_t* key) const {
    const uint32_t at = node.rank(shape_, count, key, false);
    if (at == count) return count - 1;
    const bool ends_group = shared_words(node, at / 2, key) > shared_words(node, at, key);
    return at > count / 2 && ends_group ? at : count / 2;
  }
  uint32_t shared_words(const Node& node, uint32_t i, const uint64_t* key) const {
    IndexCursor::Key other;
    node.load_key(shape_, i, other.data());
    uint32_t shared = 0;
    while (shared < words() && other[shared] == key[shared]) ++shared;
    return shared;
  }

  void move_upper_part(const Node& node, const Node& sibling, uint32_t level, const uint64_t* key,
                       uint64_t* separator) const {
    const uint32_t count = node.count();
    const uint32_t middle = split_point(node, count, key);
    node.load_key(shape_, middle, separator);
    // A leaf's separator stays the sibling's first key; an inner node's moves up.
    const uint32_t first = level == 0 ? middle : middle + 1;
    const uint32_t moved = count - first;
    for (uint32_t i = 0; i < moved; ++i) sibling.copy_entry(shape_, i, node, first + i);
    const uint32_t values = level == 0 ? moved : moved + 1;
    for (uint32_t i = 0; i < values; ++i) sibling.copy_value(shape_, level, i, node, first + i);
    sibling.set_meta(moved, level);
    node.set_meta(middle, level);
  }

  // Puts `sibling`, whose keys begin at `separator`, behind child `index` of a locked inner node that has
  // room.
  void insert_child(const Node& parent, uint32_t index, const uint64_t* separator,
                    const Node& sibling) const {
    const uint32_t level = parent.level();
    const uint32_t count = parent.count();
    for (uint32_t i = count; i > index; --i) {
      parent.copy_entry(shape_, i, parent, i - 1);
      parent.copy_value(shape_, level, i + 1, parent, i);
    }
    parent.store_key(shape_, index, separator);
    parent.set_value(shape_, level, index + 1, sibling.block());
    parent.set_meta(count + 1, level);
  }

  // Cuts out the empty leaf in whose range `key` lies. True also when there is nothing to cut; false: try
  // again.
  bool cut_out_empty_leaf(const uint64_t* key) {
    // The nodes from the lowest ancestor with two children or more down to the leaf.
    std::array<Path, kMaxLevels> chain;
    size_t length = 0;
    Path path;
    if (!start(path)) return false;
    for (;;) {
      const uint32_t level = path.node.level();
      const uint32_t count = bounded_count(path.node);
      if (path.node.version() != path.version) return false;
      if (level > 0 && count > 0) length = 0;
      CHECK(length < kMaxLevels);
      chain[length++] = path;
      if (level == 0) {
        if (count > 0 || chain[0].node.level() == 0) return true;
        break;
      }
      if (!step(path, level, path.node.rank(shape_, count, key, true))) return false;
    }
    if (chain[0].node.count() == 0) return true;  // the whole tree is this one chain

    for (size_t locked = 0; locked < length; ++locked) {
      if (chain[locked].node.try_lock(chain[locked].version)) continue;
      while (locked-- > 0) chain[locked].node.unlock_unchanged(chain[locked].version);
      return false;
    }
    remove_child(chain[0].node, chain[1].index_in_parent);
    chain[0].node.unlock_changed(chain[0].version);
    for (size_t i = 1; i < length; ++i) {
      chain[i].node.unlock_obsolete(chain[i].version);
      pool_.give_back(chain[i].node.block());
    }
    return true;
  }

  // The keys of the removed child's range fall to its left neighbour, or the first child's to its right one.
  void remove_child(const Node& parent, uint32_t index) const {
    const uint32_t level = parent.level();
    const uint32_t count = parent.count();
    for (uint32_t i = index > 0 ? index : 1; i < count; ++i) parent.copy_entry(shape_, i - 1, parent, i);
    for (uint32_t i = index; i < count; ++i) parent.copy_value(shape_, level, i, parent, i + 1);
    parent.set_meta(count - 1, level);
  }

  // 4^16 leaves; with the smallest fan-out of 4 that is far beyond any memory.
  static constexpr size_t kMaxLevels = 24;

  NodePool pool_;
};

}  // namespace

std::unique_ptr<Index> make_btree_index(uint32_t key_words, HugePageSource& memory) {
  CHECK(key_words >= 1 && key_words <= kMaxKeyWords);
  const size_t node_bytes = btree_node_bytes(key_words);
  switch (key_words) {
    case 1:
      return std::make_unique<BtreeIndex<1>>(key_words, node_bytes, memory);
    case 2:
      return std::make_unique<BtreeIndex<2>>(key_words, node_bytes, memory);
    case 3:
      return std::make_unique<BtreeIndex<3>>(key_words, node_bytes, memory);
    case 4:
      return std::make_unique<BtreeIndex<4>>(key_words, node_bytes, memory);
    default:
      return std::make_unique<BtreeIndex<0>>(key_words, node_bytes, memory);
  }
}

}  // namespace mneme
