// Goal: both kinds of index are ordered maps to their callers, their versions notice every change, and
// their structure stays whole. Method: random operations on an index and on a std::map side by side.
#include "engine/index/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace mneme {
namespace {

struct Kind {
  const char* name;
  bool is_hash;
  uint32_t key_words;
};

class IndexTest : public testing::TestWithParam<Kind> {
 protected:
  using Key = std::vector<uint64_t>;

  IndexTest() : words(GetParam().key_words) {
    index = GetParam().is_hash ? make_hash_index(words, (words + 1) / 2, memory)
                               : make_btree_index(words, memory);
  }

  // Keys whose leading words collide: in a tree often, in a hash table a few under each hash.
  Key key_of(uint64_t n) const {
    Key key(words);
    for (uint32_t i = 0; i < words; ++i) key[i] = i + 1 == words ? n : (GetParam().is_hash ? n / 3 : n % 7);
    return key;
  }
  // Rows are never looked into: any distinct addresses do.
  static Row* row_of(uint64_t n) { return reinterpret_cast<Row*>(8 * (n + 1)); }

  Index::InsertStatus insert(const Key& key, Row* row) {
    Row* existing = nullptr;
    return index->insert(key.data(), row, existing, nullptr, &hint);
  }
  Row* find(const Key& key) const {
    NodeVersion node;
    return index->find(key.data(), node);
  }
  // Returns what a look-up ahead finds, among others and while no thread writes. Where all words of a key are
  // hashed, or in a tree, it is exact.
  Row* find_ahead(const Key& key) const {
    std::vector<Key> keys;
    for (uint64_t n = 0; n < 12; ++n) keys.push_back(n == 7 ? key : key_of(n * 131));
    std::vector<AheadLookup> lookups;
    for (const Key& each : keys) lookups.push_back({.key = each.data(), .wants_row = lookups.size() != 8});
    std::vector<AheadLookup*> together;
    for (AheadLookup& each : lookups) together.push_back(&each);
    index->find_ahead(together);
    for (const AheadLookup& each : lookups) {
      Row* const row = find(Key(each.key, each.key + words));
      EXPECT_TRUE(!each.is_exact || each.row == row);
      if (each.wants_row && (!GetParam().is_hash || words == 1)) {
        EXPECT_EQ(each.is_exact, row != nullptr);
      }
    }
    return lookups[7].row;
  }
  std::vector<std::pair<Key, Row*>> walk(const Key& low, const Key& high, ScanDirection direction,
                                         const AheadLookup* ahead = nullptr) const {
    std::vector<std::pair<Key, Row*>> entries;
    IndexCursor cursor(low, high, direction);
    cursor.ahead = ahead;
    while (index->next(cursor)) {
      for (uint32_t i = 0; i < cursor.count; ++i) {
        entries.emplace_back(Key(cursor.key(i), cursor.key(i) + words), cursor.rows[i]);
      }
    }
    return entries;
  }

