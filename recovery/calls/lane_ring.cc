#include "recovery/calls/lane_ring.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "base/check.h"
#include "procedures/times/interval.h"
#include "procedures/values/decimal.h"

namespace mneme {
namespace {

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

// Integers that differ in these lowest bits alone stay neighbours; the others, hashed, move them elsewhere
// together.
constexpr uint32_t kNeighbourBits = 6;

// A column's value as a word; equal values have equal ones, whatever expression they come from.
uint64_t lane_word(const Type& type, const Value& value) {
  if (value.is_null()) return 1;
  switch (type.kind) {
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      std::string_view text = value.as_text();
      if (type.kind == TypeKind::kChar) {
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
      }
      uint64_t hash = text.size();
      for (const char c : text) hash = mix(hash, static_cast<uint8_t>(c));
      return hash;
    }
    case TypeKind::kNumeric: {
      const auto scaled = static_cast<unsigned __int128>(value.as_numeric());
      return mix(mix(0, static_cast<uint64_t>(scaled)), static_cast<uint64_t>(scaled >> 64));
    }
    case TypeKind::kDecimal: {
      const Value shortest = without_trailing_zeros(value);
      const auto number = static_cast<unsigned __int128>(shortest.as_numeric());
      return mix(mix(mix(0, static_cast<uint64_t>(number)), static_cast<uint64_t>(number >> 64)),
                 shortest.digits());
    }
    case TypeKind::kInterval: {
      const auto length = static_cast<unsigned __int128>(estimate_of_interval(value));
      return mix(mix(0, static_cast<uint64_t>(length)), static_cast<uint64_t>(length >> 64));
    }
    case TypeKind::kReal:
    case TypeKind::kDouble: {
      double number = value.as_double();
      if (number == 0) number = 0;  // 0 and -0 are equal,
      // and so is all that is no number
      if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
      // Twice, as most doubles end in zeros, which a multiplication leaves there.
      return mix(mix(0, std::bit_cast<uint64_t>(number)), 0);
    }
    default: {
      const auto word = static_cast<uint64_t>(value.as_int());
      return word + mix(0, word >> kNeighbourBits);
    }
  }
}

}  // namespace

LaneRing::LaneRing(uint32_t lane_count) : lane_count_(lane_count) {
  constexpr double kGoldenSection = 0.6180339887498949;
  CHECK(lane_count > 0);
  const double section = kGoldenSection * lane_count;
  // The nearest that shares no factor: 1 shares none.
  const auto below = std::max(1U, static_cast<uint32_t>(section));
  uint32_t down = below;
  while (std::gcd(down, lane_count) != 1) --down;
  uint32_t up = below + 1;
  while (std::gcd(up, lane_count) != 1) ++up;
  const bool is_up = up <= lane_count && up - section < section - down;
  step_ = is_up ? up : down;
}

uint32_t LaneRing::lane_of(const TableDefinition& table, std::span<const ColumnId> columns,
                           std::span<const Value> key) const {
  DCHECK(key.size() == columns.size());
  uint64_t place = columns.empty() ? table.id.value : 0;  // which one is the table's does not matter
  for (size_t i = 0; i < key.size(); ++i)
    place = place * step_ + lane_word(table.column(columns[i]).type, key[i]);
  return static_cast<uint32_t>(place % lane_count_);
}

}  // namespace mneme
