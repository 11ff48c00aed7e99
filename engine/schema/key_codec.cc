#include "engine/schema/key_codec.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"
#include "engine/schema/key_words.h"

namespace mneme {

namespace {

constexpr std::byte kNullLast{1};
constexpr uint64_t kSign = uint64_t{1} << 63;

// Where a value lies with respect to all that its column can hold.
enum class Fit { kBelow, kInside, kAbove };

// The `bytes` low bytes of `v`, most significant first.
void put_big_endian(std::byte* to, uint64_t v, uint32_t bytes) {
  switch (bytes) {
    case 2:
      return store(to, __builtin_bswap16(static_cast<uint16_t>(v)));
    case 4:
      return store(to, __builtin_bswap32(static_cast<uint32_t>(v)));
    default:
      DCHECK(bytes == 8);
      return store(to, __builtin_bswap64(v));
  }
}

// IEEE order made unsigned: positive numbers get their sign bit set, negative ones all bits inverted.
uint64_t get_big_endian(const std::byte* from, uint32_t bytes) {
  switch (bytes) {
    case 2:
      return __builtin_bswap16(load<uint16_t>(from));
    case 4:
      return __builtin_bswap32(load<uint32_t>(from));
    default:
      DCHECK(bytes == 8);
      return __builtin_bswap64(load<uint64_t>(from));
  }
}

// The number whose flip_sign() is `v`.
int64_t unflipped(uint64_t v, uint32_t bytes) {
  const uint32_t above = 64 - 8 * bytes;
  return static_cast<int64_t>(flip_sign(static_cast<int64_t>(v), bytes) << above) >> above;
}

double double_of(uint64_t ordered_bits) {
  return std::bit_cast<double>((ordered_bits & kSign) != 0 ? ordered_bits & ~kSign : ~ordered_bits);
}

uint64_t ordered_bits(double v) {
  if (std::isnan(v)) return ~uint64_t{0};
  const uint64_t bits = std::bit_cast<uint64_t>(v == 0 ? 0.0 : v);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

Fit fit_of(const Type& type, uint32_t bytes, const Value& value) {
  if (type.is_integer()) {
    if (bytes == 8) return Fit::kInside;
    const int64_t limit = int64_t{1} << (8 * bytes - 1);
    return value.as_int() < -limit ? Fit::kBelow : value.as_int() >= limit ? Fit::kAbove : Fit::kInside;
  }
  if (type.kind == TypeKind::kNumeric && bytes == 8) {
    const int128 limit = int128{1} << 63;
    return value.as_numeric() < -limit   ? Fit::kBelow
           : value.as_numeric() >= limit ? Fit::kAbove
                                         : Fit::kInside;
  }
  // A longer string sorts just above its first `bytes` characters, and below every other string above those.
  if (type.is_string() && value.as_text().size() > bytes) return Fit::kAbove;
  return Fit::kInside;
}

// A decimal's key: a byte for its sign and for where its first digit stands, and 38 digits from the first on,
// as a number with the sign.
constexpr int kZeroByte = 0x80;
constexpr int kDecimalDigits = kMaxNumericPrecision;

void put_decimal(std::byte* to, const Value& value) {
  int128 digits = value.as_numeric();
  const bool is_negative = digits < 0;
  if (is_negative) digits = -digits;
  int byte = kZeroByte;
  if (digits != 0) {
    int128 limit = 1;
    for (int i = 1; i < kDecimalDigits; ++i) limit *= 10;
    int place = kDecimalDigits - value.digits();
    for (; digits < limit; digits *= 10) --place;
    const int magnitude = place + kDecimalDigits + 1;  // from 2 to 77
    byte += is_negative ? -magnitude : magnitude;
    if (is_negative) digits = -digits;
  }
  *to = static_cast<std::byte>(byte);
  put_big_endian(to + 1, flip_sign(static_cast<int64_t>(digits >> 64), 8), 8);
  put_big_endian(to + 9, static_cast<uint64_t>(digits), 8);
}

// The opposite, with as few digits after the point as the number has.
Value decimal_at(const std::byte* from) {
  const int byte = std::to_integer<int>(*from) - kZeroByte;
  if (byte == 0) return Value::of_decimal(0, 0);
  int128 digits = int128{unflipped(get_big_endian(from + 1, 8), 8)} << 64 | get_big_endian(from + 9, 8);
  int after = kDecimalDigits - ((byte < 0 ? -byte : byte) - kDecimalDigits - 1);
  for (; after > 0 && digits % 10 == 0; --after) digits /= 10;
  for (; after < 0; ++after) digits *= 10;
  return Value::of_decimal(digits, static_cast<uint8_t>(after));
}

// The key's first `bytes` bytes as one number, plus or minus one; false when it overflows.
bool increment(std::byte* key, uint32_t bytes) {
  for (uint32_t i = bytes; i-- > 0;) {
    key[i] = static_cast<std::byte>(std::to_integer<uint8_t>(key[i]) + 1);
    if (key[i] != std::byte{0}) return true;
  }
  return false;
}
bool decrement(std::byte* key, uint32_t bytes) {
  for (uint32_t i = bytes; i-- > 0;) {
    key[i] = static_cast<std::byte>(std::to_integer<uint8_t>(key[i]) - 1);
    if (key[i] != std::byte{0xff}) return true;
  }
  return false;
}

}  // namespace

KeyCodec::KeyCodec(const Catalog& catalog, IndexId index, const RowLayout& layout) : layout_(layout) {
  const IndexDefinition& definition = catalog.index(index);
  const TableDefinition& table = catalog.table(definition.table);
  for (ColumnId column : definition.columns) {
    add_part(table, column);
    if (parts_.back().nullable) null_flags_.push_back(static_cast<uint32_t>(layout.place(column).null_flag));
  }
  index_columns_ = parts_.size();
  if (!definition.unique) {
    if (table.primary_key) {
      for (ColumnId column : catalog.index(*table.primary_key).columns) add_part(table, column);
    } else {
      slot_suffix_ = true;
      is_simple_ = false;
      key_bytes_ += sizeof(uint64_t);
    }
  }
  word_count_ = (key_bytes_ + 7) / 8;
  CHECK(word_count_ <= kMaxKeyWords);
  if (!is_simple_) return;
  for (const Part& part : parts_) add_word_steps(part);
}

void KeyCodec::add_word_steps(const Part& part) {
  // Columns are aligned, so that a number lies in one word of an image, which consists of whole words.
  const uint32_t in_image = part.image_offset % 8;
  CHECK(in_image + part.bytes <= 8);
  const uint64_t sign = flip_sign(0, part.bytes);
  const uint64_t all = ~uint64_t{0} >> (64 - 8 * part.bytes);
  const auto add = [&](uint32_t key_word, uint32_t down, uint32_t up) {
    word_steps_.push_back(
        {part.image_offset - in_image, key_word, 8 * in_image + down, up, sign >> down, all >> down});
  };
  const uint32_t end = part.offset % 8 + part.bytes;
  const uint32_t word = part.offset / 8;
  if (end <= 8) return add(word, 0, 8 * (8 - end));
  add(word, 8 * (end - 8), 0);
  add(word + 1, 0, 8 * (16 - end));
}

void KeyCodec::add_part(const TableDefinition& table, ColumnId id) {
  const Column& column = table.column(id);
  const uint32_t bytes = mneme::key_bytes(column) - (column.nullable ? 1 : 0);
  parts_.push_back({id, key_bytes_, bytes, column.nullable, column.type, layout_.place(id).offset});
  is_simple_ &= !column.nullable && is_integer_in_key(column.type, bytes);
  key_bytes_ = parts_.back().end();
}

void KeyCodec::append(const Part& part, const Value& value, std::byte* to) const {
  to += part.offset;
  if (part.nullable) *to++ = value.is_null() ? kNullLast : std::byte{0};
  if (value.is_null()) {
    std::memset(to, 0, part.bytes);
    return;
  }
  switch (part.type.kind) {
    case TypeKind::kBoolean:
      *to = std::byte{value.as_bool()};
      return;
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
    case TypeKind::kDate:
      return put_big_endian(to, flip_sign(value.as_int(), part.bytes), part.bytes);
    case TypeKind::kReal:
    case TypeKind::kDouble:
      return put_big_endian(to, ordered_bits(value.as_double()), 8);
    case TypeKind::kNumeric: {
      const int128 number = value.as_numeric();
      if (part.bytes == 8) return put_big_endian(to, flip_sign(static_cast<int64_t>(number), 8), 8);
      put_big_endian(to, flip_sign(static_cast<int64_t>(number >> 64), 8), 8);
      return put_big_endian(to + 8, static_cast<uint64_t>(number), 8);
    }
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const std::string_view text = value.as_text().substr(0, part.bytes);
      if (!text.empty()) std::memcpy(to, text.data(), text.size());
      std::memset(to + text.size(), 0, part.bytes - text.size());
      return;
    }
    case TypeKind::kDecimal:
      return put_decimal(to, value);
    case TypeKind::kInterval:
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
}

// The opposite of append().
Value KeyCodec::value_at(const Part& part, const std::byte* key) {
  const std::byte* from = key + part.offset;
  if (part.nullable && *from++ == kNullLast) return Value::null();
  switch (part.type.kind) {
    case TypeKind::kBoolean:
      return Value::of_bool(*from != std::byte{0});
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
    case TypeKind::kDate:
      return Value::of_int(unflipped(get_big_endian(from, part.bytes), part.bytes));
    case TypeKind::kReal:
    case TypeKind::kDouble:
      return Value::of_double(double_of(get_big_endian(from, 8)));
    case TypeKind::kNumeric: {
      const int64_t high = unflipped(get_big_endian(from, 8), 8);
      if (part.bytes == 8) return Value::of_numeric(high);
      return Value::of_numeric(int128{high} << 64 | get_big_endian(from + 8, 8));
    }
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const auto* const text = reinterpret_cast<const char*>(from);
      return Value::of_text({text, strnlen(text, part.bytes)});
    }
    case TypeKind::kDecimal:
      return decimal_at(from);
    case TypeKind::kInterval:
    case TypeKind::kNull:
      break;
  }
  CHECK(false && "a column has a type");
}

void KeyCodec::common_values(const KeyRange& range, KeyValues& common) const {
  common.values.clear();
  std::array<std::byte, kMaxKeyWords * 8> high;
  for (uint32_t i = 0; i < word_count_; ++i) {
    store<uint64_t>(common.bytes.data() + 8 * i, __builtin_bswap64(range.low.words[i]));
    store<uint64_t>(high.data() + 8 * i, __builtin_bswap64(range.high.words[i]));
  }
  for (const Part& part : std::span(parts_).first(index_columns_)) {
    if (std::memcmp(common.bytes.data() + part.offset, high.data() + part.offset, part.end() - part.offset) !=
        0)
      return;
    common.values.push_back(value_at(part, common.bytes.data()));
  }
}

IndexKey KeyCodec::to_words(const KeyBytes& bytes) const {
  IndexKey key;
  key.word_count = word_count_;
  for (uint32_t i = 0; i < word_count_; ++i)
    key.words[i] = __builtin_bswap64(load<uint64_t>(bytes.data() + 8 * i));
  return key;
}

IndexKey KeyCodec::zeroed_key() const {
  IndexKey key;
  key.word_count = word_count_;
  std::fill_n(key.words.data(), word_count_, 0);
  return key;
}

IndexKey KeyCodec::of_row(const std::byte* image, uint64_t slot) const {
  IndexKey key;
  key.word_count = word_count_;
  if (put_row(image, key.words.data())) return key;
  KeyBytes bytes;
  // The last word's padding; whatever else lies there is overwritten.
  if (word_count_ > 0) store<uint64_t>(bytes.data() + 8 * (word_count_ - 1), 0);
  for (const Part& part : parts_) append(part, layout_.get(image, part.column), bytes.data());
  if (slot_suffix_) put_big_endian(bytes.data() + key_bytes_ - 8, slot, 8);
  return to_words(bytes);
}

bool KeyCodec::append_prefix(std::span<const Value> prefix, std::byte* to) const {
  CHECK(prefix.size() <= index_columns_);
  for (size_t i = 0; i < prefix.size(); ++i) {
    const Part& part = parts_[i];
    if (prefix[i].is_null() || fit_of(part.type, part.bytes, prefix[i]) != Fit::kInside) return false;
    append(part, prefix[i], to);
  }
  return true;
}

std::optional<IndexKey> KeyCodec::of_whole(std::span<const Value> values) const {
  DCHECK(values.size() == index_columns_ && parts_.size() == index_columns_ && !slot_suffix_);
  if (is_simple_) {
    IndexKey key = zeroed_key();
    for (size_t i = 0; i < values.size(); ++i) {
      const Part& part = parts_[i];
      if (values[i].is_null() || fit_of(part.type, part.bytes, values[i]) != Fit::kInside)
        return std::nullopt;
      put_into_words(key, part.offset, values[i].as_int(), part.bytes);
    }
    return key;
  }
  KeyBytes bytes;
  if (word_count_ > 0) store<uint64_t>(bytes.data() + 8 * (word_count_ - 1), 0);
  if (!append_prefix(values, bytes.data())) return std::nullopt;
  return to_words(bytes);
}

std::optional<KeyRange> KeyCodec::of_prefix(std::span<const Value> prefix) const {
  return of_range(prefix, std::nullopt, std::nullopt);
}

std::optional<KeyRange> KeyCodec::of_range(std::span<const Value> prefix, const std::optional<Bound>& lower,
                                           const std::optional<Bound>& upper) const {
  KeyBytes low;
  KeyBytes high;
  std::memset(low.data(), 0, 8 * word_count_);
  std::memset(high.data(), 0, 8 * word_count_);
  if (!append_prefix(prefix, low.data())) return std::nullopt;
  const uint32_t fixed = prefix.empty() ? 0 : parts_[prefix.size() - 1].end();
  std::memcpy(high.data(), low.data(), fixed);
  std::memset(high.data() + fixed, 0xff, key_bytes_ - fixed);

  if (lower || upper) {
    CHECK(prefix.size() < index_columns_);
    const Part& part = parts_[prefix.size()];
    // A comparison is never true of NULL, which sorts last.
    if (part.nullable) high[part.offset] = std::byte{0};
    if (lower && !narrow_below(part, *lower, low)) return std::nullopt;
    if (upper && !narrow_above(part, *upper, high)) return std::nullopt;
  }
  KeyRange range{to_words(low), to_words(high)};
  if (range.high < range.low) return std::nullopt;
  return range;
}

bool KeyCodec::narrow_below(const Part& part, const Bound& bound, KeyBytes& low) const {
  if (bound.value.is_null()) return false;
  const Fit fit = fit_of(part.type, part.bytes, bound.value);
  if (fit == Fit::kBelow) return true;
  if (fit == Fit::kAbove && !part.type.is_string()) return false;
  append(part, bound.value, low.data());
  // A string that was cut is above what is left of it, so what is left is not in the range.
  const bool inclusive = bound.inclusive && fit == Fit::kInside;
  return inclusive || increment(low.data(), part.end());
}

bool KeyCodec::narrow_above(const Part& part, const Bound& bound, KeyBytes& high) const {
  if (bound.value.is_null()) return false;
  const Fit fit = fit_of(part.type, part.bytes, bound.value);
  if (fit == Fit::kBelow) return false;
  if (fit == Fit::kAbove && !part.type.is_string()) return true;
  append(part, bound.value, high.data());
  std::memset(high.data() + part.end(), 0xff, key_bytes_ - part.end());
  const bool inclusive = bound.inclusive || fit == Fit::kAbove;
  return inclusive || decrement(high.data(), part.end());
}

}  // namespace mneme
