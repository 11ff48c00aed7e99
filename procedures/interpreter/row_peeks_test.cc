// Goal: a round peeks at the rows that earlier rounds have marked, in their order, and at nothing else.
// Method: two rounds of look-ups of rows that are there and of one that is not.
#include "procedures/interpreter/row_peeks.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/testing/test_database.h"

namespace mneme {
namespace {

class RowPeeksTest : public testing::Test {
 protected:
  RowPeeksTest() {
    UnloggedWriter writer(t.db);
    for (int64_t id = 0; id < 100; id += 2)
      CHECK(writer.insert(t.kItem, t.values(id, id % 10, id, 7 * id)) == AccessStatus::kOk);
  }

  void look_up(std::initializer_list<int64_t> ids) {
    std::vector<RowLookup> lookups;
    for (const int64_t id : ids) lookups.push_back({TestDatabase::kById, ImageParts::all(), t.id_key(id)});
    prefetcher.add(t.db, lookups);
  }
  // The amount of the next row of the earlier round, or nothing.
  std::optional<int64_t> peek(size_t earlier) {
    const RowLayout& layout = t.db.schema().layout(t.kItem);
    std::vector<std::byte> image(layout.image_bytes());
    if (!peeks.peek(earlier, ImageParts::all(), image.data())) return std::nullopt;
    return layout.get(image.data(), t.kAmount).as_int();
  }

  TestDatabase t{1, /*ordered=*/false};
  Prefetcher prefetcher;
  RowPeeks peeks{prefetcher};
};

TEST_F(RowPeeksTest, EachRoundPeeksAtWhatEarlierOnesHaveMarkedFromTheBeginning) {
  peeks.begin();
  peeks.begin_round();
  peeks.watch(0);
  peeks.watch(2);
  peeks.watch(3);
  look_up({2, 4, 6, 7});

  peeks.begin_round();
  EXPECT_EQ(peek(0), 14);
  EXPECT_EQ(peek(0), 42) << "the second was not marked";
  EXPECT_EQ(peek(0), std::nullopt) << "there is no such row";
  EXPECT_EQ(peek(0), std::nullopt) << "nor any more of them";
  peeks.watch(1);
  look_up({8, 10});

  peeks.begin_round();
  EXPECT_EQ(peek(1), 70);
  EXPECT_EQ(peek(0), 14);
}

TEST_F(RowPeeksTest, ForgetsWhatWasBefore) {
  peeks.begin();
  peeks.begin_round();
  peeks.watch(0);
  look_up({2});
  prefetcher.forget();
  peeks.begin();
  peeks.begin_round();
  peeks.watch(0);  // left out for want of room, say
  peeks.begin_round();
  EXPECT_EQ(peek(0), std::nullopt);
}

}  // namespace
}  // namespace mneme
