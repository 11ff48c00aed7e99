// HashIndex: linear hashing with optimistic readers and a lock in each bucket.
//
// Buckets     0 .. bucket_count-1 lie in segments, each as large as all before it, so growing moves no
//             bucket. A bucket knows its depth; a reader that comes with an old bucket count finds that its
//             hash no longer fits, and goes on to the bucket that was split off.
// Growing     an insert that needs an overflow block leaves a debt; the insert that finds 32 of them splits
//             the next 64 buckets, in order of their numbers, one grower at a time, while the others go on.
//             Buckets that are rather empty are not split: with steady inserts and deletes the index stops
//             growing. It never shrinks.
// Walks       a range that the hash does not lead to (an ad-hoc statement's) visits all buckets. The walk's
//             place is that of its last piece: the bucket, and the last key in it. A split moves entries to
//             buckets with higher numbers, where the walk finds them, perhaps again: then the version of the
//             bucket that it saw before is no longer current.
// Reading     the version of the bucket's head covers its chain: it is compared again before each step along
//             it. Overflow blocks are type-stable (node_pool.h).
// Source      Litwin, "Linear Hashing" (VLDB'80).
#include <mutex>
#include <optional>

#include "base/exhaustion.h"
#include "base/memory/prefetch.h"
#include "engine/index/hash_bucket.h"

namespace mneme {

namespace {

// kWords: words of a key where known at compile time and all of them hashed, 0 otherwise.
template <uint32_t kWords>
class HashIndex final : public Index {
 public:
  using Bucket = HashBucket<kWords>;
  using Shape = Bucket::Shape;

  HashIndex(uint32_t key_words, uint32_t hashed_words, HugePageSource& memory)
      : Index(key_words),
        hashed_words_told_(hashed_words),
        shape_(key_words),
        piece_entries_(std::min<uint32_t>(IndexCursor::kMaxEntries, IndexCursor::kMaxEntryWords / key_words)),
        first_segment_bits_(static_cast<uint32_t>(std::countr_zero(kHugePageBytes / shape_.block_bytes()))),
        memory_(memory),
        overflow_(shape_.block_bytes(), memory) {
    CHECK(hashed_words >= 1 && hashed_words <= key_words);
    if (!add_segment(0)) out_of_memory(0);
    for (uint64_t i = 0; i < kFirstBuckets; ++i) bucket(i).set_link(0, Bucket(nullptr), kFirstDepth);
    bucket_count_.store(kFirstBuckets, std::memory_order_release);
  }

  ~HashIndex() override {
    for (std::atomic<std::byte*>& segment : segments_) {
      if (std::byte* memory = segment.load(std::memory_order_relaxed)) memory_.release(memory);
    }
  }

  Row* find(const uint64_t* key, NodeVersion& node) const override {
    const uint64_t hash = hash_of(key);
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      const Home home = home_of(hash);
      const Bucket head = home.head;
      const uint64_t version = head.unlocked_version();
      if (!is_home(home, hash)) continue;
      Row* row = nullptr;
      const bool consistent = walk_blocks(head, version, [&](const Bucket& block, uint32_t count) {
        const uint32_t at = block.place_of(shape_, count, key, words());
        if (at == count) return true;
        row = block.row(shape_, at);
        return false;
      });
      if (!consistent) continue;
      node = {head.block(), version};
      return row;
    }
  }

  bool next(IndexCursor& cursor) const override {
    if (cursor.done) return false;
    if (compare_words(cursor.low.data(), cursor.high.data(), hashed_words()) != 0) return next_of_all(cursor);
    const uint64_t hash = hash_of(cursor.low.data());
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      const Home home = home_of(hash);
      const Bucket head = home.head;
      const uint64_t version = head.unlocked_version();
      if (!is_home(home, hash)) continue;
      cursor.count = 0;
      bool more = false;
      if (!walk_chain(head, version, [&](const Bucket& block, uint32_t i) {
            more |= take_into_piece(block, i, cursor);
            return true;
          })) {
        continue;
      }
      cursor.node = {head.block(), version};
      cursor.done = !more || !step_past_piece(cursor);
      return true;
    }
  }

