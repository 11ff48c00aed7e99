#include "engine/schema/row_layout.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/cache_line.h"
#include "base/check.h"

namespace mneme {

namespace {

struct Shape {
  uint32_t bytes;
  uint32_t alignment;
};

// `room`: the bytes of a string that does not lie in a cell.
Shape shape_of(const Type& type, uint32_t room) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return {1, 1};
    case TypeKind::kSmallInt:
      return {2, 2};
    case TypeKind::kInt:
    case TypeKind::kReal:
    case TypeKind::kDate:
      return {4, 4};
    case TypeKind::kBigInt:
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return {8, 8};
    case TypeKind::kNumeric:
      return type.precision <= kNarrowNumericPrecision ? Shape{8, 8} : Shape{16, 8};
    case TypeKind::kInterval:
      return {16, 8};
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return {2u + room, 2};
    case TypeKind::kDecimal:
      return {24, 8};  // the number, and how many digits are after its point
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
  return {};
}

// Where strings lie that follow each other from `begin` on, and the last one's end. `at_part_begin` are those
// that begin on a part of their own, should they not lie within one anyway.
struct StringPlaces {
  std::vector<uint32_t> offsets;
  uint32_t end = 0;
  uint32_t over_two_parts = 0;

  StringPlaces(std::span<const uint32_t> bytes, const std::vector<bool>& at_part_begin, uint32_t begin)
      : end(begin) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      end += end % 2;
      if (is_split(end, bytes[i])) {
        if (at_part_begin[i]) end = next_part(end);
        over_two_parts += is_split(end, bytes[i]);
      }
      offsets.push_back(end);
      end += bytes[i];
    }
  }

  // In more parts than a string of its length must be.
  static bool is_split(uint32_t offset, uint32_t bytes) {
    const auto parts = std::popcount(ImageParts::of(offset, bytes).bits());
    return parts > std::popcount(ImageParts::of(next_part(offset), bytes).bits());
  }
  static uint32_t next_part(uint32_t offset) {
    constexpr uint32_t kBytes = ImageParts::kPartBytes;
    return (ImageParts::kHeaderBytes + offset + kBytes - 1) / kBytes * kBytes - ImageParts::kHeaderBytes;
  }
};

// The longest strings first: what is seldom looked at gets the room that the row's last line leaves.
StringPlaces place_strings(std::span<const uint32_t> bytes, uint32_t begin) {
  std::vector<bool> at_part_begin(bytes.size());
  StringPlaces best(bytes, at_part_begin, begin);
  const size_t stride = row_stride((size_t{best.end} + 7) / 8 * 8);
  for (size_t i = bytes.size(); i-- > 0;) {
    at_part_begin[i] = true;
    StringPlaces moved(bytes, at_part_begin, begin);
    if (row_stride((size_t{moved.end} + 7) / 8 * 8) == stride && moved.over_two_parts < best.over_two_parts) {
      best = std::move(moved);
    } else {
      at_part_begin[i] = false;
    }
  }
  return best;
}

// Where cells begin behind `end`: on a part of their own, which each of them fills, where the row gets no
// longer by that.
uint32_t cells_begin(uint32_t end, uint32_t cells) {
  const uint32_t aligned = (end + 7) / 8 * 8;
  const uint32_t at_part = StringPlaces::next_part(aligned);
  const auto stride = [&](uint32_t begin) { return row_stride(size_t{begin} + cells * TextCell::kBytes); };
  return stride(at_part) == stride(aligned) ? at_part : aligned;
}

}  // namespace

