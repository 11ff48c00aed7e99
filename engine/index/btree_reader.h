// BtreeReader: how entries of a BtreeIndex are found: one by one, many ahead of their use, and in walks.
//
// Reading     a descent takes no locks: it takes a child's version before it checks that the parent's still
//             stands, and starts again when something has changed. Leaves need no links, so splits stay
//             local: a walk forwards goes on to the next leaf by the parent of the last one, as long as that
//             parent stands; otherwise a walk descends to the fence that it found last.
// Writing     only BtreeIndex, which derives from it, changes nodes and the root.
// Threads     all but verify() and for_each(): any, beside writers.
// Source      Leis, Haubenschild, Neumann: "Optimistic Lock Coupling" (2019); node set: Silo (SOSP'13),
//             section 4.6.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "engine/index/btree_node.h"

namespace mneme {

template <uint32_t kWords>
class BtreeReader {
 public:
  using Node = BtreeNode<kWords>;
  using Shape = typename Node::Shape;

  BtreeReader(uint32_t key_words, size_t node_words)
      : shape_(Shape::of(key_words, node_words)), node_words_(node_words) {}

  // As Index has them.
  Row* find(const uint64_t* key, NodeVersion& node) const {
    if (Row* row = find_near(key, node)) return row;
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      Path path;
      if (!descend(key, true, path)) continue;
      const Node leaf = path.node;
      const uint32_t count = bounded_count(leaf);
      const uint32_t at = leaf.rank(shape_, count, key, false);
      Row* row = at < count && leaf.compare(shape_, at, key) == 0 ? leaf.row(shape_, at) : nullptr;
      if (leaf.version() != path.version) continue;
      node = {leaf.block(), path.version};
      return row;
    }
  }