  InsertStatus insert(const uint64_t* key, Row* row, Row*& existing, NodeChanges* changes,
                      InsertHint*) override {
    uint64_t version;
    const Bucket head = lock_home(hash_of(key), version);
    Bucket block(nullptr);
    uint32_t at = 0;
    if (find_locked(head, key, block, at)) {
      existing = block.row(shape_, at);
      head.unlock_unchanged(version);
      return InsertStatus::kExists;
    }
    for (block = head; block && block.count() == shape_.capacity();) block = block.next();
    const bool overflows = !block;
    if (overflows) {
      block = Bucket(overflow_.take());
      if (!block) {
        head.unlock_unchanged(version);
        return InsertStatus::kOutOfMemory;
      }
      block.set_link(0, head.next(), 0);
      head.set_next(block);
    }
    block.set_entry(shape_, block.count(), key, row);
    block.set_count(block.count() + 1);
    const uint64_t after = head.unlock_changed(version);
    if (changes != nullptr) changes->push_back({head.block(), version, after});
    if (overflows) pay_debt(changes);
    return InsertStatus::kInserted;
  }

  bool replace(const uint64_t* key, const Row* from, Row* to, NodeChanges* changes) override {
    uint64_t version;
    const Bucket head = lock_home(hash_of(key), version);
    Bucket block(nullptr);
    uint32_t at = 0;
    if (!find_locked(head, key, block, at) || block.row(shape_, at) != from) {
      head.unlock_unchanged(version);
      return false;
    }
    block.set_row(shape_, at, to);
    const uint64_t after = head.unlock_changed(version);
    if (changes != nullptr) changes->push_back({head.block(), version, after});
    return true;
  }

  bool erase(const uint64_t* key, const Row* row, const NodeVersion&) override {
    uint64_t version;
    const Bucket head = lock_home(hash_of(key), version);
    Bucket block(nullptr);
    uint32_t at = 0;
    if (!find_locked(head, key, block, at) || block.row(shape_, at) != row) {
      head.unlock_unchanged(version);
      return false;
    }
    fill_hole(head, block, at);
    head.unlock_changed(version);
    return true;
  }

  // All heads are asked for, then looked at, and then the few chains that go on. The bucket that the count
  // names may just be in the course of a split. Then the entry may be missed, no more.
  void find_ahead(std::span<AheadLookup* const> lookups) const override {
    DCHECK(lookups.size() <= kMostAhead);
    std::array<NodeWord*, kMostAhead> heads;
    const uint64_t bucket_count = bucket_count_.load(std::memory_order_acquire);
    for (size_t l = 0; l < lookups.size(); ++l) {
      const Bucket head = bucket(number_among(bucket_count, hash_of(lookups[l]->key)));
      heads[l] = head.block();
      prefetch(head);
    }
    std::array<uint8_t, kMostAhead> longer;
    size_t longer_count = 0;
    for (size_t l = 0; l < lookups.size(); ++l) {
      AheadLookup& lookup = *lookups[l];
      if (!lookup.wants_row) continue;
      const Bucket head(heads[l]);
      const uint64_t version = head.version();
      if (find_ahead_in(head, lookup)) {
        lookup.is_exact &= (version & Bucket::kLocked) == 0 && head.version() == version;
      } else if (const Bucket next = head.next()) {
        prefetch(next);
        longer[longer_count++] = static_cast<uint8_t>(l);
      }
    }
    for (size_t l = 0; l < longer_count; ++l) {
      AheadLookup& lookup = *lookups[longer[l]];
      const Bucket head(heads[longer[l]]);
      const uint64_t version = head.version();
      if ((version & Bucket::kLocked) != 0) continue;
      // The head's version covers the chain, and ends a walk that has come to another one.
      for (Bucket block = head.next(); block && head.version() == version; block = block.next()) {
        if (!find_ahead_in(block, lookup)) continue;
        lookup.is_exact &= head.version() == version;
        break;
      }
    }
  }

  void for_each(FunctionRef<void(const uint64_t*, Row*)> visit) const override {
    const uint64_t count = bucket_count_.load(std::memory_order_acquire);
    for (uint64_t number = 0; number < count; ++number) {
      for (Bucket block = bucket(number); block; block = block.next()) {
        for (uint32_t i = 0; i < block.count(); ++i) {
          IndexCursor::Key key;
          block.load_key(shape_, i, key.data());
          visit(key.data(), block.row(shape_, i));
        }
      }
    }
  }

