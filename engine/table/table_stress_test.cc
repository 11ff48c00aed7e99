// Goal: threads that take slots at once, moving between NUMA nodes, never get the same one, and lose none;
// and of slots that they restore at once none is left out. Method: two nodes made up; each thread marks its
// rows as its own and changes node at random. Every row must be there once, in a walk of the table as well.
// Restored slots are drawn, and then found below the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "engine/table/table.h"

namespace mneme {
namespace {

constexpr int kInserters = 4;
constexpr int kRowsEach = 20000;

thread_local uint32_t made_up_node = 0;

TEST(TableStress, SlotsAreTakenOnce) {
  HugePageSource memory(PageSize::kSmall, NumaView{2, [] { return made_up_node; }});
  for (const size_t image_bytes : {8u, 1000u, 30000u}) {  // chunks of many runs, of few, and of one
    const int rows_each = image_bytes > 10000 ? kRowsEach / 50 : kRowsEach;
    Table table(image_bytes, memory);
    std::vector<uint64_t> slots[kInserters];
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kInserters; ++t) {
        threads.emplace_back([&, t] {
          std::mt19937 random(static_cast<uint32_t>(t));
          SlotCache cache;
          for (int i = 0; i < rows_each; ++i) {
            made_up_node = random() % 2;
            Row* row = table.allocate(cache);
            ASSERT_NE(row, nullptr);
            row->set_word(RowWord::live(kCheckpointLsn));
            slots[t].push_back(table.slot_of(row));
          }
          table.give_back(cache);
        });
      }
    }
    std::vector<uint64_t> all;
    for (const auto& own : slots) all.insert(all.end(), own.begin(), own.end());
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
    uint64_t live = 0;
    table.for_each_live(0, table.slot_end(), [&](Row*) { ++live; });
    EXPECT_EQ(live, all.size());
    EXPECT_LT(all.back(), table.slot_end());
    // Nothing is left out but the rest of a run a thread, and of the chunk of the node whose slots end lower.
    EXPECT_LE(table.slot_end(), all.size() + kInserters * 64 + kHugePageBytes / table.slot_bytes());
  }
}

TEST(TableStress, RestoredSlotsAreBelowTheEnd) {
  HugePageSource memory(PageSize::kSmall);
  for (const size_t image_bytes : {8u, 1000u, 30000u}) {
    Table table(image_bytes, memory);
    const uint64_t most = image_bytes > 10000 ? 1000 : 50000;
    std::vector<std::set<uint64_t>> slots(kInserters);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kInserters; ++t) {
        threads.emplace_back([&, t] {
          std::mt19937 random(static_cast<uint32_t>(t));
          for (uint64_t i = 0; i < most / 10; ++i) {
            const uint64_t slot = random() % most / kInserters * kInserters + static_cast<uint64_t>(t);
            Row* row = table.restore(slot);
            ASSERT_NE(row, nullptr);
            row->set_word(RowWord::live(kCheckpointLsn));
            slots[t].insert(slot);
          }
        });
      }
    }
    size_t restored = 0;
    for (const auto& own : slots) restored += own.size();
    uint64_t live = 0;
    table.for_each_live(0, table.restored_end(), [&](Row*) { ++live; });
    EXPECT_EQ(live, restored);
    table.end_restoring({});
    EXPECT_EQ(table.slot_end(), table.restored_end());
    SlotCache cache;
    EXPECT_GE(table.slot_of(table.allocate(cache)), table.restored_end());
  }
}

}  // namespace
}  // namespace mneme
