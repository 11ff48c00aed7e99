// Goal: threads that take slots at once, moving between NUMA nodes, never get the same one, and lose none.
// Method: two nodes made up; each thread marks its rows as its own and changes node at random. Every row must be there
// once, in a walk of the table as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "engine/table.h"

namespace mneme {
namespace {

constexpr int kThreads = 4;
constexpr int kRowsEach = 20000;

thread_local uint32_t made_up_node = 0;

TEST(TableStress, SlotsAreTakenOnce) {
  HugePageSource memory(PageSize::kSmall, NumaView{2, [] { return made_up_node; }});
  for (const size_t image_bytes : {8u, 1000u, 30000u}) {  // chunks of many runs, of few, and of one
    const int rows_each = image_bytes > 10000 ? kRowsEach / 50 : kRowsEach;
    Table table(image_bytes, memory);
    std::vector<uint64_t> slots[kThreads];
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t) {
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
    EXPECT_LE(table.slot_end(), all.size() + kThreads * 64 + kHugePageBytes / table.slot_bytes());
  }
}

}  // namespace
}  // namespace mneme
