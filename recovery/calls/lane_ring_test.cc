// Goal: a few keys have lanes of their own, many are spread evenly, and equal keys share a lane.
// Method: keys as workloads have them, and as no user would wish them; lanes are counted.
#include "recovery/calls/lane_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "procedures/binder/program.h"

namespace mneme {
namespace {

constexpr const char* kDistrictText = R"(
CREATE TABLE district (w INT, d INT, amount NUMERIC(10,2) NOT NULL, name CHAR(8) NOT NULL, rate DOUBLE PRECISION NOT NULL,
                       PRIMARY KEY (w, d));
CREATE TABLE other (id INT PRIMARY KEY);
)";

class LaneRings : public testing::Test {
 protected:
  const TableDefinition& table(uint32_t id) const { return program_->catalog.table(TableId{id}); }
  static std::vector<ColumnId> columns(std::initializer_list<uint32_t> of) {
    std::vector<ColumnId> ids;
    for (const uint32_t c : of) ids.push_back(ColumnId{c});
    return ids;
  }
  uint32_t lane(const LaneRing& ring, std::initializer_list<uint32_t> of, std::vector<Value> key) const {
    return ring.lane_of(table(0), columns(of), key);
  }
  // How many keys the fullest lane has.
  uint32_t fullest(const LaneRing& ring, int64_t warehouses, int64_t districts, int64_t stride = 1) const {
    std::vector<uint32_t> keys(ring.lane_count(), 0);
    for (int64_t w = 1; w <= warehouses; ++w) {
      for (int64_t d = 1; d <= districts; ++d)
        ++keys[lane(ring, {0, 1}, {Value::of_int(w * stride), Value::of_int(d * stride)})];
    }
    return *std::ranges::max_element(keys);
  }

  const std::unique_ptr<const Program> program_ = *compile(kDistrictText, "test.sql");
};

TEST_F(LaneRings, GiveAFewKeysLanesOfTheirOwn) {
  for (const int64_t warehouses : {1, 2, 4})
    EXPECT_EQ(fullest(LaneRing(64), warehouses, 10), 1u) << warehouses;
  EXPECT_EQ(fullest(LaneRing(256), 8, 10), 1u);
  EXPECT_LE(fullest(LaneRing(256), 20, 10), 2u);
}

TEST_F(LaneRings, SpreadManyKeys) {
  for (const uint32_t lanes : {7u, 12u, 64u, 100u}) {
    for (const int64_t stride : {1, 63, 64, 65, 100, 4095, 4096, 4097, 1'000'000}) {
      const double even = 40.0 * 500 / lanes;
      EXPECT_LT(fullest(LaneRing(lanes), 40, 500, stride), 1.5 * even)
          << lanes << " lanes, stride " << stride;
    }
  }
}

TEST_F(LaneRings, SpreadOneColumn) {
  constexpr int64_t kKeys = 4000;
  for (const uint32_t lanes : {12u, 64u}) {
    const LaneRing ring(lanes);
    for (const int64_t stride : {1, 63, 64, 65, 260, 4095, 4096, 4097}) {
      std::vector<uint32_t> integers(lanes, 0);
      std::vector<uint32_t> doubles(lanes, 0);
      for (int64_t k = 1; k <= kKeys; ++k) {
        ++integers[lane(ring, {0}, {Value::of_int(k * stride)})];
        ++doubles[lane(ring, {4}, {Value::of_double(static_cast<double>(k * stride) / 4)})];
      }
      for (const auto& keys : {integers, doubles})
        EXPECT_LT(*std::ranges::max_element(keys), 1.6 * kKeys / lanes)
            << lanes << " lanes, stride " << stride;
    }
  }
}

TEST_F(LaneRings, GiveEqualValuesOneLane) {
  for (const uint32_t lanes : {1u, 2u, 7u, 12u, 64u}) {
    const LaneRing ring(lanes);
    EXPECT_EQ(lane(ring, {3}, {Value::of_text("ab")}), lane(ring, {3}, {Value::of_text("ab  ")}));
    EXPECT_EQ(lane(ring, {4}, {Value::of_double(0.0)}), lane(ring, {4}, {Value::of_double(-0.0)}));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(lane(ring, {4}, {Value::of_double(nan)}), lane(ring, {4}, {Value::of_double(-nan)}));
    EXPECT_EQ(lane(ring, {2}, {Value::of_numeric(500)}), lane(ring, {2}, {Value::of_numeric(500)}));
    EXPECT_LT(lane(ring, {0, 1}, {Value::of_int(-1), Value::null()}), lanes);
    EXPECT_LT(ring.lane_of(table(1), {}, {}), lanes);
  }
}

}  // namespace
}  // namespace mneme