  size_t memory_bytes() const override {
    size_t bytes = overflow_.memory_bytes();
    for (uint32_t i = 0; i < kMaxSegments; ++i) {
      if (segments_[i].load(std::memory_order_relaxed) != nullptr) bytes += segment_bytes(i);
    }
    return bytes;
  }

  void verify() const override {
    const uint64_t count = bucket_count_.load(std::memory_order_acquire);
    for (uint64_t number = 0; number < count; ++number) {
      const Bucket head = bucket(number);
      CHECK((head.version() & Bucket::kLocked) == 0);
      // Those that were split in the current round, and those split off in it, are one bit deeper than the
      // rest.
      const uint32_t level = static_cast<uint32_t>(std::bit_width(count) - 1);
      const bool deeper = number + (uint64_t{1} << level) < count || number >= (uint64_t{1} << level);
      CHECK(head.depth() == level + (deeper ? 1 : 0));
      std::vector<IndexCursor::Key> keys;
      for (Bucket block = head; block; block = block.next()) {
        CHECK(block.count() <= shape_.capacity());
        CHECK(block == head || block.count() > 0);
        for (uint32_t i = 0; i < block.count(); ++i) {
          IndexCursor::Key key{};
          block.load_key(shape_, i, key.data());
          CHECK((hash_of(key.data()) & mask(head.depth())) == number);
          CHECK(std::ranges::find(keys, key) == keys.end());
          CHECK(block.row(shape_, i) != nullptr);
          keys.push_back(key);
        }
      }
    }
  }

 private:
  static constexpr uint32_t kFirstDepth = 6;
  static constexpr uint64_t kFirstBuckets = uint64_t{1} << kFirstDepth;
  static constexpr uint64_t kGrowBuckets = 64;
  static_assert(kFirstBuckets % kGrowBuckets == 0, "a batch of splits stays within one round of doubling");
  // Two buckets for each overflow block: settles at about 60% of the entries' places taken.
  static constexpr uint64_t kGrowDebt = 32;
  static constexpr size_t kMaxSegments = 40;

  uint32_t words() const { return shape_.key_words(); }
  uint32_t hashed_words() const { return kWords != 0 ? kWords : hashed_words_told_; }

  static uint64_t mask(uint32_t depth) { return (uint64_t{1} << depth) - 1; }

  uint64_t hash_of(const uint64_t* key) const {
    uint64_t hash = 0x9e3779b97f4a7c15;
    for (uint32_t i = 0; i < hashed_words(); ++i) {
      // A multiplication spreads upwards only, so its high bits are brought down after each word.
      hash = (hash ^ key[i]) * 0xd6e8feb86659fd93;
      hash ^= hash >> 32;
    }
    hash *= 0xd6e8feb86659fd93;
    return hash ^ hash >> 29;
  }

  Bucket bucket(uint64_t number) const {
    const auto width = static_cast<uint32_t>(std::bit_width(number));
    if (width <= first_segment_bits_) return in_segment(0, number);
    return in_segment(width - first_segment_bits_, number ^ (uint64_t{1} << (width - 1)));
  }
  Bucket in_segment(uint32_t segment, uint64_t place) const {
    std::byte* memory = segments_[segment].load(std::memory_order_acquire);
    return Bucket(reinterpret_cast<NodeWord*>(memory + place * shape_.block_bytes()));
  }
  static size_t segment_bytes(uint32_t segment) { return kHugePageBytes << (segment == 0 ? 0 : segment - 1); }
  bool add_segment(uint32_t segment) {
    if (segment >= kMaxSegments) return false;
    std::byte* memory = segment == 0 ? memory_.allocate_first(memory_.numa().node())
                                     : memory_.allocate(segment_bytes(segment));
    if (memory == nullptr) return false;
    segments_[segment].store(memory, std::memory_order_release);
    return true;
  }

  void prefetch(const Bucket& block) const {
    constexpr size_t kMostBytes = 2048;
    if constexpr (kWords != 0) {
      constexpr size_t kBytes = std::min(Shape(kWords).block_bytes(), kMostBytes);
      prefetch_first_lines<kBytes / kCacheLineBytes>(block.block());
    } else {
      prefetch_lines(block.block(), std::min(shape_.block_bytes(), kMostBytes));
    }
  }

