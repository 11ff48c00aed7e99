// Goal: slots and rows name each other, threads get rows of their own, freed rows come back, and not too
// early. Method: direct calls; rows of several widths, across chunks.
#include "engine/table/table.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "engine/table/epoch.h"

namespace mneme {
namespace {

TEST(Table, SlotsAndRowsNameEachOther) {
  HugePageSource memory;
  for (const size_t image_bytes : {8u, 48u, 600u, 100000u}) {
    Table table(image_bytes, memory);
    SlotCache cache;
    const uint64_t count = image_bytes > 10000 ? 300 : 10000;
    std::set<Row*> rows;
    for (uint64_t i = 0; i < count; ++i) {
      Row* row = table.allocate(cache);
      ASSERT_NE(row, nullptr);
      EXPECT_EQ(row->word(), RowWord::incoming());
      EXPECT_EQ(table.at(table.slot_of(row)), row);
      EXPECT_LT(table.slot_of(row), table.slot_end());
      ASSERT_TRUE(rows.insert(row).second);
    }
    uint64_t live = 0;
    for (Row* row : rows) row->set_word(RowWord::live(kCheckpointLsn));
    table.for_each_live(0, table.slot_end(), [&](Row* row) { live += rows.count(row); });
    EXPECT_EQ(live, count);
  }
}

TEST(Table, ThreadsShareNoCacheLine) {
  HugePageSource memory;
  Table table(40, memory);
  SlotCache one, other;
  std::set<uintptr_t> lines;
  for (int i = 0; i < 1000; ++i)
    lines.insert(reinterpret_cast<uintptr_t>(table.allocate(one)) / kCacheLineBytes);
  for (int i = 0; i < 1000; ++i) {
    const auto first = reinterpret_cast<uintptr_t>(table.allocate(other));
    EXPECT_FALSE(lines.contains(first / kCacheLineBytes));
    EXPECT_FALSE(lines.contains((first + 47) / kCacheLineBytes));
  }
}

TEST(Table, RestoredRowsKeepTheirSlotsAndTheOthersAreGivenOut) {
  HugePageSource memory(PageSize::kSmall);
  Table table(1000, memory);
  EXPECT_EQ(table.restored_end(), 0u);
  EXPECT_EQ(table.restore(~uint64_t{0}), nullptr);
  const uint64_t far = 9000;  // chunks in between are missing
  std::set<Row*> restored;
  for (const uint64_t slot : {uint64_t{0}, uint64_t{5}, uint64_t{63}, far}) {
    Row* row = table.restore(slot);
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(table.restore(slot), row);
    EXPECT_EQ(table.slot_of(row), slot);
    row->set_word(RowWord::live(kCheckpointLsn));
    restored.insert(row);
  }
  std::vector<Row*> free;
  for (uint64_t slot = 0; slot < table.restored_end(); ++slot) {
    Row* row = table.at(slot);
    if (row != nullptr && row->word().is_free()) free.push_back(row);
  }
  EXPECT_GT(table.restored_end(), far);
  EXPECT_EQ(table.at(far / 2), nullptr);
  table.end_restoring(free);
  EXPECT_EQ(table.slot_end(), table.restored_end());

  // All that is free comes first, then what is left of the last chunk.
  EXPECT_LE(table.restored_end(), far + 1024);
  SlotCache cache;
  std::set<Row*> given;
  for (size_t i = 0; i < free.size(); ++i) given.insert(table.allocate(cache));
  EXPECT_EQ(given, std::set<Row*>(free.begin(), free.end()));
  const size_t chunks = table.memory_bytes();
  EXPECT_EQ(table.slot_of(table.allocate(cache)), table.restored_end());
  EXPECT_EQ(table.memory_bytes(), chunks);
  uint64_t live = 0;
  table.for_each_live(0, table.slot_end(), [&](Row* row) { live += restored.count(row); });
  EXPECT_EQ(live, restored.size());
}

thread_local uint32_t made_up_node = 0;

TEST(Table, RunsLieInChunksOfTheThreadsNode) {
  HugePageSource memory(PageSize::kSmall, NumaView{2, [] { return made_up_node; }});
  for (const size_t image_bytes : {56u, 20000u}) {  // 32768 slots a chunk, and a single run
    Table table(image_bytes, memory);
    SlotCache caches[2];
    std::set<uintptr_t> chunks[2];
    std::set<uint64_t> slots;
    for (int i = 0; i < 500; ++i) {
      for (made_up_node = 0; made_up_node < 2; ++made_up_node) {
        Row* row = table.allocate(caches[made_up_node]);
        ASSERT_NE(row, nullptr);
        row->set_word(RowWord::live(kCheckpointLsn));
        EXPECT_TRUE(slots.insert(table.slot_of(row)).second);
        EXPECT_EQ(table.at(table.slot_of(row)), row);
        EXPECT_LT(table.slot_of(row), table.slot_end());
        chunks[made_up_node].insert(reinterpret_cast<uintptr_t>(row) / kHugePageBytes);
      }
    }
    for (const uintptr_t chunk : chunks[0]) EXPECT_FALSE(chunks[1].contains(chunk));
    uint64_t live = 0;
    table.for_each_live(0, table.slot_end(), [&](Row*) { ++live; });
    EXPECT_EQ(live, slots.size());
    EXPECT_EQ(table.memory_bytes() % kHugePageBytes, 0u);
    EXPECT_GE(table.memory_bytes(), slots.size() * table.slot_bytes());
    made_up_node = 0;
  }
}

TEST(Table, FreedAndLeftSlotsAreUsedAgain) {
  HugePageSource memory;
  Table table(16, memory);
  {
    SlotCache cache;
    for (int i = 0; i < 10; ++i) table.allocate(cache);
    Row* row = table.allocate(cache);
    row->set_word(RowWord());
    table.free(cache, row);
    EXPECT_EQ(table.allocate(cache), row);
    row->set_word(RowWord());
    table.free(cache, row);
    table.give_back(cache);
  }
  SlotCache next;
  std::set<Row*> rows;
  for (int i = 0; i < 54; ++i) rows.insert(table.allocate(next));
  EXPECT_EQ(rows.size(), 54u);
  EXPECT_EQ(table.slot_end(), 64u) << "what the first thread left is enough";
}

TEST(Limbo, FreesOnlyWhatNoRunningTransactionCanHold) {
  EpochManager epochs(2);
  Limbo limbo(epochs);
  int freed = 0;
  const auto free = [](void* context, void*) { ++*static_cast<int*>(context); };
  const WorkerId one{0}, other{1};

  limbo.retire(&limbo, free, &freed);
  limbo.collect();
  EXPECT_EQ(freed, 1) << "nobody runs";

  epochs.enter(other);
  limbo.retire(&limbo, free, &freed);
  limbo.collect();
  EXPECT_EQ(freed, 1) << "the other was running before";
  epochs.enter(one);
  epochs.leave(one);
  limbo.collect();
  EXPECT_EQ(freed, 1);
  epochs.leave(other);
  epochs.enter(other);
  limbo.collect();
  EXPECT_EQ(freed, 2) << "this one began after the unlinking";
  epochs.leave(other);
  EXPECT_EQ(limbo.size(), 0u);
}

}  // namespace
}  // namespace mneme
