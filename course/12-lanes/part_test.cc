// Goal: rows with equal keys have one lane, and other keys are spread over all lanes. Method: equal values
// that don't look equal; then keys as workloads have them, and as nobody would wish them, counted by lane.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/check.h"
#include "course/grading.h"
#include "procedures/times/interval.h"
#include "recovery/calls/lane_ring.h"

namespace mneme::course {
namespace {

using Key = std::vector<Value>;

constexpr ColumnId kWarehouse{0};
constexpr ColumnId kDistrict{1};
constexpr ColumnId kName{2};
constexpr ColumnId kAmount{3};
constexpr ColumnId kWeight{4};
constexpr ColumnId kSpan{5};

Catalog make_catalog() {
  const std::vector<Column> columns{
      {"w", {.kind = TypeKind::kInt}, false},
      {"d", {.kind = TypeKind::kInt}, false},
      {"name", {.kind = TypeKind::kChar, .length = 8}, true},
      {"amount", {.kind = TypeKind::kNumeric, .precision = 12, .scale = 2}, true},
      {"weight", {.kind = TypeKind::kDouble}, true},
      {"span", {.kind = TypeKind::kInterval}, true}};
  Catalog catalog;
  CHECK(catalog.add_table("district", columns, {kWarehouse, kDistrict}).ok());
  CHECK(catalog.add_table("history", columns, {kWarehouse, kDistrict}).ok());
  return catalog;
}

class Ring : public testing::Test {
 protected:
  uint32_t lane(const LaneRing& ring, const std::vector<ColumnId>& columns, const Key& key,
                uint32_t table = 0) const {
    return ring.lane_of(catalog_.table(TableId{table}), columns, key);
  }
  uint32_t lane(const LaneRing& ring, int64_t warehouse, int64_t district) const {
    return lane(ring, {kWarehouse, kDistrict}, {Value::of_int(warehouse), Value::of_int(district)});
  }
  // How many keys the fullest lane has, of 1 .. count; `of` gives a key's lane.
  static uint32_t fullest(uint32_t lanes, int64_t count, const std::function<uint32_t(int64_t)>& of) {
    std::vector<uint32_t> keys(lanes, 0);
    for (int64_t key = 1; key <= count; ++key) {
      const uint32_t lane = of(key);
      if (lane >= lanes) return std::numeric_limits<uint32_t>::max();
      ++keys[lane];
    }
    return *std::ranges::max_element(keys);
  }
  uint32_t fullest_of_districts(uint32_t lanes, int64_t warehouses, int64_t districts) const {
    const LaneRing ring(lanes);
    return fullest(lanes, warehouses * districts, [&](int64_t number) {
      return lane(ring, (number - 1) / districts + 1, (number - 1) % districts + 1);
    });
  }

  const Catalog catalog_ = make_catalog();
};

constexpr const char* kOrder =
    "Two pieces that touch the same row stand in two lanes, and run in any order, or at the same time. Some "
    "recoveries give the right row and others a wrong one.";
constexpr const char* kSlow =
    "Nothing is lost, but lanes stand empty while others are long, and recovery takes as long as the "
    "longest.";

TEST_F(Ring, EachKeyHasALaneThatThereIs) {
  for (const uint32_t lanes : {1u, 7u, 64u}) {
    const LaneRing ring(lanes);
    for (const int64_t key : {int64_t{0}, int64_t{-1}, int64_t{63}, int64_t{64},
                              std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()}) {
      EXPECT_LT(lane(ring, {kWarehouse}, {Value::of_int(key)}), lanes)
          << broken("Each key has a lane below lane_count(): a negative one, too.",
                    "The part reads past the lanes: replay dies.");
    }
    EXPECT_LT(lane(ring, {kWarehouse, kName}, {Value::of_int(-1), Value::null()}), lanes)
        << broken("A value may be NULL, and has a lane then as well.", "Replay dies.");
    EXPECT_LT(lane(ring, {}, {}), lanes)
        << broken("A table may have no lane columns: then all of its rows have one lane.", "Replay dies.");
  }
}

TEST_F(Ring, EqualTextsShareALane) {
  for (const uint32_t lanes : {7u, 12u, 64u}) {
    const LaneRing ring(lanes);
    EXPECT_EQ(lane(ring, {kName}, {Value::of_text("ab")}), lane(ring, {kName}, {Value::of_text("ab      ")}))
        << broken("Spaces at the end of a CHAR don't count: 'ab' and 'ab      ' are equal, and share a lane.",
                  kOrder);
  }
}

TEST_F(Ring, EqualNumbersShareALane) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const uint32_t lanes : {7u, 12u, 64u}) {
    const LaneRing ring(lanes);
    EXPECT_EQ(lane(ring, {kWeight}, {Value::of_double(0.0)}), lane(ring, {kWeight}, {Value::of_double(-0.0)}))
        << broken("0 and -0 are equal, though their bits are not, and share a lane.", kOrder);
    EXPECT_EQ(lane(ring, {kWeight}, {Value::of_double(nan)}), lane(ring, {kWeight}, {Value::of_double(-nan)}))
        << broken("In SQL a NaN equals every other NaN, whatever its bits are.", kOrder);
  }
}