  // What it reads has one type for ever, and a block's address comes in one word.
  bool find_ahead_in(const Bucket& block, AheadLookup& lookup) const {
    const uint32_t count = std::min(block.count(), shape_.capacity());
    const uint32_t at = block.place_of(shape_, count, lookup.key, hashed_words());
    if (at == count) return false;
    lookup.row = block.row(shape_, at);
    lookup.is_exact = hashed_words() == words();
    return true;
  }

  // The bucket of a hash as far as the bucket count that we see tells.
  uint64_t number_of(uint64_t hash) const {
    return number_among(bucket_count_.load(std::memory_order_acquire), hash);
  }
  static uint64_t number_among(uint64_t count, uint64_t hash) {
    const auto level = static_cast<uint32_t>(std::bit_width(count) - 1);
    const uint64_t number = hash & mask(level + 1);
    return number < count ? number : hash & mask(level);
  }

  struct Home {
    Bucket head;
    uint64_t number;
  };
  // The bucket of a hash as far as the bucket count that we see tells, and then as the buckets' own depths
  // do: from a bucket on to the one that was split off it at the lowest bit in which the hash differs, and so
  // on. Not straight to the number that the depth gives: a bucket may have been split twice since the count
  // was read, before the first one split off it was split at all, and the straight way would end in a bucket
  // that is not in use yet.
  Home home_of(uint64_t hash) const {
    uint64_t number = number_of(hash);
    for (;;) {
      const Bucket head = bucket(number);
      const uint64_t differing = (hash & mask(head.depth())) ^ number;
      if (differing == 0) return {head, number};
      number |= differing & -differing;
    }
  }
  // Whether it is still, or was split in between. Under a lock, or to be confirmed by the version read
  // before.
  static bool is_home(const Home& home, uint64_t hash) {
    return (hash & mask(home.head.depth())) == home.number;
  }

  Bucket lock_home(uint64_t hash, uint64_t& version) const {
    for (;;) {
      const Home home = home_of(hash);
      version = home.head.lock();
      if (is_home(home, hash)) return home.head;
      home.head.unlock_unchanged(version);
    }
  }

  // Calls visit(block, count of its entries) for the blocks until it returns false. False: the bucket changed
  // meanwhile.
  template <typename Visit>
  bool walk_blocks(const Bucket& head, uint64_t version, Visit&& visit) const {
    for (Bucket block = head; block;) {
      if (!visit(block, std::min(block.count(), shape_.capacity()))) return head.version() == version;
      const Bucket next = block.next();
      if (head.version() != version) return false;
      block = next;
    }
    return true;
  }

  // The same for each entry: visit(block, i).
  template <typename Visit>
  bool walk_chain(const Bucket& head, uint64_t version, Visit&& visit) const {
    return walk_blocks(head, version, [&](const Bucket& block, uint32_t count) {
      for (uint32_t i = 0; i < count; ++i) {
        if (!visit(block, i)) return false;
      }
      return true;
    });
  }

  // Under the lock of `head`.
  bool find_locked(const Bucket& head, const uint64_t* key, Bucket& block, uint32_t& at) const {
    for (block = head; block; block = block.next()) {
      at = block.place_of(shape_, block.count(), key, words());
      if (at < block.count()) return true;
    }
    return false;
  }

  // Moves an entry from the first overflow block, or the head's last one, into the place of the one to be
  // removed.
  void fill_hole(const Bucket& head, const Bucket& block, uint32_t at) {
    const Bucket donor = head.next() ? head.next() : head;
    const uint32_t last = donor.count() - 1;
    IndexCursor::Key key;
    donor.load_key(shape_, last, key.data());
    block.set_entry(shape_, at, key.data(), donor.row(shape_, last));
    donor.set_count(last);
    if (last == 0 && !(donor == head)) {
      head.set_next(donor.next());
      overflow_.give_back(donor.block());
    }
  }