  HugePageSource memory;
  const uint32_t words;
  std::unique_ptr<Index> index;
  InsertHint hint;
};

TEST_P(IndexTest, BehavesAsAMap) {
  std::map<Key, Row*> model;
  std::mt19937_64 random(GetParam().key_words);
  // The space of keys grows and shrinks with the phase: from empty to well filled and back, three times.
  for (int step = 0; step < 60000; ++step) {
    const bool fill = step / 10000 % 2 == 0;
    const Key key = key_of(random() % 9000);
    Row* row = row_of(random() % 1000);
    const auto entry = model.find(key);
    if (random() % 10 < (fill ? 8u : 2u)) {
      const Index::InsertStatus status = insert(key, row);
      ASSERT_EQ(status, entry == model.end() ? Index::InsertStatus::kInserted : Index::InsertStatus::kExists);
      model.try_emplace(key, row);
    } else if (entry == model.end()) {
      ASSERT_FALSE(index->erase(key.data(), row));
    } else {
      ASSERT_FALSE(index->erase(key.data(), row_of(5000))) << "the entry leads to another row";
      ASSERT_TRUE(index->erase(key.data(), entry->second));
      model.erase(entry);
    }
    const Key other = key_of(random() % 9000);
    const auto found = model.find(other);
    ASSERT_EQ(find(other), found == model.end() ? nullptr : found->second);
    // A hash index is looked through by the words that it hashes.
    if (found != model.end() && GetParam().is_hash && words > 1) {
      ASSERT_NE(find_ahead(other), nullptr);
    } else if (found != model.end()) {
      ASSERT_EQ(find_ahead(other), found->second);
    }
    if (step % 10000 == 9999) index->verify();
  }
  std::map<Key, Row*> entries;
  index->for_each([&](const uint64_t* key, Row* row) {
    EXPECT_TRUE(entries.emplace(Key(key, key + words), row).second);
  });
  EXPECT_EQ(entries, model);
}

// Between two pieces of a walk, the leaf that was read is split, and the next one becomes the tree's last.
TEST_P(IndexTest, AWalkMeetsEachEntryOnceWhereLeavesHaveComeAndGone) {
  if (GetParam().is_hash) return;
  const auto spaced = [&](uint64_t n) {
    Key key(words, 0);
    key.back() = n;
    return key;
  };
  constexpr uint64_t kEntries = 400;
  constexpr uint64_t kSpace = 10;
  for (uint64_t n = 0; n < kEntries; ++n)
    ASSERT_EQ(insert(spaced(n * kSpace), row_of(n)), Index::InsertStatus::kInserted);
  IndexCursor pieces(spaced(0), spaced(~uint64_t{0}), ScanDirection::kForward);
  IndexCursor cursor(spaced(0), spaced(~uint64_t{0}), ScanDirection::kForward);
  ASSERT_TRUE(index->next(pieces));
  const uint64_t second = pieces.count;
  ASSERT_TRUE(index->next(pieces));
  const uint64_t third = second + pieces.count;
  ASSERT_LT(third, kEntries);

  ASSERT_TRUE(index->next(cursor));
  for (uint64_t n = third; n < kEntries; ++n) ASSERT_TRUE(index->erase(spaced(n * kSpace).data(), row_of(n)));
  for (uint64_t n = 0; n + 1 < second; ++n) {
    for (uint64_t behind = 1; behind < 5; ++behind)
      ASSERT_EQ(insert(spaced(n * kSpace + behind), row_of(n)), Index::InsertStatus::kInserted);
  }
  std::vector<uint64_t> met;
  while (index->next(cursor)) {
    for (uint32_t i = 0; i < cursor.count; ++i) met.push_back(cursor.key(i)[words - 1]);
  }
  std::vector<uint64_t> expected;
  for (uint64_t n = second; n < third; ++n) expected.push_back(n * kSpace);
  EXPECT_EQ(met, expected);
}

TEST_P(IndexTest, RunsOfEntriesGoInAsOneAfterTheOther) {
  std::map<Key, Row*> model;
  std::mt19937_64 random(10 + GetParam().key_words);
  uint64_t refused = 0;
  for (int step = 0; step < 12000; ++step) {
    std::vector<Key> keys;
    std::vector<IndexEntry> entries;
    // Side by side, or all over; to the end of a group that grows, or anywhere.
    const uint64_t begin = random() % 3 == 0 ? 7 * static_cast<uint64_t>(step) : random() % 90000;
    const uint64_t stride = random() % 2 == 0 ? 7 : random() % 20;
    const size_t count = 1 + random() % 12;
    for (size_t i = 0; i < count; ++i) keys.push_back(key_of(begin + i * stride));
    for (const Key& key : keys) entries.push_back({key.data(), row_of(random() % 1000)});
    size_t expected = 0;
    while (expected < count && model.try_emplace(keys[expected], entries[expected].row).second) ++expected;
    size_t done = 0;
    Row* existing = nullptr;
    const Index::InsertStatus status = index->insert_run(entries, hint, done, existing);
    ASSERT_EQ(done, expected);
    ASSERT_EQ(status, expected == count ? Index::InsertStatus::kInserted : Index::InsertStatus::kExists);
    if (expected < count) {
      ASSERT_EQ(existing, model.at(keys[expected]));
      ++refused;
    }
    const auto gone = model.begin();
    if (step % 3 == 0) {
      ASSERT_TRUE(index->erase(gone->first.data(), gone->second));
      model.erase(gone);
    }
  }
  EXPECT_GT(refused, 100u);
  index->verify();
  std::map<Key, Row*> entries;
  index->for_each([&](const uint64_t* key, Row* row) { entries.emplace(Key(key, key + words), row); });
  EXPECT_EQ(entries, model);
}

TEST(BtreeIndex, KeysInAscendingOrderWithinGroupsFillNodes) {
  // Orders of 40 districts, in ascending order within each, and each the lines of an order at once; the first
  // third district by district, as a population comes.
  constexpr uint64_t kGroups = 40, kOrders = 900, kLines = 10;
  HugePageSource memory;
  const auto index = make_btree_index(2, memory);
  std::mt19937_64 random(1);
  std::vector<uint64_t> next(kGroups, 0);
  Row* const row = reinterpret_cast<Row*>(uintptr_t{8});
  Row* existing = nullptr;
  const auto insert_order = [&](uint64_t group) {
    for (uint64_t line = 0; line < kLines; ++line) {
      const uint64_t key[] = {group, next[group] << 32 | line};
      ASSERT_EQ(index->insert(key, row, existing, nullptr), Index::InsertStatus::kInserted);
    }
    ++next[group];
  };
  for (uint64_t i = 0; i < kGroups * kOrders / 3; ++i) insert_order(i / (kOrders / 3));
  for (uint64_t i = 0; i < kGroups * kOrders * 2 / 3; ++i) insert_order(random() % kGroups);
  index->verify();
  const size_t entries = kGroups * kOrders * kLines;
  EXPECT_LT(index->memory_bytes(), entries * 24 * 5 / 4 + kHugePageBytes)
      << "at most a quarter of a leaf is empty";
}

TEST_P(IndexTest, WalksRangesBothWays) {
  std::map<Key, Row*> model;
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const uint64_t n = random() % 20000;
    insert(key_of(n), row_of(n));
    model.try_emplace(key_of(n), row_of(n));
  }
  for (int i = 0; i < 300; ++i) {
    Key low = key_of(random() % 20000), high = key_of(random() % 20000);
    // A hash index walks ranges within one hashed prefix.
    if (GetParam().is_hash) std::copy_n(low.begin(), (words + 1) / 2, high.begin());
    if (high < low) std::swap(low, high);
    std::vector<std::pair<Key, Row*>> expected(model.lower_bound(low), model.upper_bound(high));
    ASSERT_EQ(walk(low, high, ScanDirection::kForward), expected);
    if (GetParam().is_hash) continue;
    std::ranges::reverse(expected);
    ASSERT_EQ(walk(low, high, ScanDirection::kBackward), expected);
  }
}

