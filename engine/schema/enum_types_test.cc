// Goal: equal definitions are one type, and a changed one is another, while labels are found by text and by
// position. Method: definitions made by hand, and a catalog with a table of the type.
#include "engine/schema/enum_types.h"

#include <gtest/gtest.h>

#include "engine/schema/catalog.h"

namespace mneme {
namespace {

EnumDefinition mood() {
  EnumDefinition definition;
  definition.name = definition.shown = "mood";
  definition.labels = {{"sad", kEnumLabelDistance}, {"happy", 2 * kEnumLabelDistance}};
  return definition;
}

TEST(EnumTypes, EqualDefinitionsAreOneType) {
  const Type one = *intern_enum(mood());
  EXPECT_EQ(one, *intern_enum(mood()));
  EnumDefinition other = mood();
  other.labels.pop_back();
  EXPECT_FALSE(one == *intern_enum(other));
  EXPECT_EQ(enum_definition(one), mood());
}

TEST(EnumTypes, LabelsAreFoundByTextAndPosition) {
  const Type type = *intern_enum(mood());
  ASSERT_NE(find_label(type, "happy"), nullptr);
  EXPECT_EQ(find_label(type, "happy")->position, 2 * kEnumLabelDistance);
  EXPECT_EQ(find_label(type, "Happy"), nullptr);
  ASSERT_NE(find_label(type, kEnumLabelDistance), nullptr);
  EXPECT_EQ(find_label(type, kEnumLabelDistance)->text, "sad");
  for (const int64_t position : {int64_t{0}, kEnumLabelDistance + 1, 3 * kEnumLabelDistance})
    EXPECT_EQ(find_label(type, position), nullptr) << position;
}

TEST(EnumTypes, AChangeReachesTheColumnsAndLaysNoRowOutAnew) {
  Catalog catalog;
  const Type type = *catalog.add_enum(mood());
  ASSERT_TRUE(catalog.add_table("t", {{"m", type}, {"n", Type{.kind = TypeKind::kInt}}}, {ColumnId{0}}).ok());
  EnumDefinition next = enum_definition(type);
  next.labels.push_back({"glad", 3 * kEnumLabelDistance});
  ASSERT_TRUE(catalog.change_enum(type, next).ok());
  const Type& changed = catalog.table(TableId{0}).columns[0].type;
  EXPECT_NE(find_label(changed, "glad"), nullptr);
  EXPECT_EQ(catalog.find_enum("mood"), changed);
  EXPECT_EQ(catalog.table(TableId{0}).times_remade, 0u);
  EXPECT_EQ(catalog.without(TableId{0}).find_enum("mood"), changed);
  catalog.drop_enum(changed);
  EXPECT_FALSE(catalog.find_enum("mood"));
}

TEST(EnumTypes, ATypesNumberIsFreeForAnotherOnceItIsGone) {
  Catalog catalog;
  const Type first = *catalog.add_enum(mood());
  EnumDefinition other = mood();
  other.name = "other";
  const Type second = *catalog.add_enum(other);
  EXPECT_EQ(enum_definition(second).id, 1u);
  catalog.drop_enum(first);
  other.name = "third";
  EXPECT_EQ(enum_definition(*catalog.add_enum(other)).id, 0u);
}

}  // namespace
}  // namespace mneme