  // Keeps the piece the smallest of the entries in the cursor's range, in order; true when one had to stay
  // out.
  bool take_into_piece(const Bucket& block, uint32_t i, IndexCursor& cursor) const {
    IndexCursor::Key key;
    block.load_key(shape_, i, key.data());
    if (compare_words(key.data(), cursor.low.data(), words()) < 0) return false;
    if (compare_words(key.data(), cursor.high.data(), words()) > 0) return false;
    uint32_t at = cursor.count;
    while (at > 0 && compare_words(key.data(), cursor.key(at - 1), words()) < 0) --at;
    const bool full = cursor.count == piece_entries_;
    if (full && at == cursor.count) return true;
    if (!full) ++cursor.count;
    for (uint32_t to = cursor.count - 1; to > at; --to) {
      std::copy_n(cursor.key(to - 1), words(), cursor.keys.data() + size_t{to} * words());
      cursor.rows[to] = cursor.rows[to - 1];
    }
    std::copy_n(key.data(), words(), cursor.keys.data() + size_t{at} * words());
    cursor.rows[at] = block.row(shape_, i);
    return full;
  }
  // The next piece of a walk over all buckets, which may be empty.
  bool next_of_all(IndexCursor& cursor) const {
    uint64_t number = 0;
    std::optional<IndexCursor::Key> after;
    if (cursor.node.node != nullptr) {
      number = number_of_block(cursor.node.node);
      if (cursor.count == piece_entries_) {
        after.emplace();
        std::copy_n(cursor.key(cursor.count - 1), words(), after->data());
      } else if (++number >= bucket_count_.load(std::memory_order_acquire)) {
        cursor.done = true;
        return false;
      }
    }
    const Bucket head = bucket(number);
    for (uint32_t tries = 0;; spin_pause(tries++)) {
      const uint64_t version = head.unlocked_version();
      cursor.count = 0;
      const bool consistent = walk_chain(head, version, [&](const Bucket& block, uint32_t i) {
        IndexCursor::Key key;
        block.load_key(shape_, i, key.data());
        if (!after || compare_words(key.data(), after->data(), words()) > 0)
          take_into_piece(block, i, cursor);
        return true;
      });
      if (!consistent) continue;
      cursor.node = {head.block(), version};
      return true;
    }
  }
  uint64_t number_of_block(const NodeWord* block) const {
    const auto address = reinterpret_cast<const std::byte*>(block);
    for (uint32_t i = 0;; ++i) {
      CHECK(i < kMaxSegments);
      const std::byte* memory = segments_[i].load(std::memory_order_acquire);
      if (memory == nullptr || address < memory || address >= memory + segment_bytes(i)) continue;
      const uint64_t place = static_cast<uint64_t>(address - memory) / shape_.block_bytes();
      return i == 0 ? place : (uint64_t{1} << (first_segment_bits_ + i - 1)) + place;
    }
  }

  // Moves the range's low end behind the piece; false when nothing is left.
  bool step_past_piece(IndexCursor& cursor) const {
    std::copy_n(cursor.key(cursor.count - 1), words(), cursor.low.data());
    for (uint32_t i = words(); i-- > 0;) {
      if (++cursor.low[i] != 0) break;
    }
    return compare_words(cursor.low.data(), cursor.high.data(), words()) <= 0;
  }

  // ---- growing ----

