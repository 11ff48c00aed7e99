// Goal: two states have one digest if, and only if, they hold the same rows. Method: rows of a small table
// whose images differ where it doesn't matter, then where it does; sums in all orders; and the digest that
// the definition asks for, computed here from bytes made by hand.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "course/grading.h"
#include "engine/schema/row_digest.h"
#include "engine/schema/schema.h"

namespace mneme::course {
namespace {

using Bytes = std::vector<std::byte>;
using Values = std::vector<Value>;

constexpr TableId kItem{0};
constexpr TableId kCopy{1};  // of another name, and otherwise the same

Catalog make_catalog() {
  const std::vector<Column> columns{
      {"id", {.kind = TypeKind::kInt}, false},
      {"name", {.kind = TypeKind::kVarchar, .length = 20}, true},
      {"note", {.kind = TypeKind::kVarchar, .length = 20}, true},
      {"price", {.kind = TypeKind::kNumeric, .precision = 12, .scale = 2}, true},
      {"weight", {.kind = TypeKind::kDouble}, true}};
  Catalog catalog;
  CHECK(catalog.add_table("item", columns, {ColumnId{0}}).ok());
  CHECK(catalog.add_table("copy", columns, {ColumnId{0}}).ok());
  return catalog;
}

class Digests : public testing::Test {
 protected:
  static Values row(int64_t id, std::string_view name = "ab", std::string_view note = "c",
                    int64_t price = 3000, double weight = 0.5) {
    return {Value::of_int(id), Value::of_text(name), Value::of_text(note), Value::of_numeric(price),
            Value::of_double(weight)};
  }
  // An image that has held `before`, over bytes that are all `fill`.
  Bytes image(const Values& values, std::byte fill = std::byte{0}, const Values& before = {}) const {
    const RowLayout& layout = schema_.layout(kItem);
    Bytes bytes(layout.image_bytes(), fill);
    for (const Values& each : {before, values}) {
      for (uint32_t c = 0; c < each.size(); ++c) layout.set(bytes.data(), ColumnId{c}, each[c]);
    }
    return bytes;
  }
  Digest digest(const Bytes& image, TableId table = kItem) const {
    ByteBuffer scratch;
    return digest_of_row(catalog_.table(table), schema_.layout(kItem), image.data(), scratch);
  }
  std::string of(const Values& values) const { return digest(image(values)).to_string(); }

