#include "engine/row_layout.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace mneme {

namespace {

struct Shape {
  uint32_t bytes;
  uint32_t alignment;
};

Shape shape_of(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return {1, 1};
    case TypeKind::kSmallInt:
      return {2, 2};
    case TypeKind::kInt:
      return {4, 4};
    case TypeKind::kBigInt:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
      return {8, 8};
    case TypeKind::kNumeric:
      return type.precision <= kNarrowNumericPrecision ? Shape{8, 8} : Shape{16, 8};
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return {2u + type.length, 2};
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
  return {};
}

}  // namespace

RowLayout::RowLayout(const TableDefinition& table) : columns_(table.columns.size()) {
  uint32_t end = 0;
  const auto put = [&](uint32_t column) {
    const Type& type = table.columns[column].type;
    const Shape shape = shape_of(type);
    end = (end + shape.alignment - 1) / shape.alignment * shape.alignment;
    columns_[column] = {end, shape.bytes, -1, type.kind,
                        type.kind == TypeKind::kNumeric && type.precision > kNarrowNumericPrecision};
    end += shape.bytes;
  };
  // Wide alignments first, so that nothing is padded.
  std::vector<uint32_t> strings;
  for (const uint32_t alignment : {8u, 4u, 2u, 1u}) {
    for (uint32_t i = 0; i < columns_.size(); ++i) {
      const Type& type = table.columns[i].type;
      if (shape_of(type).alignment != alignment) continue;
      type.is_string() ? strings.push_back(i) : put(i);
    }
  }
  std::vector<uint32_t> null_flags(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (table.columns[i].nullable) null_flags[i] = end++;
  }
  std::ranges::stable_sort(strings, {}, [&](uint32_t i) { return table.columns[i].type.length; });
  for (const uint32_t i : strings) put(i);
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (table.columns[i].nullable) columns_[i].null_flag = static_cast<int32_t>(null_flags[i]);
  }
  image_bytes_ = (size_t{end} + 7) / 8 * 8;

  for (const Place& place : columns_) {
    ImageParts parts = ImageParts::of(place.offset, place.bytes);
    if (place.null_flag >= 0) parts |= ImageParts::of(static_cast<size_t>(place.null_flag), 1);
    parts_.push_back(parts);
  }
}

Value RowLayout::get(const std::byte* image, ColumnId column) const {
  const Place& place = columns_[column.value];
  if (place.null_flag >= 0 && image[place.null_flag] != std::byte{0}) return Value::null();
  const std::byte* at = image + place.offset;
  switch (place.kind) {
    case TypeKind::kBoolean:
      return Value::of_bool(load<uint8_t>(at) != 0);
    case TypeKind::kSmallInt:
      return Value::of_int(load<int16_t>(at));
    case TypeKind::kInt:
      return Value::of_int(load<int32_t>(at));
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
      return Value::of_int(load<int64_t>(at));
    case TypeKind::kNumeric:
      return Value::of_numeric(place.wide_numeric ? load<int128>(at) : int128{load<int64_t>(at)});
    case TypeKind::kDouble:
      return Value::of_double(load<double>(at));
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return Value::of_text({reinterpret_cast<const char*>(at + 2), load<uint16_t>(at)});
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
  return {};
}

void RowLayout::set(std::byte* image, ColumnId column, const Value& value) const {
  const Place& place = columns_[column.value];
  if (place.null_flag >= 0) image[place.null_flag] = std::byte{value.is_null()};
  if (value.is_null()) {
    DCHECK(place.null_flag >= 0);
    return;
  }
  std::byte* at = image + place.offset;
  switch (place.kind) {
    case TypeKind::kBoolean:
      return store<uint8_t>(at, value.as_bool());
    case TypeKind::kSmallInt:
      return store(at, static_cast<int16_t>(value.as_int()));
    case TypeKind::kInt:
      return store(at, static_cast<int32_t>(value.as_int()));
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
      return store(at, value.as_int());
    case TypeKind::kNumeric:
      return place.wide_numeric ? store(at, value.as_numeric())
                                : store(at, static_cast<int64_t>(value.as_numeric()));
    case TypeKind::kDouble:
      return store(at, value.as_double());
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const std::string_view text = value.as_text();
      DCHECK(text.size() + 2 <= place.bytes);
      store(at, static_cast<uint16_t>(text.size()));
      // The text may come from this very place: a column set to itself. Empty text may have no place at all.
      if (!text.empty()) std::memmove(at + 2, text.data(), text.size());
      return;
    }
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
}

}  // namespace mneme
