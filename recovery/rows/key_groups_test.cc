// Goal: changes come out of buckets key by key, in the order in which they went in, whatever their keys'
// width; keys are sorted as a comparison sorts them. Method: random keys from few, so that they meet; a map
// says what must come out.
#include "recovery/rows/key_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/index/index.h"
#include "recovery/rows/key_partitions.h"
#include "recovery/rows/key_sorter.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {
namespace {

class KeyGroupsOfWidth : public testing::TestWithParam<size_t> {};

TEST_P(KeyGroupsOfWidth, HoldTheChangesOfOneKeyInOrder) {
  const size_t words = GetParam();
  std::mt19937_64 random(words);
  HugePageSource source;
  BucketMemory memory(source);
  KeyGroups groups;
  for (const uint32_t count : {0u, 1u, 50u, 20000u}) {
    std::array<ChangeBucket, 3> buckets;
    std::map<std::vector<uint64_t>, std::vector<uint32_t>> expected;
    for (uint32_t i = 0; i < count; ++i) {
      std::vector<uint64_t> key(words);
      // Keys that differ in the first word alone, or the last, or in high bits.
      for (uint64_t& word : key) word = random() % 7 << (random() % 2 * 50);
      const std::byte* columns = reinterpret_cast<const std::byte*>(&random) + i % 8;
      const ShuffledChange change{columns, i, i % 1000, i % 4};
      ASSERT_TRUE(buckets[size_t{i} * buckets.size() / count].add(change, key, memory));
      expected[key].push_back(i);
    }
    const std::array<const ChangeBucket*, 3> all = {&buckets[0], &buckets[1], &buckets[2]};
    groups.gather(all, words);
    ASSERT_EQ(groups.size(), expected.size());
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto changes = groups.changes(g);
      const std::vector<uint64_t> key(changes.front()->key(), changes.front()->key() + words);
      ASSERT_EQ(changes.size(), expected[key].size());
      for (size_t i = 0; i < changes.size(); ++i) {
        ASSERT_EQ(changes[i]->record, expected[key][i]);
        ASSERT_TRUE(std::equal(key.begin(), key.end(), changes[i]->key()));
        ASSERT_EQ(changes[i]->bytes().size(), changes[i]->record % 1000);
        ASSERT_EQ(static_cast<uint32_t>(changes[i]->action()), changes[i]->record % 4);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Words, KeyGroupsOfWidth, testing::Values(1, 2, 5, kMaxKeyWords));

// Few keys and many, with few differing bytes and many, equal ones among them, in order already or not.
TEST(KeySorter, SortsAsAComparisonDoes) {
  std::mt19937_64 random(1);
  KeySorter sorter;
  for (const size_t words : {1, 2, 4}) {
    for (const size_t count : {0, 1, 100, 5000}) {
      for (const uint64_t mask : {uint64_t{0}, uint64_t{0x3ff}, uint64_t{0xff00000000ff00f0}, ~uint64_t{0}}) {
        std::vector<uint64_t> keys(count * words);
        for (uint64_t& word : keys) word = (random() & mask) | (uint64_t{1} << 63 & ~mask);
        std::vector<uint32_t> expected(count);
        for (uint32_t i = 0; i < count; ++i) expected[i] = i;
        std::ranges::stable_sort(expected, [&](uint32_t a, uint32_t b) {
          return compare_words(keys.data() + a * words, keys.data() + b * words, words) < 0;
        });
        const auto sorted = sorter.sort(keys, words);
        ASSERT_TRUE(std::ranges::equal(sorted, expected)) << words << " words, " << count << " keys";
      }
    }
  }
}

// Orders' lines come in orders, and orders in districts: lines share a partition with their order's, and with
// other orders' where there are many, as the log tells; yet each partition gets some. What no sample tells is
// told by the whole key.
TEST(KeyPartitions, PutNeighboursTogetherWhereThereAreEnoughOfThem) {
  ReplayFixture fixture(kOrdersSql);
  fixture.run_forward(4000, 5);
  const Database database(fixture.program().catalog, 1);
  const TableId lines = fixture.program().catalog.find_table("line")->id;
  ASSERT_TRUE(database.catalog().index(database.table(lines).primary()->id).ordered);
  const std::vector<RecordView> records = fixture.records();
  const KeyPartitions partitions(database, records, 4);
  EXPECT_NE(partitions.mask(lines), ~uint64_t{0});
  IndexKey key;
  key.word_count = database.table(lines).primary()->index->key_words();
  std::array<size_t, 4> sizes{};
  for (uint64_t order = 0; order < 1000; ++order) {
    std::ranges::fill(key.words, order);
    key.words[key.word_count - 1] &= partitions.mask(lines);
    const size_t partition = partitions.of(lines, key);
    ASSERT_LT(partition, sizes.size());
    ++sizes[partition];
    key.words[key.word_count - 1] |= ~partitions.mask(lines);
    EXPECT_EQ(partitions.of(lines, key), partition);
  }
  for (const size_t size : sizes) EXPECT_GT(size, 50u);

  const KeyPartitions untold(database, {}, 4);
  EXPECT_EQ(untold.mask(lines), ~uint64_t{0});
  const KeyPartitions single(database, records, 1);
  EXPECT_EQ(single.of(lines, key), 0u);
}

}  // namespace
}  // namespace mneme
