// Goal: what a scan finds is what is there, however often the same range was scanned before, and by whichever
// caller. Method: scans of one range between changes of it by the scanning writer and by another, and inside
// one another.
#include "engine/transaction/unlogged_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "engine/testing/test_database.h"
#include "engine/testing/wide_table.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

using Direction = RowAccess::Direction;

// `GetParam()`: indexes by id are ordered.
class UnloggedWriterTest : public testing::TestWithParam<bool> {
 protected:
  UnloggedWriterTest() {
    for (int64_t id = 0; id < 200; ++id) insert(other, id);
  }

  void insert(UnloggedWriter& by, int64_t id) {
    ASSERT_EQ(by.insert(t.kItem, t.values(id, id % 4, id, id)), AccessStatus::kOk);
  }
  int64_t id_of(const Row* row) const {
    return t.db.schema().layout(t.kItem).get(row->image(), t.kId).as_int();
  }
  std::vector<int64_t> ids(IndexId index, const KeyRange& range, Direction direction = Direction::kForward) {
    std::vector<int64_t> found;
    writer.scan(index, range, direction, [&](Row* row) {
      found.push_back(id_of(row));
      return true;
    });
    return found;
  }
  std::vector<int64_t> few() { return ids(t.kById, t.id_range(10, 12)); }

  TestDatabase t{1, GetParam()};
  UnloggedWriter writer{t.db};
  UnloggedWriter other{t.db};
};

TEST_P(UnloggedWriterTest, AScanSeesWhatHasChangedSinceTheLastOfItsRange) {
  if (!GetParam()) return;
  EXPECT_EQ(few(), (std::vector<int64_t>{10, 11, 12}));
  EXPECT_EQ(few(), (std::vector<int64_t>{10, 11, 12}));
  for (UnloggedWriter* by : {&writer, &other}) {
    by->erase(t.kItem, by->find(t.kById, t.id_key(11)));
    EXPECT_EQ(few(), (std::vector<int64_t>{10, 12}));
    insert(*by, 11);
    EXPECT_EQ(few(), (std::vector<int64_t>{10, 11, 12}));
  }
  const ColumnValue elsewhere{t.kId, Value::of_int(5000)};
  ASSERT_EQ(other.update(t.kItem, other.find(t.kById, t.id_key(10)), {&elsewhere, 1}), AccessStatus::kOk);
  EXPECT_EQ(few(), (std::vector<int64_t>{11, 12}));
}

TEST_P(UnloggedWriterTest, ARangeIsItsIndexItsEndsAndItsDirection) {
  const std::vector<int64_t> group = ids(t.kByGroup, t.group_range(1));
  EXPECT_EQ(group.size(), 50u);
  EXPECT_EQ(ids(t.kByGroup, t.group_range(1)), group);
  EXPECT_EQ(ids(t.kByGroup, t.group_range(1), Direction::kBackward),
            std::vector<int64_t>(group.rbegin(), group.rend()));
  EXPECT_EQ(ids(t.kByGroup, t.group_range(2)).front(), 2);
  if (!GetParam()) return;
  EXPECT_EQ(few(), (std::vector<int64_t>{10, 11, 12}));
  EXPECT_EQ(ids(t.kById, t.id_range(10, 11)), (std::vector<int64_t>{10, 11}));
  EXPECT_EQ(ids(t.kByCode, t.id_range(10, 12)), (std::vector<int64_t>{10, 11, 12}));
  EXPECT_EQ(ids(t.kById, t.id_range(0, 199)).size(), 200u);
  EXPECT_EQ(ids(t.kById, t.id_range(0, 199)).size(), 200u);
}

TEST_P(UnloggedWriterTest, AVisitorMayScanTheSameRangeAndOthers) {
  for (int again = 0; again < 2; ++again) {
    std::vector<int64_t> outer;
    writer.scan(t.kByGroup, t.group_range(3), Direction::kForward, [&](Row* row) {
      outer.push_back(id_of(row));
      EXPECT_EQ(ids(t.kByGroup, t.group_range(3)).size(), 50u);
      EXPECT_EQ(ids(t.kByGroup, t.group_range(1)).front(), 1);
      return outer.size() < 20;
    });
    EXPECT_EQ(outer.size(), 20u);
    EXPECT_EQ(outer.front(), 3);
    EXPECT_EQ(outer.back(), 3 + 4 * 19);
  }
}

// A table with one index, whose rows may wait for it.
class WaitingRowsTest : public testing::Test {
 protected:
  AccessStatus insert_later(int64_t id) {
    std::byte* const image = writer.new_image(t.kWide);
    t.layout().set(image, ColumnId{0}, Value::of_int(id));
    return writer.insert_later(t.kWide, image);
  }
  // By a writer of its own, to which waiting rows are none.
  std::vector<int64_t> all() {
    std::vector<int64_t> found;
    UnloggedWriter(t.db).scan(t.kById, {t.key(0), t.key(1000)}, Direction::kForward, [&](Row* row) {
      found.push_back(t.layout().get(row->image(), ColumnId{0}).as_int());
      return true;
    });
    std::ranges::sort(found);
    return found;
  }

  WideTable t{1};
  UnloggedWriter writer{t.db};
};

TEST_F(WaitingRowsTest, AreThereOnceTheyNeedWaitNoLonger) {
  for (const int64_t id : {3, 4, 9, 5}) ASSERT_EQ(insert_later(id), AccessStatus::kOk);
  EXPECT_EQ(all(), (std::vector<int64_t>{}));
  EXPECT_EQ(writer.insert_waiting(), AccessStatus::kOk);
  EXPECT_EQ(all(), (std::vector<int64_t>{3, 4, 5, 9}));
  EXPECT_EQ(writer.insert_waiting(), AccessStatus::kOk) << "nobody waits";
  ASSERT_EQ(insert_later(7), AccessStatus::kOk);
  EXPECT_NE(writer.find(t.kById, t.key(7)), nullptr) << "who looks for rows sees them";
  EXPECT_EQ(all(), (std::vector<int64_t>{3, 4, 5, 7, 9}));
  // More than can wait.
  for (int64_t id = 100; id < 200; ++id) ASSERT_EQ(insert_later(id), AccessStatus::kOk);
  EXPECT_EQ(writer.insert_waiting(), AccessStatus::kOk);
  EXPECT_EQ(all().size(), 105u);
}

TEST_F(WaitingRowsTest, AKeyThatIsTakenIsTold) {
  for (const int64_t id : {3, 4, 5}) ASSERT_EQ(insert_later(id), AccessStatus::kOk);
  ASSERT_EQ(writer.insert_waiting(), AccessStatus::kOk);
  for (const int64_t id : {1, 4, 6}) ASSERT_EQ(insert_later(id), AccessStatus::kOk);
  EXPECT_NE(writer.find(t.kById, t.key(1)), nullptr);
  EXPECT_EQ(insert_later(7), AccessStatus::kDuplicateKey) << "of one that waited before";
  EXPECT_EQ(writer.insert_waiting(), AccessStatus::kDuplicateKey);
  EXPECT_EQ(writer.insert_waiting(), AccessStatus::kOk);
  EXPECT_EQ(all().front(), 1);
  EXPECT_TRUE(verify_indexes(t.db).ok());
}

INSTANTIATE_TEST_SUITE_P(Indexes, UnloggedWriterTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Btree" : "Hash";
                         });

}  // namespace
}  // namespace mneme