TEST_P(IndexTest, EveryChangeShowsInTheVersionsOfWhatItChanged) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 3000; ++i) {
    const uint64_t n = random() % 5000;
    const Key key = key_of(n);
    NodeVersion node;
    Row* row = index->find(key.data(), node);
    ASSERT_TRUE(node.is_current());
    NodeChanges changes;
    if (row == nullptr) {
      Row* existing = nullptr;
      index->insert(key.data(), row_of(n), existing, &changes);
    } else if (i % 2 == 0) {
      ASSERT_TRUE(index->replace(key.data(), row, row_of(n + 1), &changes));
    } else {
      ASSERT_TRUE(index->erase(key.data(), row));
      EXPECT_FALSE(node.is_current());
      continue;
    }
    EXPECT_FALSE(node.is_current());
    // The reported changes lead from what was watched to the present.
    std::map<const NodeWord*, uint64_t> watched{{node.node, node.version}};
    for (const NodeChange& change : changes) {
      const auto from = watched.find(change.split_from != nullptr ? change.split_from : change.node);
      if (from == watched.end() || from->second != change.before) continue;
      watched[change.node] = change.after;
    }
    for (const auto& [word, version] : watched) EXPECT_TRUE((NodeVersion{word, version}.is_current()));
    NodeVersion now;
    index->find(key.data(), now);
    EXPECT_TRUE(watched.contains(now.node)) << "the key's node is one of those that are watched";
  }
}

