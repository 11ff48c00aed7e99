// Goal: a text that spells an array is read into the one form that a column keeps, or refused, as PostgreSQL
// 15 does. Method: tables of declared types, of texts, and of the form or the sqlstate.
#include "procedures/values/array_form.h"

#include <gtest/gtest.h>

#include <string>

namespace mneme {
namespace {

struct Spelled {
  Type declared;
  const char* text;
  const char* form;  // or a sqlstate
};

Type array_of(Type element) {
  element.is_array = true;
  return array_form(element);
}

constexpr Type kInt{.kind = TypeKind::kInt};
constexpr Type kSmall{.kind = TypeKind::kSmallInt};
constexpr Type kText{.kind = TypeKind::kVarchar, .is_text = true};
constexpr Type kThree{.kind = TypeKind::kVarchar, .length = 3};
constexpr Type kPadded{.kind = TypeKind::kChar, .length = 3};
constexpr Type kMoney{.kind = TypeKind::kNumeric, .precision = 4, .scale = 1};
constexpr Type kAnyDigits{.kind = TypeKind::kDecimal};
constexpr Type kTruth{.kind = TypeKind::kBoolean};

const Spelled kTexts[] = {
    {kInt, "{}", "{}"},
    {kInt, " { 1 , 2 } ", "{1,2}"},
    {kInt, "{+1,NULL,null}", "{1,NULL,NULL}"},
    {kInt, "{\"7\"}", "{7}"},
    {kInt, "{a}", "22P02"},
    {kInt, "{1", "22P02"},
    {kInt, "1", "22P02"},
    {kInt, "", "22P02"},
    {kInt, "{2147483648}", "22003"},
    {kInt, "{{1,2},{3,4}}", "0A000"},
    {kInt, "[2:3]={1,2}", "0A000"},
    {kSmall, "{70000}", "22003"},
    {kText, "{a,\"b c\",\"\",\"NULL\",\"x,y\",\"q\\\"r\"}", "{a,\"b c\",\"\",\"NULL\",\"x,y\",\"q\\\"r\"}"},
    {kText, "{\"a\"}", "{a}"},
    {kThree, "{abc}", "{abc}"},
    {kThree, "{\"abc  \"}", "{abc}"},
    {kThree, "{abcd}", "22001"},
    {kPadded, "{a}", "{\"a  \"}"},
    {kMoney, "{1.25,7}", "{1.3,7.0}"},
    {kMoney, "{12345}", "22003"},
    {kAnyDigits, "{1.50,2}", "{1.50,2}"},
    {kTruth, "{yes,off}", "{t,f}"},
};

TEST(ArrayForm, TextsAreReadIntoOneForm) {
  for (const Spelled& each : kTexts) {
    Arena arena;
    Value read;
    SqlError error;
    const bool is_read = read_array_form(array_of(each.declared), each.text, arena, read, error);
    EXPECT_EQ(is_read ? std::string(read.as_text()) : std::string(error.sqlstate), each.form)
        << to_string(each.declared) << "[] " << each.text;
  }
}

TEST(ArrayForm, ElementsAreCast) {
  struct Cast {
    Type from;
    Type to;
    const char* text;
    const char* form;
  };
  const Cast kCasts[] = {
      {kAnyDigits, kInt, "{1.5,2.4,NULL}", "{2,2,NULL}"},
      {kInt, kText, "{1,NULL}", "{1,NULL}"},
      {kInt, kSmall, "{70000}", "22003"},
      {kText, kThree, "{abcd}", "22001"},
      {kInt, kMoney, "{3}", "{3.0}"},
      {kThree, kPadded, "{a}", "{\"a  \"}"},
  };
  for (const Cast& each : kCasts) {
    Arena arena;
    Value made;
    SqlError error;
    const bool is_made = cast_array_form(array_of(each.from), array_of(each.to), TooLong::kCutBlanks,
                                         each.text, arena, made, error);
    EXPECT_EQ(is_made ? std::string(made.as_text()) : std::string(error.sqlstate), each.form)
        << to_string(each.from) << " to " << to_string(each.to) << " " << each.text;
  }
}

TEST(ArrayForm, TheFormSaysWhatWasDeclared) {
  for (const Type& each :
       {kInt, kSmall, kText, kThree, kPadded, kMoney, kAnyDigits, kTruth, kUuidType, kJsonbType,
        Type{.kind = TypeKind::kTimestamp, .precision = 4, .is_zoned = true}}) {
    EXPECT_EQ(declared_element(array_of(each)), each) << to_string(each);
    EXPECT_EQ(to_string(array_of(each)), to_string(each) + "[]");
  }
}

}  // namespace
}  // namespace mneme
