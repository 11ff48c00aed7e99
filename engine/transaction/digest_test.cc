// Goal: the digest is the same for the same rows, however they came to be there, and another for any other;
// and the walk over the indexes finds an entry that is missing or wrong. Method: two databases filled in
// different ways.
#include "engine/transaction/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/testing/test_refusal.h"
#include "engine/testing/test_database.h"

namespace mneme {
namespace {

class DigestTest : public testing::Test {
 protected:
  static void insert(TestDatabase& t, int64_t id, const char* note, int64_t amount = 5) {
    UnloggedWriter writer(t.db);
    auto values = t.values(id, id % 3, id, amount);
    values[4] = note == nullptr ? Value::null() : Value::of_text(note);
    CHECK(writer.insert(t.kItem, values) == AccessStatus::kOk);
  }
  static Row* row(TestDatabase& t, int64_t id) { return UnloggedWriter(t.db).find(t.kById, t.id_key(id)); }

  TestDatabase one;
  TestDatabase other;
};

TEST_F(DigestTest, CountsValuesOnly) {
  for (int64_t id = 0; id < 40000; ++id) insert(one, id, "abc");
  insert(one, 50000, nullptr);

  insert(other, 50000, "something");
  for (int64_t id = 39999; id >= 0; --id) insert(other, id, "a longer one");
  Transaction t(other.db, other.db.worker(WorkerId{0}));
  t.begin();
  ASSERT_EQ(other.insert(t, 77777, 1, 77777, 1), AccessStatus::kOk);
  ASSERT_EQ(TestDatabase::commit(t).status, CommitStatus::kCommitted);
  EXPECT_NE(digest_of(one.db, 1), digest_of(other.db, 1));

  // The same values over stale bytes, in other slots, next to a tombstone.
  UnloggedWriter writer(other.db);
  const ColumnValue abc{TestDatabase::kNote, Value::of_text("abc")}, null{TestDatabase::kNote, Value::null()};
  for (int64_t id = 0; id < 40000; ++id) {
    ASSERT_EQ(writer.update(other.kItem, row(other, id), {&abc, 1}), AccessStatus::kOk);
  }
  ASSERT_EQ(writer.update(other.kItem, row(other, 50000), {&null, 1}), AccessStatus::kOk);
  t.begin();
  ASSERT_EQ(other.erase(t, 77777), AccessStatus::kOk);
  ASSERT_EQ(TestDatabase::commit(t).status, CommitStatus::kCommitted);
  EXPECT_EQ(digest_of(one.db, 1), digest_of(other.db, 1));
  EXPECT_EQ(digest_of(one.db, 1), digest_of(other.db, 3)) << "threads only share the work";
  EXPECT_EQ(verify_indexes(other.db)->waiting, 3u);
  EXPECT_EQ(verify_indexes(other.db)->rows, 40001u);
}

TEST_F(DigestTest, EachColumnCounts) {
  insert(one, 1, "abc");
  insert(other, 1, "abc");
  ASSERT_EQ(digest_of(one.db, 1), digest_of(other.db, 1));
  UnloggedWriter writer(other.db);
  for (const ColumnValue& change : {ColumnValue{TestDatabase::kGroup, Value::of_int(77)},
                                    ColumnValue{TestDatabase::kCode, Value::of_int(78)},
                                    ColumnValue{TestDatabase::kAmount, Value::of_int(79)},
                                    ColumnValue{TestDatabase::kNote, Value::of_text("abd")}}) {
    const Digest before = digest_of(other.db, 1);
    ASSERT_EQ(writer.update(other.kItem, row(other, 1), {&change, 1}), AccessStatus::kOk);
    EXPECT_NE(digest_of(other.db, 1), before) << "column " << change.column.value;
  }
}

TEST_F(DigestTest, DuplicateRowsCount) {
  Catalog catalog;
  ASSERT_TRUE(catalog.add_table("h", {{"x", {.kind = TypeKind::kInt}, false}}, {}).ok());
  Database db(catalog, 1);
  UnloggedWriter writer(db);
  const Value x = Value::of_int(1);
  ASSERT_EQ(writer.insert(TableId{0}, {&x, 1}), AccessStatus::kOk);
  const Digest once = digest_of(db, 1);
  ASSERT_EQ(writer.insert(TableId{0}, {&x, 1}), AccessStatus::kOk);
  Digest twice = once;
  twice += once;
  EXPECT_EQ(digest_of(db, 1), twice);
  EXPECT_NE(once, twice);
}

TEST_F(DigestTest, FaultsInIndexesAreFound) {
  for (int64_t id = 0; id < 100; ++id) insert(one, id, "x");
  ASSERT_TRUE(verify_indexes(one.db).ok());
  EXPECT_EQ(verify_indexes(one.db)->entries, 300u);

  IndexedTable& table = one.db.table(one.kItem);
  Row* victim = row(one, 42);
  for (const TableIndex& index : table.indexes()) {
    const IndexKey key = table.entry_key(index, victim->image(), victim);
    ASSERT_TRUE(index.index->erase(key.words.data(), victim));
    const Result<IndexReport> missing = verify_indexes(one.db);
    ASSERT_FALSE(missing.ok());
    EXPECT_THAT(missing.error().message, testing::HasSubstr("missing from the index"));
    Row* existing = nullptr;
    ASSERT_EQ(index.index->insert(key.words.data(), victim, existing, nullptr),
              Index::InsertStatus::kInserted);
  }
  ASSERT_TRUE(verify_indexes(one.db).ok());

  // An entry that leads to the wrong row.
  const TableIndex& primary = *table.primary();
  Row* wrong = row(one, 43);
  const IndexKey key = table.entry_key(primary, victim->image(), victim);
  ASSERT_TRUE(primary.index->replace(key.words.data(), victim, wrong, nullptr));
  EXPECT_FALSE(verify_indexes(one.db).ok());
}

// All rows are found, and entries of others besides.
TEST_F(DigestTest, EntriesThatAreTooManyAreFound) {
  for (int64_t id = 0; id < 100; ++id) insert(one, id, "x");
  IndexedTable& table = one.db.table(one.kItem);
  const TableIndex& primary = *table.primary();
  Row* existing = nullptr;
  const IndexKey nobodys = one.id_key(4711);
  ASSERT_EQ(primary.index->insert(nobodys.words.data(), row(one, 42), existing, nullptr),
            Index::InsertStatus::kInserted);
  test::expect_refused(verify_indexes(one.db), ErrorKind::kDamaged,
                       "the row has another primary key than the entry that leads to it");
}

TEST_F(DigestTest, UnloggedChangesOfKeysKeepTheIndexes) {
  for (int64_t id = 0; id < 50; ++id) insert(one, id, "x");
  UnloggedWriter writer(one.db);
  for (int64_t id = 0; id < 50; ++id) {
    const ColumnValue changes[] = {{one.kId, Value::of_int(id + 1000)}, {one.kGroup, Value::of_int(9)}};
    ASSERT_EQ(writer.update(one.kItem, row(one, id), changes), AccessStatus::kOk);
  }
  const ColumnValue taken{one.kCode, Value::of_int(7)};
  EXPECT_EQ(writer.update(one.kItem, row(one, 1003), {&taken, 1}), AccessStatus::kDuplicateKey);
  const ColumnValue taken_id{one.kId, Value::of_int(1007)};
  EXPECT_EQ(writer.update(one.kItem, row(one, 1003), {&taken_id, 1}), AccessStatus::kDuplicateKey);
  EXPECT_EQ(writer.insert(one.kItem, one.values(1003, 1, 5000, 1)), AccessStatus::kDuplicateKey);
  EXPECT_EQ(writer.insert(one.kItem, one.values(5000, 1, 3, 1)), AccessStatus::kDuplicateKey);
  writer.erase(one.kItem, row(one, 1000));
  const Result<IndexReport> report = verify_indexes(one.db);
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_EQ(report->rows, 49u);
  EXPECT_EQ(report->waiting, 0u);
}

}  // namespace
}  // namespace mneme