// A queue: inserted at one end, erased at the other. Empty leaves must not pile up, nor a hash index grow for
// ever.
TEST_P(IndexTest, AQueueKeepsItsSize) {
  constexpr uint64_t kLength = 500;
  const size_t before = memory.bytes_allocated();
  for (uint64_t n = 0; n < 60000; ++n) {
    ASSERT_EQ(insert(key_of(n), row_of(n)), Index::InsertStatus::kInserted);
    if (n < kLength) continue;
    ASSERT_TRUE(index->erase(key_of(n - kLength).data(), row_of(n - kLength)));
  }
  index->verify();
  EXPECT_LE(memory.bytes_allocated(), before + 2 * kHugePageBytes);
  if (GetParam().is_hash) return;
  Key low(words, 0), high(words, ~uint64_t{0});
  IndexCursor cursor(low, high, ScanDirection::kForward);
  size_t pieces = 0, entries = 0;
  while (index->next(cursor)) {
    ++pieces;
    entries += cursor.count;
  }
  EXPECT_EQ(entries, kLength);
  EXPECT_LT(pieces, kLength) << "a walk meets few empty leaves";
}

// Goal: a walk that is led by what was looked up ahead sees what another one sees, whatever came and went
// meanwhile. Method: a walk some random changes behind its look-up, near and far.
TEST_P(IndexTest, AWalkMayBeginWhereALookupAheadEnded) {
  if (GetParam().is_hash) return;
  constexpr uint64_t kKeys = 4000;
  std::mt19937_64 random(7);
  std::map<Key, Row*> model;
  const auto change = [&](uint64_t n) {
    const Key key = key_of(n);
    if (model.erase(key) > 0) {
      ASSERT_TRUE(index->erase(key.data(), row_of(n)));
    } else {
      ASSERT_EQ(insert(key, row_of(n)), Index::InsertStatus::kInserted);
      model.emplace(key, row_of(n));
    }
  };
  for (uint64_t n = 0; n < kKeys; n += 2) change(n);
  size_t led = 0;
  for (int round = 0; round < 20000; ++round) {
    const uint64_t n = random() % kKeys;
    const Key low = key_of(n);
    AheadLookup ahead{.key = low.data()};
    AheadLookup* const together[] = {&ahead};
    index->find_ahead(together);
    for (uint64_t changes = random() % 4; changes > 0; --changes)
      change(random() % 2 == 0 ? (n + 7 * (random() % 8)) % kKeys : random() % kKeys);
    led += ahead.leads_on() ? 1 : 0;
    Key high = low;
    high.back() += random() % 4 == 0 ? kKeys : random() % 100;
    const auto from = model.lower_bound(low);
    const std::vector<std::pair<Key, Row*>> expected(from, model.upper_bound(high));
    ASSERT_EQ(walk(low, high, ScanDirection::kForward, &ahead), expected) << "round " << round;
  }
  EXPECT_GT(led, 5000u);
  EXPECT_LT(led, 19000u);
}

TEST_P(IndexTest, AWalkFindsAllOfMoreEntriesThanAPieceHolds) {
  if (words == 1) return;  // one key, one entry
  std::vector<std::pair<Key, Row*>> expected;
  for (uint64_t n = 0; n < 400; ++n) {
    Key key(words, 5);
    key.back() = n * 0x0001010101010101;
    insert(key, row_of(n));
    expected.emplace_back(key, row_of(n));
  }
  Key low(words, 5), high(words, 5);
  low.back() = 0;
  high.back() = ~uint64_t{0};
  EXPECT_EQ(walk(low, high, ScanDirection::kForward), expected);
  index->verify();
}

INSTANTIATE_TEST_SUITE_P(Kinds, IndexTest,
                         testing::Values(Kind{"Btree1", false, 1}, Kind{"Btree2", false, 2},
                                         Kind{"Btree4", false, 4}, Kind{"Btree7", false, 7},
                                         Kind{"Btree16", false, 16}, Kind{"Btree17", false, 17},
                                         Kind{"Btree130", false, kMaxKeyWords}, Kind{"Hash1", true, 1},
                                         Kind{"Hash2", true, 2}, Kind{"Hash3", true, 3},
                                         Kind{"Hash16", true, 16}, Kind{"Hash130", true, kMaxKeyWords}),
                         [](const testing::TestParamInfo<Kind>& info) { return info.param.name; });

}  // namespace
}  // namespace mneme