  const Catalog catalog_ = make_catalog();
  const Schema schema_{catalog_};
};

constexpr const char* kFalseAlarm =
    "Recovery is right, and the check says that it isn't: two states that are equal have two digests. Nobody "
    "believes a check that cries for nothing.";
constexpr const char* kUnseen =
    "Recovery is wrong, and the check says that all is well: two states that differ have one digest.";

TEST_F(Digests, WhereTheBytesLieMakesNoDifference) {
  const std::string plain = of(row(1));
  EXPECT_EQ(digest(image(row(1), std::byte{0xff})).to_string(), plain) << broken(
      "Where a row's bytes lie makes no difference, and what was in memory before doesn't either: the "
      "padding between columns is no part of the row.",
      kFalseAlarm);
  EXPECT_EQ(digest(image(row(1), std::byte{0}, row(1, "a much longer name", "a note"))).to_string(), plain)
      << broken("What a longer text has left behind a shorter one is no part of the row.", kFalseAlarm);
}

TEST_F(Digests, UnderNullThereIsNothing) {
  Values null = row(1);
  null[1] = Value::null();
  null[3] = Value::null();
  EXPECT_EQ(digest(image(null, std::byte{0}, row(1, "something", "c", 99))).to_string(), of(null))
      << broken("What a column held before it became NULL is no part of the row.", kFalseAlarm);
  EXPECT_NE(of(null), of(row(1, "", "c", 0))) << broken("NULL is neither an empty text nor zero.", kUnseen);
}

TEST_F(Digests, EachColumnCounts) {
  const std::set<std::string> all = {of(row(1)),
                                     of(row(2)),
                                     of(row(1, "ac")),
                                     of(row(1, "ab", "d")),
                                     of(row(1, "ab", "c", 3001)),
                                     of(row(1, "ab", "c", 3000, 0.25))};
  EXPECT_EQ(all.size(), 6u) << broken("Rows that differ in one column have other digests, whichever it is.",
                                      kUnseen);
}

TEST_F(Digests, TextsHaveAnEnd) {
  using std::string_view_literals::operator""sv;
  EXPECT_NE(of(row(1, "a", "b\0c"sv)), of(row(1, "a\0b"sv, "c"))) << broken(
      "A text's length is a part of it, or a byte of it may pass for what stands between two columns. "
      "Here 'a' and 'b.c' are held against 'a.b' and 'c', with a zero byte for the point.",
      kUnseen);
}

TEST_F(Digests, TheTableCounts) {
  EXPECT_NE(digest(image(row(1)), kCopy).to_string(), of(row(1)))
      << broken("A row of another table is another row.",
                "A row that recovery puts into the wrong table is not noticed, if the columns fit.");
}

TEST_F(Digests, NotANumberIsOneValue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(of(row(1, "ab", "c", 3000, std::copysign(nan, -1))), of(row(1, "ab", "c", 3000, nan)))
      << broken("NaN is one value, whatever bits a computation has given it.", kFalseAlarm);
}

TEST_F(Digests, TheOrderOfRowsMakesNoDifference) {
  std::vector<Digest> rows;
  for (int64_t id = 0; id < 5; ++id) rows.push_back(digest(image(row(id))));
  std::vector<size_t> order{0, 1, 2, 3, 4};
  std::set<std::string> sums;
  do {
    Digest sum;
    for (const size_t i : order) sum += rows[i];
    sums.insert(sum.to_string());
  } while (std::ranges::next_permutation(order).found);
  EXPECT_EQ(sums.size(), 1u) << broken(
      "The sum of rows is the same in each order: a table is a set, and where its rows lie is chance.",
      kFalseAlarm);
}

TEST_F(Digests, DuplicatesCount) {
  const Digest one = digest(image(row(1)));
  Digest two = one;
  two += one;
  EXPECT_NE(two.to_string(), Digest{}.to_string())
      << broken("Two equal rows are not none.",
                "Recovery installs a row twice, or not at all where there were two, and nobody notices.");
  Digest three = two;
  three += one;
  EXPECT_NE(three.to_string(), one.to_string())
      << broken("Three equal rows are not one.",
                "Recovery installs a row twice, or not at all where there were two, and nobody notices.");
}

TEST_F(Digests, SumsCarry) {
  Digest sum{.low = ~uint64_t{0}, .high = 1};
  sum += Digest{.low = 2, .high = 5};
  EXPECT_EQ(sum.to_string(), "00000000000000070000000000000001")
      << broken("What the lower half can't hold carries into the upper: digests add modulo 2^128.",
                "Digests of other builds of the program, and of a standby, differ from this one's.");
  Digest wraps{.low = 3, .high = ~uint64_t{0}};
  wraps += Digest{.low = 0, .high = 1};
  EXPECT_EQ(wraps.to_string(), "00000000000000000000000000000003")
      << broken("What the upper half can't hold is dropped.", kFalseAlarm);
}

void put(std::string& to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i);
}

TEST_F(Digests, ItIsTheDigestOfTheDefinition) {
  std::string bytes = "\x04item";
  bytes += '\0';
  put(bytes, 7, 8);
  bytes += '\0';
  bytes +=
      "\x02"
      "ab";
  bytes += '\1';
  bytes += '\0';
  put(bytes, 3000, 8);
  put(bytes, 0, 8);
  bytes += '\0';
  put(bytes, 0x3fe0000000000000, 8);
  Values values = row(7);
  values[2] = Value::null();
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  EXPECT_EQ(of(values), (Digest{hash.low64, hash.high64}.to_string())) << broken(
      "A row's digest is XXH3-128 of the table's name, then of each column a NULL byte and, where it "
      "is not NULL, its value, as the definition says.",
      "Digests of other builds of the program, and of a standby, differ from this one's.");
}

}  // namespace
}  // namespace mneme::course
