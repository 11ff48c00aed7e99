// Goal: a catalog takes what rows and keys can hold and refuses the rest, by name. Method: a table of
// declarations.
#include "engine/schema/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mneme {
namespace {

const Type kIntType{.kind = TypeKind::kInt};
Type varchar(uint16_t length) {
  return {.kind = TypeKind::kVarchar, .length = length};
}

TEST(Catalog, KeepsTablesColumnsAndIndexesInOrderOfDeclaration) {
  Catalog catalog;
  const Result<TableId> table =
      catalog.add_table("account", {{"id", kIntType, true}, {"owner", varchar(10), true}}, {ColumnId{0}});
  ASSERT_TRUE(table.ok());
  const Result<IndexId> by_owner = catalog.add_index("account_owner", *table, {ColumnId{1}}, false);
  ASSERT_TRUE(by_owner.ok());
  catalog.mark_ordered(*by_owner);

  const TableDefinition& account = catalog.table(*table);
  EXPECT_EQ(account.primary_key, IndexId{0});
  EXPECT_THAT(account.indexes, testing::ElementsAre(IndexId{0}, IndexId{1}));
  EXPECT_FALSE(account.columns[0].nullable) << "a primary key's columns are NOT NULL";
  EXPECT_EQ(account.find_column("owner"), ColumnId{1});
  EXPECT_EQ(account.find_column("balance"), std::nullopt);
  EXPECT_EQ(catalog.index(IndexId{0}).name, "account_pkey");
  EXPECT_FALSE(catalog.index(IndexId{0}).ordered);
  EXPECT_TRUE(catalog.index(*by_owner).ordered);
  EXPECT_EQ(catalog.find_table("account"), &account);
  EXPECT_EQ(catalog.find_table("accounts"), nullptr);
}

TEST(Catalog, RefusesWhatCannotBe) {
  const std::vector<Column> columns = {
      {"id", kIntType, false}, {"a", varchar(600), true}, {"b", varchar(1000), false}};
  struct Row {
    const char* what;
    std::vector<Column> columns;
    std::vector<ColumnId> primary_key;
    const char* message;
  };
  const Row rows[] = {
      {"taken", columns, {}, "exists already"},
      {"t", {}, {}, "no columns"},
      {"t", {{"x", kIntType}, {"x", kIntType}}, {}, "declared twice"},
      {"t", {{"x", Type{.kind = TypeKind::kInt, .is_array = true}}}, {}, "int[]"},
      {"t", {{"x", Type{.kind = TypeKind::kChar}}}, {}, "char(n)"},
      {"t", {{"x", Type{.kind = TypeKind::kNumeric}}}, {}, "precision"},
      {"t", {{"x", varchar(2000)}}, {ColumnId{0}}, "2000 bytes"},
      {"t", columns, {ColumnId{0}, ColumnId{0}}, "twice"},
      {"t", columns, {ColumnId{7}}, "does not have"},
  };
  for (const Row& row : rows) {
    Catalog catalog;
    ASSERT_TRUE(catalog.add_table("taken", columns, {ColumnId{0}}).ok());
    const Result<TableId> added = catalog.add_table(row.what, row.columns, row.primary_key);
    ASSERT_FALSE(added.ok()) << row.message;
    EXPECT_THAT(added.error().message, testing::HasSubstr(row.message));
    EXPECT_EQ(catalog.tables().size(), 1u);
  }

  Catalog catalog;
  const TableId table = *catalog.add_table("t", columns, {ColumnId{0}});
  EXPECT_FALSE(catalog.add_index("w", table, {ColumnId{1}, ColumnId{2}}, false).ok()) << "too wide";
  EXPECT_FALSE(catalog.add_index("t", table, {ColumnId{0}}, false).ok()) << "the table's name";
  EXPECT_FALSE(catalog.add_index("e", table, {}, true).ok()) << "unique over nothing";
  EXPECT_TRUE(catalog.add_index("all", table, {}, false).ok());
  EXPECT_TRUE(catalog.add_index("b", table, {ColumnId{2}}, true).ok());
}

// The keys of other indexes have the primary key's bytes behind them, or a slot number's.
TEST(Catalog, OtherIndexesKeysFitWithAPrimaryKeyAndWithoutOne) {
  const std::vector<Column> columns = {{"a", varchar(255), true},   {"b", varchar(255), true},
                                       {"c", varchar(255), true},   {"d", varchar(255), true},
                                       {"id", kIntType, false},     {"e", varchar(255), false},
                                       {"more", varchar(12), false}};
  const std::vector<ColumnId> wide = {ColumnId{0}, ColumnId{1}, ColumnId{2}, ColumnId{3}};
  for (const bool unique : {false, true}) {
    Catalog catalog;
    const TableId table = *catalog.add_table("t", columns, {});
    ASSERT_TRUE(catalog.add_index("wide", table, wide, unique).ok());
    EXPECT_TRUE(Catalog(catalog).add_primary_key(table, {ColumnId{4}}, "").ok());
    const Result<IndexId> added = Catalog(catalog).add_primary_key(table, {ColumnId{5}}, "");
    ASSERT_FALSE(added.ok());
    EXPECT_THAT(added.error().message, testing::HasSubstr("index wide needs keys of"));
  }
  Catalog catalog;
  const TableId table = *catalog.add_table("t", columns, {ColumnId{4}});
  std::vector<ColumnId> widest = wide;
  widest.push_back(ColumnId{6});
  EXPECT_FALSE(catalog.add_index("widest", table, widest, false).ok())
      << "no slot number would fit behind it";
}

TEST(Catalog, AUniqueIndexOverNullsIsOrderedAndNamesNoRow) {
  Catalog catalog;
  const TableId table = *catalog.add_table(
      "t", {{"id", kIntType, false}, {"a", kIntType, true}, {"b", kIntType, false}}, {ColumnId{0}});
  const IndexId nullable = *catalog.add_index("t_a", table, {ColumnId{1}}, true);
  const IndexId whole = *catalog.add_index("t_b", table, {ColumnId{2}}, true);
  EXPECT_TRUE(catalog.is_ordered(catalog.index(nullable)));
  EXPECT_FALSE(catalog.names_rows(catalog.index(nullable)));
  EXPECT_FALSE(catalog.is_ordered(catalog.index(whole)));
  EXPECT_TRUE(catalog.names_rows(catalog.index(whole)));
}

TEST(Type, IsPrintedAsSqlWritesIt) {
  EXPECT_EQ(to_string(Type{.kind = TypeKind::kNumeric, .precision = 12, .scale = 2}), "numeric(12,2)");
  EXPECT_EQ(to_string(Type{.kind = TypeKind::kInt, .is_array = true}), "int[]");
  EXPECT_EQ(to_string(varchar(20)), "varchar(20)");
  EXPECT_EQ(to_string(Type{.kind = TypeKind::kVarchar, .length = 20, .is_text = true}), "text");
  EXPECT_EQ(to_string(Type{.kind = TypeKind::kDouble}), "double precision");
}

}  // namespace
}  // namespace mneme