  void pay_debt(NodeChanges* changes) {
    if (debt_.fetch_add(1, std::memory_order_relaxed) + 1 < kGrowDebt) return;
    std::unique_lock lock(grow_mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return;  // the grower sees the debt
    while (debt_.load(std::memory_order_relaxed) >= kGrowDebt) {
      debt_.fetch_sub(kGrowDebt, std::memory_order_relaxed);
      if (!grow(changes)) return;
    }
  }

  // False: not worth it, or no memory; chains get longer instead.
  bool grow(NodeChanges* changes) {
    const uint64_t count = bucket_count_.load(std::memory_order_relaxed);
    const auto level = static_cast<uint32_t>(std::bit_width(count) - 1);
    const uint64_t first = count - (uint64_t{1} << level);
    uint64_t entries = 0;
    for (uint64_t i = 0; i < kGrowBuckets; ++i) entries += bucket(first + i).count();
    if (entries * 5 < kGrowBuckets * shape_.capacity() * 2) return false;

    const auto width = static_cast<uint32_t>(std::bit_width(count));
    if (width > first_segment_bits_ && std::has_single_bit(count)) {
      const uint32_t segment = width - first_segment_bits_;
      if (segments_[segment].load(std::memory_order_relaxed) == nullptr && !add_segment(segment))
        return false;
    }
    for (uint64_t i = 0; i < kGrowBuckets; ++i) split(bucket(first + i), bucket(count + i), level, changes);
    bucket_count_.store(count + kGrowBuckets, std::memory_order_release);
    const uint64_t small_buckets = kSmallUseBytes / shape_.block_bytes();
    if (count <= small_buckets && count + kGrowBuckets > small_buckets)
      memory_.outgrown(segments_[0].load(std::memory_order_relaxed));
    return true;
  }

  // Moves the entries of `from` whose hash has bit `depth` set to the new bucket `to`.
  void split(const Bucket& from, const Bucket& to, uint32_t depth, NodeChanges* changes) {
    const uint64_t version = from.lock();
    const uint64_t to_version = to.lock();
    std::vector<uint64_t>& keys = moving_keys_;
    std::vector<Row*>& rows = moving_rows_;
    std::vector<Bucket>& blocks = spare_blocks_;
    for (Bucket block = from; block; block = block.next()) {
      if (!(block == from)) blocks.push_back(block);
      for (uint32_t i = 0; i < block.count(); ++i) {
        keys.resize(keys.size() + words());
        block.load_key(shape_, i, keys.data() + keys.size() - words());
        rows.push_back(block.row(shape_, i));
      }
    }
    // The new bucket first: a reader that sees the old one's new depth goes on to the new one, and must find
    // its depth there.
    to.set_link(0, Bucket(nullptr), depth + 1);
    from.set_link(0, Bucket(nullptr), depth + 1);
    for (size_t i = 0; i < rows.size(); ++i) {
      const uint64_t* const key = keys.data() + i * words();
      const bool moves = (hash_of(key) >> depth & 1) != 0;
      append(moves ? to : from, key, rows[i]);
    }
    // Both buckets together need no more overflow blocks than the one had.
    for (const Bucket& block : blocks) overflow_.give_back(block.block());
    keys.clear();
    rows.clear();
    blocks.clear();

    const uint64_t to_after = to.unlock_changed(to_version);
    const uint64_t after = from.unlock_changed(version);
    if (changes != nullptr) {
      changes->push_back({to.block(), version, to_after, from.block()});
      changes->push_back({from.block(), version, after});
    }
  }

  void append(const Bucket& head, const uint64_t* key, Row* row) {
    // The head's next block is the one with room, when the head has none.
    Bucket block = head.count() < shape_.capacity() ? head : head.next();
    if (!block || block.count() == shape_.capacity()) {
      CHECK(!spare_blocks_.empty());
      block = spare_blocks_.back();
      spare_blocks_.pop_back();
      block.set_link(0, head.next(), 0);
      head.set_next(block);
    }
    block.set_entry(shape_, block.count(), key, row);
    block.set_count(block.count() + 1);
  }

  const uint32_t hashed_words_told_;
  const Shape shape_;
  const uint32_t piece_entries_;
  const uint32_t first_segment_bits_;  // of the number of buckets in segment 0, a power of two
  HugePageSource& memory_;
  NodePool overflow_;
  // Set by the grower (release: a new segment's memory), read by all (acquire).
  std::array<std::atomic<std::byte*>, kMaxSegments> segments_{};

  // Set by the grower (release: the buckets below it are in use), read by all (acquire). Stale is safe:
  // buckets know their depth. Alone on its line, for it changes seldom and everybody reads it.
  alignas(kCacheLineBytes) std::atomic<uint64_t> bucket_count_{0};
  // Overflow blocks taken since the last growing. Relaxed: a hint, nothing is published through it.
  alignas(kCacheLineBytes) std::atomic<uint64_t> debt_{0};

  std::mutex grow_mutex_;
  // Guarded by grow_mutex_: scratch of split().
  std::vector<uint64_t> moving_keys_;  // one after the other
  std::vector<Row*> moving_rows_;
  std::vector<Bucket> spare_blocks_;
};

}  // namespace

std::unique_ptr<Index> make_hash_index(uint32_t key_words, uint32_t hashed_words, HugePageSource& memory) {
  CHECK(key_words >= 1 && key_words <= kMaxKeyWords);
  switch (hashed_words == key_words ? key_words : 0) {
    case 1:
      return std::make_unique<HashIndex<1>>(key_words, hashed_words, memory);
    case 2:
      return std::make_unique<HashIndex<2>>(key_words, hashed_words, memory);
    case 3:
      return std::make_unique<HashIndex<3>>(key_words, hashed_words, memory);
    default:
      return std::make_unique<HashIndex<0>>(key_words, hashed_words, memory);
  }
}

}  // namespace mneme
