#include "engine/schema/row_digest.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>
#include <limits>

namespace mneme {

namespace {

void put_value(ByteBuffer& to, TypeKind kind, const Value& value) {
  to.put<uint8_t>(value.is_null() ? 1 : 0);
  if (value.is_null()) return;
  switch (kind) {
    case TypeKind::kNumeric:
      return to.put<int128>(value.as_numeric());
    case TypeKind::kDecimal:
      to.put<uint8_t>(value.digits());
      return to.put<int128>(value.as_numeric());
    case TypeKind::kInterval:
      return to.put<int128>(value.as_interval());
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return to.put_text(value.as_text());
    case TypeKind::kReal:
    case TypeKind::kDouble: {
      const double number = value.as_double();
      return to.put<double>(std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
    }
    default:
      return to.put<int64_t>(value.as_int());
  }
}

}  // namespace

Digest digest_of_row(const TableDefinition& table, const RowLayout& layout, const std::byte* image,
                     ByteBuffer& scratch) {
  scratch.clear();
  scratch.put_text(table.name);
  for (uint32_t i = 0; i < table.columns.size(); ++i) {
    put_value(scratch, table.columns[i].type.kind, layout.get(image, ColumnId{i}));
  }
  const XXH128_hash_t hash = XXH3_128bits(scratch.span().data(), scratch.size());
  return {hash.low64, hash.high64};
}

Digest& Digest::operator+=(const Digest& other) {
  low += other.low;
  high += other.high + (low < other.low ? 1 : 0);
  return *this;
}

std::string Digest::to_string() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

}  // namespace mneme
