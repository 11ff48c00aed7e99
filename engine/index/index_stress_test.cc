// Goal: an index stays an index while several threads change and read it at once. Method: self-checking data.
// Every thread owns the keys of its residue class, so it knows which of them are there; one key in sixteen is
// there for ever, and every lookup and every walk must find it; every entry met anywhere must lead to the row
// that its key names.
#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "engine/index/index.h"

namespace mneme {
namespace {

struct Kind {
  const char* name;
  bool is_hash;
  uint32_t key_words;
};

class IndexStressTest : public testing::TestWithParam<Kind> {
 protected:
  static constexpr uint64_t kKeys = 3000;
  static constexpr uint64_t kThreads = 3;
  static constexpr int kSteps = 20000;

  using Key = std::vector<uint64_t>;

  IndexStressTest() : words(GetParam().key_words) {
    index = GetParam().is_hash ? make_hash_index(words, (words + 1) / 2, memory)
                               : make_btree_index(words, memory);
  }
  Key key_of(uint64_t n) const {
    Key key(words, n / 64);
    key.back() = n;
    return key;
  }
  static Row* row_of(uint64_t n) { return reinterpret_cast<Row*>(8 * (n + 1)); }
  static bool is_permanent(uint64_t n) { return n % 16 == 0; }

  void change_and_look(uint64_t thread) {
    std::mt19937_64 random(thread);
    std::vector<bool> present(kKeys, false);
    NodeChanges changes;
    InsertHint hint;
    for (int step = 0; step < kSteps; ++step) {
      // Narrow in turn, so that leaves and buckets fill, split and empty all the time.
      const uint64_t base = static_cast<uint64_t>(step / 2000) * 250 % (kKeys - 500);
      const uint64_t n = (base + random() % 500) / kThreads * kThreads + thread;
      const Key key = key_of(n);
      if (is_permanent(n)) {
        NodeVersion node;
        ASSERT_EQ(index->find(key.data(), node), row_of(n));
      } else if (present[n]) {
        NodeVersion node;
        ASSERT_EQ(index->find(key.data(), node), row_of(n));
        find_ahead(n);
        ASSERT_TRUE(index->erase(key.data(), row_of(n)));
        ASSERT_EQ(index->find(key.data(), node), nullptr);
        present[n] = false;
      } else if (random() % 4 == 0) {
        insert_run(n, present, hint);
      } else {
        Row* existing = nullptr;
        changes.clear();
        ASSERT_EQ(
            index->insert(key.data(), row_of(n), existing, &changes, random() % 2 == 0 ? &hint : nullptr),
            Index::InsertStatus::kInserted);
        present[n] = true;
      }
    }
    for (uint64_t n = thread; n < kKeys; n += kThreads) {
      NodeVersion node;
      const Key key = key_of(n);
      ASSERT_EQ(index->find(key.data(), node), present[n] || is_permanent(n) ? row_of(n) : nullptr);
    }
  }

  // Inserts a run of the thread's keys, from this one on.
  void insert_run(uint64_t n, std::vector<bool>& present, InsertHint& hint) {
    std::vector<Key> keys;
    std::vector<uint64_t> numbers;
    for (; numbers.size() < 8 && n < kKeys; n += kThreads) {
      if (present[n] || is_permanent(n)) continue;
      numbers.push_back(n);
      keys.push_back(key_of(n));
    }
    std::vector<IndexEntry> entries;
    for (size_t i = 0; i < keys.size(); ++i) entries.push_back({keys[i].data(), row_of(numbers[i])});
    size_t done = 0;
    Row* existing = nullptr;
    ASSERT_EQ(index->insert_run(entries, hint, done, existing), Index::InsertStatus::kInserted);
    ASSERT_EQ(done, entries.size());
    for (const uint64_t each : numbers) present[each] = true;
  }

  // Others' changes may hide any entry from it, but it ends, and what it finds is a row: the key's own, if it
  // says so.
  void find_ahead(uint64_t first) const {
    constexpr uint64_t kTogether = 8;
    std::vector<Key> keys;
    for (uint64_t i = 0; i < kTogether; ++i) keys.push_back(key_of(first + i));
    std::vector<AheadLookup> lookups;
    for (const Key& key : keys) lookups.push_back({.key = key.data()});
    std::vector<AheadLookup*> together;
    for (AheadLookup& lookup : lookups) together.push_back(&lookup);
    index->find_ahead(together);
    for (uint64_t i = 0; i < kTogether; ++i) {
      const auto address = reinterpret_cast<uint64_t>(lookups[i].row);
      ASSERT_EQ(address % 8, 0u);
      ASSERT_LE(address / 8, kKeys);
      ASSERT_TRUE(!lookups[i].is_exact || lookups[i].row == row_of(first + i));
    }
  }