size_t row_stride(size_t image_bytes) {
  const size_t bytes = ImageParts::kHeaderBytes + image_bytes;
  const size_t lines = (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
  return (lines - bytes) * 8 <= bytes ? lines : bytes;
}

RowLayout::RowLayout(const Catalog& catalog, const TableDefinition& table) : columns_(table.columns.size()) {
  uint32_t end = 0;
  const auto shape = [&](uint32_t column) {
    const Type& type = table.columns[column].type;
    if (is_long_text(catalog, table, ColumnId{column})) return Shape{TextCell::kBytes, 8};
    return shape_of(type, type.is_string() ? text_room(catalog, table, ColumnId{column}) : 0);
  };
  const auto put_at = [&](uint32_t column, uint32_t offset) {
    const Type& type = table.columns[column].type;
    columns_[column] = {offset,
                        shape(column).bytes,
                        -1,
                        type.kind,
                        type.kind == TypeKind::kNumeric && type.precision > kNarrowNumericPrecision,
                        false};
    end = offset + shape(column).bytes;
  };
  // Wide alignments first, so that nothing is padded.
  std::vector<uint32_t> strings;
  for (const uint32_t alignment : {8u, 4u, 2u, 1u}) {
    for (uint32_t i = 0; i < columns_.size(); ++i) {
      if (shape(i).alignment != alignment) continue;
      if (is_long_text(catalog, table, ColumnId{i})) {
        long_columns_.push_back(ColumnId{i});
      } else if (table.columns[i].type.is_string()) {
        strings.push_back(i);
      } else {
        put_at(i, (end + alignment - 1) / alignment * alignment);
      }
    }
  }
  std::vector<uint32_t> null_flags(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (table.columns[i].nullable) null_flags[i] = end++;
  }
  std::ranges::stable_sort(strings, {}, [&](uint32_t i) { return shape(i).bytes; });
  std::vector<uint32_t> string_bytes;
  for (const uint32_t i : strings) string_bytes.push_back(shape(i).bytes);
  const StringPlaces places = place_strings(string_bytes, end);
  for (size_t i = 0; i < strings.size(); ++i) put_at(strings[i], places.offsets[i]);
  if (!long_columns_.empty()) end = cells_begin(end, static_cast<uint32_t>(long_columns_.size()));
  for (const ColumnId column : long_columns_) {
    put_at(column.value, end);
    columns_[column.value].is_long = true;
  }
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

size_t RowLayout::column_bytes() const {
  size_t bytes = 0;
  for (const Place& place : columns_) bytes += place.bytes + (place.null_flag >= 0 ? 1 : 0);
  return bytes;
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
    case TypeKind::kDate:
      return Value::of_int(load<int32_t>(at));
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return Value::of_int(load<int64_t>(at));
    case TypeKind::kNumeric:
      return Value::of_numeric(place.wide_numeric ? load<int128>(at) : int128{load<int64_t>(at)});
    case TypeKind::kInterval:
      return Value::of_interval(load<int128>(at));
    case TypeKind::kReal:
      return Value::of_double(double{load<float>(at)});
    case TypeKind::kDouble:
      return Value::of_double(load<double>(at));
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      if (place.is_long) return Value::of_text(TextCell::get(at));
      return Value::of_text({reinterpret_cast<const char*>(at + 2), load<uint16_t>(at)});
    case TypeKind::kDecimal:
      return Value::of_decimal(load<int128>(at), load<uint8_t>(at + 16));
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
    if (place.is_long) TextCell::clear(image + place.offset);
    return;
  }
  std::byte* at = image + place.offset;
  switch (place.kind) {
    case TypeKind::kBoolean:
      return store<uint8_t>(at, value.as_bool());
    case TypeKind::kSmallInt:
      return store(at, static_cast<int16_t>(value.as_int()));
    case TypeKind::kInt:
    case TypeKind::kDate:
      return store(at, static_cast<int32_t>(value.as_int()));
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return store(at, value.as_int());
    case TypeKind::kNumeric:
      return place.wide_numeric ? store(at, value.as_numeric())
                                : store(at, static_cast<int64_t>(value.as_numeric()));
    case TypeKind::kInterval:
      return store(at, value.as_interval());
    case TypeKind::kReal:
      return store(at, static_cast<float>(value.as_double()));
    case TypeKind::kDouble:
      return store(at, value.as_double());
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const std::string_view text = value.as_text();
      if (place.is_long) return TextCell::set(at, text);
      DCHECK(text.size() + 2 <= place.bytes);
      store(at, static_cast<uint16_t>(text.size()));
      // The text may come from this very place: a column set to itself. Empty text may have no place at all.
      if (!text.empty()) std::memmove(at + 2, text.data(), text.size());
      return;
    }
    case TypeKind::kDecimal:
      store(at, value.as_numeric());
      return store<uint64_t>(at + 16, value.digits());
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
}

bool RowLayout::set_long(std::byte* row, const Place& place, const Value& value) {
  std::byte* const cell = row + place.offset;
  if (value.is_null()) {
    DCHECK(place.null_flag >= 0);
    TextCell::release(cell);
  } else if (!TextCell::replace(cell, value.as_text())) {
    return false;
  }
  if (place.null_flag >= 0) row[place.null_flag] = std::byte{value.is_null()};
  return true;
}

bool RowLayout::copy_to_row(const std::byte* image, std::byte* row) const {
  if (long_columns_.empty()) [[likely]] {
    std::memcpy(row, image, image_bytes_);
    return true;
  }
  // First all that may fail.
  std::vector<LongText*> made(long_columns_.size(), nullptr);
  for (size_t i = 0; i < made.size(); ++i) {
    const std::byte* const from = cell(image, long_columns_[i]);
    const char* const bytes = TextCell::outside(from);
    if (bytes == nullptr || bytes == TextCell::outside(cell(row, long_columns_[i]))) continue;
    made[i] = LongText::make(TextCell::get(from));
    if (made[i] != nullptr) continue;
    while (i-- > 0) {
      if (made[i] != nullptr) made[i]->release();
    }
    return false;
  }
  for (const ColumnId column : long_columns_) {
    const char* const former = TextCell::outside(cell(row, column));
    if (former != nullptr && former != TextCell::outside(cell(image, column)))
      LongText::of(former)->release();
  }
  std::memcpy(row, image, image_bytes_);
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] != nullptr) TextCell::point_to(cell(row, long_columns_[i]), made[i]->text());
  }
  return true;
}

bool RowLayout::own_texts(std::byte* row) const {
  for (size_t i = 0; i < long_columns_.size(); ++i) {
    std::byte* const at = cell(row, long_columns_[i]);
    if (TextCell::outside(at) == nullptr || TextCell::own(at) != nullptr) continue;
    for (size_t j = 0; j < long_columns_.size(); ++j) {
      std::byte* const other = cell(row, long_columns_[j]);
      if (j < i) TextCell::release(other);
      TextCell::clear(other);
    }
    return false;
  }
  return true;
}

size_t RowLayout::long_bytes(const std::byte* image) const {
  size_t bytes = 0;
  for (const ColumnId column : long_columns_) {
    if (TextCell::outside(cell(image, column)) != nullptr) bytes += TextCell::get(cell(image, column)).size();
  }
  return bytes;
}

}  // namespace mneme
