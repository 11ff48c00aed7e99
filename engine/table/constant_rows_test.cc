// Goal: rows that stay as they are, are found without their index exactly where the index would find them.
// Method: keys on both sides of zero, with gaps, around the ends and where there is no row; indexes and
// tables of which no such list is made.
#include "engine/table/constant_rows.h"

#include <gtest/gtest.h>

#include "engine/testing/test_database.h"

namespace mneme {
namespace {

class ConstantRowsTest : public testing::Test {
 protected:
  void insert(int64_t id) {
    UnloggedWriter writer(t.db);
    CHECK(writer.insert(t.kItem, t.values(id, id % 10, id, 7 * id)) == AccessStatus::kOk);
  }
  std::optional<ConstantRows> make(IndexId index) {
    return ConstantRows::make(t.db.table_of(index), t.db.index(index));
  }
  Row* row_of(int64_t id) const {
    NodeVersion node;
    return t.db.index(t.kById).index->find(t.id_key(id).words.data(), node);
  }

  TestDatabase t;
};

TEST_F(ConstantRowsTest, FindWhatTheIndexFinds) {
  for (int64_t id = -20; id <= 40; id += 3) insert(id);
  const std::optional<ConstantRows> rows = make(t.kById);
  ASSERT_TRUE(rows.has_value());
  for (int64_t id = -100; id <= 100; ++id) EXPECT_EQ(rows->find(t.id_key(id)), row_of(id)) << id;
  for (const int64_t id : {INT32_MIN, INT32_MAX}) EXPECT_EQ(rows->find(t.id_key(id)), nullptr) << id;
}

TEST_F(ConstantRowsTest, AreNotMadeOfFewRowsWithKeysFarApart) {
  EXPECT_FALSE(make(t.kById).has_value()) << "there is no row";
  insert(INT32_MIN);
  EXPECT_TRUE(make(t.kById).has_value());
  insert(INT32_MAX);
  EXPECT_FALSE(make(t.kById).has_value());
}

TEST_F(ConstantRowsTest, AreNotMadeByAnIndexWhoseKeysNameNoRow) {
  for (int64_t id = 0; id < 20; ++id) insert(id);
  EXPECT_FALSE(make(t.kByGroup).has_value()) << "it is not unique";
  EXPECT_FALSE(make(t.kByCode).has_value()) << "its entries end in the primary key";
}

}  // namespace
}  // namespace mneme