  bool next(IndexCursor& cursor) const {
    if (cursor.done) return false;
    if (cursor.ahead != nullptr && begin_ahead(cursor)) return true;
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      const bool forward = cursor.direction == ScanDirection::kForward;
      Fences fences;
      Path path;
      const uint64_t* towards = forward ? cursor.low.data() : cursor.high.data();
      if (!(forward && step_aside(cursor, path, fences)) &&
          !descend(towards, forward || !cursor.high_exclusive, path, &fences)) {
        continue;
      }
      if (!read_leaf(path, cursor)) continue;
      cursor.parent = {path.parent.block(), path.parent_version};
      cursor.index_in_parent = path.index_in_parent;
      if (forward) {
        const bool more =
            fences.has_high && compare_words(fences.high.data(), cursor.high.data(), words()) <= 0;
        cursor.done = !more;
        if (more) std::copy_n(fences.high.data(), words(), cursor.low.data());
      } else {
        const bool more = fences.has_low && compare_words(fences.low.data(), cursor.low.data(), words()) > 0;
        cursor.done = !more;
        if (more) std::copy_n(fences.low.data(), words(), cursor.high.data());
        cursor.high_exclusive = true;
      }
      return true;
    }
  }

  void find_ahead(std::span<AheadLookup* const> lookups) const {
    DCHECK(lookups.size() <= Index::kMostAhead);
    std::array<AheadPath, Index::kMostAhead> paths;
    std::array<uint8_t, Index::kMostAhead> under_way;
    const Node top = root();
    size_t left = 0;
    for (; left < lookups.size(); ++left) {
      paths[left] = AheadPath{top};
      under_way[left] = static_cast<uint8_t>(left);
    }
    // A level at a time.
    while (left > 0) {
      size_t kept = 0;
      for (size_t i = 0; i < left; ++i) {
        const uint8_t at = under_way[i];
        if (step_ahead(*lookups[at], paths[at])) under_way[kept++] = at;
      }
      left = kept;
    }
  }

  void for_each(FunctionRef<void(const uint64_t*, Row*)> visit) const { walk(root(), visit); }

  void verify() const { verify_node(root(), root().level(), nullptr, nullptr); }

 protected:
  struct Path {
    Node node;
    uint64_t version = 0;
    Node parent;  // none for the root
    uint64_t parent_version = 0;
    uint32_t index_in_parent = 0;
  };
  // The keys of a leaf are >= low and < high.
  struct Fences {
    // Only a key of a width that is known is short enough to be set before it is there.
    Fences() {
      if constexpr (kWords != 0) low = high = {};
    }

    bool has_low = false;
    bool has_high = false;
    std::array<uint64_t, kWords != 0 ? kWords : kMaxKeyWords> low;
    std::array<uint64_t, kWords != 0 ? kWords : kMaxKeyWords> high;
  };

  uint32_t words() const { return shape_.words(); }
  Node root() const { return Node(root_.load(std::memory_order_acquire)); }

  // A count read without a lock may be of another life of the node.
  uint32_t bounded_count(const Node& node) const {
    return std::min(node.count(), Node::capacity(shape_, node.level()));
  }

  bool start(Path& path) const {
    path.node = root();
    path.version = path.node.unlocked_version();
    // A root that was split before its version was read is half a tree now.
    return (path.version & Node::kObsolete) == 0 && path.node == root();
  }

  // One level down. False: start again.
  bool step(Path& path, uint32_t level, uint32_t index) const {
    const Node child = path.node.child(shape_, level, index);
    if (path.node.version() != path.version) return false;
    child.prefetch();
    const uint64_t child_version = child.unlocked_version();
    if ((child_version & Node::kObsolete) != 0 || path.node.version() != path.version) return false;
    path = {child, child_version, path.node, path.version, index};
    return true;
  }

  // To the leaf that holds `key`, or (at_key false) the keys just below it.
  bool descend(const uint64_t* key, bool at_key, Path& path, Fences* fences = nullptr) const {
    if (!start(path)) return false;
    for (;;) {
      const uint32_t level = path.node.level();
      if (level == 0) return path.node.version() == path.version;
      const uint32_t count = bounded_count(path.node);
      const uint32_t index = path.node.rank(shape_, count, key, at_key);
      if (fences != nullptr) {
        if (index > 0) path.node.load_key(shape_, index - 1, fences->low.data());
        if (index < count) path.node.load_key(shape_, index, fences->high.data());
        fences->has_low |= index > 0;
        fences->has_high |= index < count;
      }
      if (!step(path, level, index)) return false;
    }
  }

  const Shape shape_;
  // Stored by the thread that holds the old root's lock (release), read by all (acquire).
  std::atomic<NodeWord*> root_{nullptr};

 private:
  // Where a look-up of find_ahead() stands.
  struct AheadPath {
    Node next{};    // on its way into the cache
    Node behind{};  // to be looked at where the way by `next` leads to no key that is high enough
    // The parents of these two, none for the root: where they still have their versions when a node's own is
    // read, the way to it was right at that moment.
    NodeVersion parent{};
    NodeVersion parent_of_behind{};
    NodeVersion passed{};  // the leaf that the way by `next` has led to
    bool is_sure = true;
  };

  // Looks at the node that was asked for, and asks for the next; false: there is none. A child's address is
  // only followed once the version has confirmed that it was one: a recycled block may hold rows in its
  // place. The child itself may be recycled by the next step, but will be some node still.
  [[gnu::always_inline]] bool step_ahead(AheadLookup& lookup, AheadPath& path) const {
    const Node node = path.next;
    const uint64_t version = node.version();
    if ((version & (Node::kLocked | Node::kObsolete)) != 0) return false;
    path.is_sure &= path.parent.node != nullptr ? path.parent.is_current() : node == root();
    const uint32_t level = node.level();
    const uint32_t count = std::min(node.count(), Node::capacity(shape_, level));
    if (level == 0) {
      const uint32_t at = node.rank(shape_, count, lookup.key, false);
      if (at < count) {
        lookup.row = node.row(shape_, at);
        const bool is_exact = node.compare(shape_, at, lookup.key) == 0;
        const bool has_stood = node.version() == version;
        lookup.is_exact = is_exact && has_stood;
        if (path.is_sure && has_stood) {
          lookup.leaf = {node.block(), version};
          lookup.passed = path.passed;
        }
        return false;
      }
      if (!path.behind) return false;
      path.passed = {node.block(), version};
      path.next = std::exchange(path.behind, Node());
      path.parent = path.parent_of_behind;
      Node::prefetch(path.next.block(), node_words_);
      return true;
    }
    const uint32_t at = node.rank(shape_, count, lookup.key, true);
    const Node child = node.child(shape_, level, at);
    // The first of the keys that begin like this one is often a leaf's first (split_point): then this leaf is
    // too early, and the way there goes by the nearest node that lies behind the path.
    const bool has_behind = at < count;
    const Node behind = has_behind ? node.child(shape_, level, at + 1) : child;
    if (node.version() != version) return false;
    Node::prefetch(child.block(), node_words_);
    path.next = child;
    path.parent = {node.block(), version};
    if (has_behind) {
      path.behind = behind;
      path.parent_of_behind = path.parent;
    }
    return level > 1 || lookup.wants_row;
  }

  // Reads the walk's first piece in the leaf that was found ahead, and says where the next one begins: behind
  // the leaf's last key, since no fence is known. False: the leaf, or what lies between the key and it, may
  // have changed.
  bool begin_ahead(IndexCursor& cursor) const {
    const AheadLookup& ahead = *std::exchange(cursor.ahead, nullptr);
    if (cursor.direction != ScanDirection::kForward || !ahead.leads_on()) return false;
    Path path;
    path.node = Node(const_cast<NodeWord*>(ahead.leaf.node));
    path.version = ahead.leaf.version;
    const uint32_t count = bounded_count(path.node);
    if (count == 0) return false;
    std::array<uint64_t, kWords != 0 ? kWords : kMaxKeyWords> last;
    path.node.load_key(shape_, count - 1, last.data());
    if (!read_leaf(path, cursor) || !ahead.leads_on()) return false;
    cursor.parent = {};
    cursor.done = compare_words(last.data(), cursor.high.data(), words()) >= 0;
    if (cursor.done) return true;
    for (uint32_t w = words(); w-- > 0 && ++last[w] == 0;) continue;
    std::copy_n(last.data(), words(), cursor.low.data());
    return true;
  }

  // Goes from the cursor's last leaf to the next one, which begins at the cursor's `low`, if their parent
  // still stands and says where the next one ends. False: `path` is what it was, and no fence is set.
  bool step_aside(const IndexCursor& cursor, Path& path, Fences& fences) const {
    if (cursor.parent.node == nullptr) return false;
    Path aside;
    aside.node = Node(const_cast<NodeWord*>(cursor.parent.node));
    aside.version = cursor.parent.version;
    const uint32_t index = cursor.index_in_parent + 1;
    if (index >= bounded_count(aside.node)) return false;
    aside.node.load_key(shape_, index, fences.high.data());
    if (!step(aside, aside.node.level(), index) || aside.node.level() > 0) return false;
    fences.has_high = true;
    path = aside;
    return true;
  }

  // The row under the key, if `near` still stands and has it; else nullptr.
  Row* find_near(const uint64_t* key, const NodeVersion& near) const {
    if (near.node == nullptr) return nullptr;
    const Node leaf(const_cast<NodeWord*>(near.node));
    if (leaf.version() != near.version) return nullptr;
    const uint32_t count = bounded_count(leaf);
    const uint32_t at = leaf.rank(shape_, count, key, false);
    if (at == count || leaf.compare(shape_, at, key) != 0) return nullptr;
    Row* const row = leaf.row(shape_, at);
    return leaf.version() == near.version ? row : nullptr;
  }

  bool read_leaf(const Path& path, IndexCursor& cursor) const {
    const Node leaf = path.node;
    const uint32_t count = bounded_count(leaf);
    const uint32_t first = leaf.rank(shape_, count, cursor.low.data(), false);
    const uint32_t last = leaf.rank(shape_, count, cursor.high.data(), !cursor.high_exclusive);
    cursor.count = last > first ? last - first : 0;
    const bool forward = cursor.direction == ScanDirection::kForward;
    const uint32_t begin = forward ? first : last - 1;
    const uint32_t step = forward ? 1 : ~uint32_t{0};
    for (uint32_t i = 0, from = begin; i < cursor.count; ++i, from += step)
      cursor.rows[i] = leaf.row(shape_, from);
    if (cursor.wants_keys) {
      for (uint32_t i = 0, from = begin; i < cursor.count; ++i, from += step)
        leaf.load_key(shape_, from, cursor.keys.data() + size_t{i} * words());
    }
    cursor.node = {leaf.block(), path.version};
    return leaf.version() == path.version;
  }

  void walk(const Node& node, FunctionRef<void(const uint64_t*, Row*)> visit) const {
    const uint32_t level = node.level();
    if (level > 0) {
      for (uint32_t i = 0; i <= node.count(); ++i) walk(node.child(shape_, level, i), visit);
      return;
    }
    for (uint32_t i = 0; i < node.count(); ++i) {
      IndexCursor::Key key;
      node.load_key(shape_, i, key.data());
      visit(key.data(), node.row(shape_, i));
    }
  }

  void verify_node(const Node& node, uint32_t level, const uint64_t* low, const uint64_t* high) const {
    CHECK((node.version() & (Node::kLocked | Node::kObsolete)) == 0);
    CHECK(node.level() == level);
    const uint32_t count = node.count();
    CHECK(count <= Node::capacity(shape_, level));
    std::vector<IndexCursor::Key> keys(count);
    for (uint32_t i = 0; i < count; ++i) {
      node.load_key(shape_, i, keys[i].data());
      if (i > 0) CHECK(compare_words(keys[i - 1].data(), keys[i].data(), words()) < 0);
      if (low != nullptr) CHECK(compare_words(low, keys[i].data(), words()) <= 0);
      if (high != nullptr) CHECK(compare_words(keys[i].data(), high, words()) < 0);
      if (level == 0) CHECK(node.row(shape_, i) != nullptr);
    }
    if (level == 0) return;
    for (uint32_t i = 0; i <= count; ++i) {
      verify_node(node.child(shape_, level, i), level - 1, i > 0 ? keys[i - 1].data() : low,
                  i < count ? keys[i].data() : high);
    }
  }

  const size_t node_words_;
};

}  // namespace mneme