TEST_F(Ring, EqualIntervalsShareALane) {
  for (const uint32_t lanes : {7u, 12u, 64u}) {
    const LaneRing ring(lanes);
    EXPECT_EQ(lane(ring, {kSpan}, {value_of({.months = 1})}), lane(ring, {kSpan}, {value_of({.days = 30})}))
        << broken("In SQL '1 month' equals '30 days' (estimate_of_interval() knows): the two share a lane.",
                  kOrder);
  }
}

TEST_F(Ring, TheTableMakesNoDifference) {
  for (const uint32_t lanes : {7u, 64u}) {
    const LaneRing ring(lanes);
    const Key key{Value::of_int(3), Value::of_int(5)};
    EXPECT_EQ(lane(ring, {kWarehouse, kDistrict}, key, 0), lane(ring, {kWarehouse, kDistrict}, key, 1))
        << broken("Rows of two tables with one key share a lane: a district, and what was bought there.",
                  "Nothing is lost, but a piece that touches both stands in two lanes, and each waits for "
                  "the other.");
  }
}

TEST_F(Ring, AnotherRingOfThisSizeIsTheSame) {
  const LaneRing one(12);
  const LaneRing other(12);
  for (int64_t key = 1; key <= 100; ++key) {
    ASSERT_EQ(lane(one, key, 3), lane(other, key, 3)) << broken(
        "A key's lane follows from the key and the number of lanes alone: each thread may have a ring of its "
        "own.",
        kOrder);
  }
}

TEST_F(Ring, NeighboursHaveLanesOfTheirOwn) {
  const LaneRing ring(64);
  EXPECT_EQ(fullest(64, 20, [&](int64_t key) { return lane(ring, {kWarehouse}, {Value::of_int(key)}); }), 1u)
      << broken("Neighbours have lanes of their own: the fullest of 64 lanes has one of the keys 1 to 20.",
                kSlow);
}

TEST_F(Ring, SoHaveNeighboursOfTwoColumns) {
  for (const int64_t warehouses : {1, 2, 4}) {
    EXPECT_EQ(fullest_of_districts(64, warehouses, 10), 1u) << broken(
        fmt::format("A few keys of two columns have lanes of their own: warehouses: {}; districts of each: "
                    "10; lanes: 64; keys in the fullest lane: 1.",
                    warehouses),
        kSlow);
  }
  EXPECT_EQ(fullest_of_districts(256, 8, 10), 1u) << broken(
      "A few keys of two columns have lanes of their own: warehouses: 8; districts of each: 10; lanes: "
      "256; keys in the fullest lane: 1.",
      kSlow);
}

TEST_F(Ring, EachLaneIsUsed) {
  // One district a warehouse: what is between two of them is the first column's step.
  for (const uint32_t lanes : {6u, 10u, 12u, 20u, 60u}) {
    const LaneRing ring(lanes);
    EXPECT_EQ(fullest(lanes, lanes, [&](int64_t key) { return lane(ring, key, 1); }), 1u) << broken(
        fmt::format("Whatever the number of lanes is, each is used: here there are {0} lanes and {0} "
                    "warehouses of one district each, and the fullest lane has one of them. So the step from "
                    "one warehouse to the next has no factor in common with the number of lanes.",
                    lanes),
        kSlow);
  }
}

TEST_F(Ring, ManyKeysAreSpread) {
  for (const uint32_t lanes : {12u, 64u}) {
    const LaneRing ring(lanes);
    for (const int64_t stride : {1, 63, 64, 65, 260, 4095, 4096, 4097}) {
      const uint32_t most = 4000 / lanes * 16 / 10;
      EXPECT_LT(fullest(lanes, 4000,
                        [&](int64_t key) { return lane(ring, {kWarehouse}, {Value::of_int(key * stride)}); }),
                most)
          << broken(fmt::format(
                        "Many keys are spread, also where they are multiples of something, as here of {}: "
                        "4000 keys, {} lanes, {} keys a lane; the fullest has at most some more.",
                        stride, lanes, 4000 / lanes),
                    kSlow);
    }
  }
}

TEST_F(Ring, SoAreOtherTypes) {
  for (const uint32_t lanes : {12u, 64u}) {
    const LaneRing ring(lanes);
    const uint32_t most = 4000 / lanes * 16 / 10;
    EXPECT_LT(fullest(lanes, 4000,
                      [&](int64_t key) {
                        return lane(ring, {kWeight}, {Value::of_double(static_cast<double>(key) / 4)});
                      }),
              most)
        << broken("Doubles are spread, though most of them end in many bits that are 0.", kSlow);
    EXPECT_LT(fullest(lanes, 4000,
                      [&](int64_t key) { return lane(ring, {kAmount}, {Value::of_numeric(key * 100)}); }),
              most)
        << broken("Amounts are spread, though most of them end in .00.", kSlow);
    EXPECT_LT(fullest(lanes, 4000,
                      [&](int64_t key) {
                        const std::string name = fmt::format("cu{:05}", key);
                        return lane(ring, {kName}, {Value::of_text(name)});
                      }),
              most)
        << broken("Names are spread, though they begin alike.", kSlow);
  }
}

}  // namespace
}  // namespace mneme::course