  // A range within one hashed prefix, or (in a tree) of several hundred keys, one way or the other. A walk
  // may be led by a look-up ahead of it.
  void walk(std::mt19937_64& random) {
    const uint64_t prefix = random() % (kKeys / 64) * 64;
    const uint64_t first = prefix + random() % 32;
    const uint64_t last = prefix + (GetParam().is_hash ? 63 : 64 * (random() % 8) + 63);
    const ScanDirection direction =
        !GetParam().is_hash && random() % 2 == 0 ? ScanDirection::kBackward : ScanDirection::kForward;
    IndexCursor cursor(key_of(first), key_of(last), direction);
    const Key low = key_of(first);
    std::array<AheadLookup, Index::kMostAhead> lookups;
    std::array<AheadLookup*, Index::kMostAhead> together;
    if (random() % 4 > 0) {
      // Many at once take long: the tree changes between two steps of one.
      for (size_t i = 0; i < lookups.size(); ++i) {
        lookups[i] = AheadLookup{.key = low.data()};
        together[i] = &lookups[i];
      }
      index->find_ahead(together);
      cursor.ahead = &lookups[random() % lookups.size()];
    }
    uint64_t permanent = 0;
    int64_t previous = -1;
    while (index->next(cursor)) {
      for (uint32_t i = 0; i < cursor.count; ++i) {
        const uint64_t n = cursor.key(i)[words - 1];
        ASSERT_GE(n, first);
        ASSERT_LE(n, last);
        ASSERT_EQ(cursor.rows[i], row_of(n));
        if (previous >= 0) {
          ASSERT_EQ(n > static_cast<uint64_t>(previous), direction == ScanDirection::kForward);
        }
        previous = static_cast<int64_t>(n);
        permanent += is_permanent(n) ? 1 : 0;
      }
    }
    const uint64_t end = std::min(last + 1, kKeys);
    ASSERT_EQ(permanent, (end + 15) / 16 - (first + 15) / 16);
  }

  HugePageSource memory;
  const uint32_t words;
  std::unique_ptr<Index> index;
};

TEST_P(IndexStressTest, ManyThreadsChangeAndRead) {
  for (uint64_t n = 0; n < kKeys; n += 16) {
    Row* existing = nullptr;
    ASSERT_EQ(index->insert(key_of(n).data(), row_of(n), existing, nullptr), Index::InsertStatus::kInserted);
  }
  std::atomic<uint64_t> running{kThreads};
  std::vector<std::jthread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread, &running] {
      change_and_look(thread);
      running.fetch_sub(1, std::memory_order_release);
    });
  }
  if (!GetParam().is_hash || words > 1) {
    std::mt19937_64 random(99);
    while (running.load(std::memory_order_acquire) > 0) {
      walk(random);
      std::this_thread::yield();
    }
  }
  threads.clear();
  index->verify();
}

// Goal: threads that are held up in the middle of a look-up while others make the index many times as large
// find their way. Method: more threads than cores fill young indexes, over and over; an insert that goes
// astray never returns.
TEST_P(IndexStressTest, YoungIndexesGrowUnderThreadsThatAreHeldUp) {
  constexpr uint64_t kFillers = 16;
  constexpr uint64_t kKeysOfEach = 4000;
#ifdef __SANITIZE_THREAD__
  constexpr int kRounds = 3;  // threads that spin on a lock are many times slower then
#else
  constexpr int kRounds = 20;
#endif
  for (int round = 0; round < kRounds; ++round) {
    HugePageSource round_memory;
    const std::unique_ptr<Index> young = GetParam().is_hash
                                             ? make_hash_index(words, (words + 1) / 2, round_memory)
                                             : make_btree_index(words, round_memory);
    std::vector<std::thread> fillers;
    for (uint64_t filler = 0; filler < kFillers; ++filler) {
      fillers.emplace_back([&, filler] {
        for (uint64_t i = 0; i < kKeysOfEach; ++i) {
          const uint64_t n = i * kFillers + filler;
          Row* existing = nullptr;
          ASSERT_EQ(young->insert(key_of(n).data(), row_of(n), existing, nullptr),
                    Index::InsertStatus::kInserted);
        }
      });
    }
    for (std::thread& filler : fillers) filler.join();
    young->verify();
    for (uint64_t n = 0; n < kFillers * kKeysOfEach; ++n) {
      NodeVersion node;
      ASSERT_EQ(young->find(key_of(n).data(), node), row_of(n));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, IndexStressTest,
                         testing::Values(Kind{"Btree1", false, 1}, Kind{"Btree3", false, 3},
                                         Kind{"Btree9", false, 9}, Kind{"Btree40", false, 40},
                                         Kind{"Hash1", true, 1}, Kind{"Hash2", true, 2}),
                         [](const testing::TestParamInfo<Kind>& info) { return info.param.name; });

}  // namespace
}  // namespace mneme
