#include "engine/schema/row_codec.h"

#include <algorithm>
#include <cstring>

namespace mneme {

RowCodec::RowCodec(const RowLayout& layout) {
  for (uint32_t c = 0; c < layout.column_count(); ++c) add(layout, ColumnId{c});
}

RowCodec::RowCodec(const RowLayout& layout, std::span<const ColumnId> columns) {
  for (const ColumnId column : columns) add(layout, column);
}

void RowCodec::add(const RowLayout& layout, ColumnId column) {
  const RowLayout::Place& place = layout.place(column);
  Step step{place.offset, place.bytes, place.null_flag, Width::k64, false, layout.parts(column)};
  switch (place.kind) {
    case TypeKind::kBoolean:
      step.width = Width::k8;
      break;
    case TypeKind::kSmallInt:
      step.width = Width::k16;
      break;
    case TypeKind::kInt:
    case TypeKind::kDate:
      step.width = Width::k32;
      break;
    case TypeKind::kReal:
      step.width = Width::k32;
      step.is_raw = true;
      break;
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      break;
    case TypeKind::kNumeric:
      if (place.wide_numeric) step.width = Width::k128;
      break;
    case TypeKind::kInterval:
      step.width = Width::k128;
      break;
    case TypeKind::kDouble:
      step.is_raw = true;
      break;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      step.width = place.is_long ? Width::kLongText : Width::kText;
      has_long_texts_ |= place.is_long;
      break;
    case TypeKind::kDecimal:
      step.width = Width::k128;
      step.is_raw = true;
      break;
    case TypeKind::kNull:
      CHECK(false && "a column has a type");
  }
  // A string's place holds its length, too, in two bytes.
  max_bytes_ +=
      1 + (step.width == Width::kText || step.width == Width::kLongText ? kMaxVarintBytes + place.bytes : 17);
  steps_.push_back(step);
}

std::byte* RowCodec::encode(const Step& step, const std::byte* image, std::byte* to) {
  if (step.null_flag >= 0) {
    const bool is_null = image[step.null_flag] != std::byte{0};
    *to++ = std::byte{is_null};
    if (is_null) return to;
  }
  const std::byte* at = image + step.offset;
  switch (step.width) {
    case Width::k8:
      return store_varint(to, zigzag(load<uint8_t>(at)));
    case Width::k16:
      return store_varint(to, zigzag(load<int16_t>(at)));
    case Width::k32:
      if (!step.is_raw) return store_varint(to, zigzag(load<int32_t>(at)));
      std::memcpy(to, at, 4);
      return to + 4;
    case Width::k64:
      if (!step.is_raw) return store_varint(to, zigzag(load<int64_t>(at)));
      std::memcpy(to, at, 8);
      return to + 8;
    case Width::k128: {
      const size_t bytes = step.is_raw ? 17 : 16;
      std::memcpy(to, at, bytes);
      return to + bytes;
    }
    case Width::kLongText: {
      const std::string_view text = TextCell::get(at);
      to = store_varint(to, text.size());
      std::memcpy(to, text.data(), text.size());
      return to + text.size();
    }
    case Width::kText:
      break;
  }
  const size_t length = load<uint16_t>(at);
  DCHECK(length + sizeof(uint16_t) <= step.bytes);
  to = store_varint(to, length);
  std::memcpy(to, at + sizeof(uint16_t), length);
  return to + length;
}

std::byte* RowCodec::encode(const std::byte* image, std::byte* to) const {
  for (const Step& step : steps_) to = encode(step, image, to);
  return to;
}

std::byte* RowCodec::encode(const std::byte* image, const ColumnBits& columns, std::byte* to) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (columns.has(i)) to = encode(steps_[i], image, to);
  }
  return to;
}

void RowCodec::encode(const std::byte* image, ByteBuffer& out) const {
  const size_t begin = out.size();
  out.resize(begin + max_bytes_ + long_bytes(image));
  out.resize(static_cast<size_t>(encode(image, out.data() + begin) - out.data()));
}

size_t RowCodec::long_bytes(const std::byte* image) const {
  size_t bytes = 0;
  if (!has_long_texts_) return bytes;
  for (const Step& step : steps_) {
    if (step.width == Width::kLongText) bytes += TextCell::get(image + step.offset).size();
  }
  return bytes;
}

size_t RowCodec::long_bytes(const std::byte* image, const ColumnBits& columns) const {
  size_t bytes = 0;
  if (!has_long_texts_) return bytes;
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].width == Width::kLongText && columns.has(i))
      bytes += TextCell::get(image + steps_[i].offset).size();
  }
  return bytes;
}

namespace {

// Step is RowCodec's own business: hence the templates.
template <typename Step>
bool decode_step(const Step& step, ByteReader& in, std::byte* image, ImageOwner owner) {
  using Width = decltype(step.width);
  std::byte* at = image + step.offset;
  if (step.null_flag >= 0) {
    const bool is_null = in.get<uint8_t>() != 0;
    image[step.null_flag] = std::byte{is_null};
    if (is_null) {
      if (step.width == Width::kLongText)
        owner == ImageOwner::kRow ? TextCell::release(at) : TextCell::clear(at);
      return true;
    }
  }
  switch (step.width) {
    case Width::k8:
      store(at, static_cast<uint8_t>(in.get_signed() != 0));
      break;
    case Width::k16:
      store(at, static_cast<int16_t>(in.get_signed()));
      break;
    case Width::k32:
      store(at, step.is_raw ? in.get<int32_t>() : static_cast<int32_t>(in.get_signed()));
      break;
    case Width::k64:
      store(at, step.is_raw ? in.get<int64_t>() : in.get_signed());
      break;
    case Width::k128:
      if (const std::byte* number = in.take(16)) std::memcpy(at, number, 16);
      if (step.is_raw) {
        const auto digits = in.get<uint8_t>();
        if (digits > kMaxNumericPrecision) return false;
        store<uint64_t>(at + 16, digits);
      }
      break;
    case Width::kLongText: {
      const uint64_t length = in.get_varint();
      if (length > kMostTextBytes) return false;
      const std::byte* text = in.take(length);
      if (text == nullptr) return false;
      const std::string_view view(reinterpret_cast<const char*>(text), length);
      if (owner == ImageOwner::kRow) return TextCell::replace(at, view);
      TextCell::set(at, view);
      break;
    }
    case Width::kText: {
      const uint64_t length = in.get_varint();
      if (length + sizeof(uint16_t) > step.bytes || length > step.bytes) return false;
      const std::byte* text = in.take(length);
      if (text == nullptr) return false;
      store(at, static_cast<uint16_t>(length));
      std::memcpy(at + sizeof(uint16_t), text, length);
      break;
    }
  }
  return true;
}

template <typename Step>
void skip_step(const Step& step, ByteReader& in) {
  using Width = decltype(step.width);
  if (step.null_flag >= 0 && in.get<uint8_t>() != 0) return;
  switch (step.width) {
    case Width::k8:
    case Width::k16:
    case Width::k32:
    case Width::k64:
      if (step.is_raw)
        in.take(step.width == Width::k32 ? 4 : 8);
      else
        in.get_varint();
      break;
    case Width::k128:
      in.take(step.is_raw ? 17 : 16);
      break;
    case Width::kText:
    case Width::kLongText:
      in.take(in.get_varint());
      break;
  }
}

}  // namespace

bool RowCodec::decode(ByteReader& in, std::byte* image, ImageOwner owner) const {
  ByteReader cursor = in;
  for (const Step& step : steps_) {
    if (!decode_step(step, cursor, image, owner)) return false;
  }
  in = cursor;
  return !cursor.bad();
}

void RowCodec::skip(ByteReader& in) const {
  ByteReader cursor = in;
  for (const Step& step : steps_) skip_step(step, cursor);
  in = cursor;
}

bool RowCodec::decode(const Step& step, ByteReader& in, std::byte* image, ImageOwner owner) {
  ByteReader cursor = in;
  const bool is_decoded = decode_step(step, cursor, image, owner);
  in = cursor;
  return is_decoded;
}

void RowCodec::skip(const Step& step, ByteReader& in) {
  ByteReader cursor = in;
  skip_step(step, cursor);
  in = cursor;
}

bool RowCodec::decode(ByteReader& in, const ColumnBits* held, FunctionRef<bool(size_t column)> is_wanted,
                      std::byte* image, ImageOwner owner) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (held != nullptr && !held->has(i)) continue;
    if (!is_wanted(i))
      skip(steps_[i], in);
    else if (!decode(steps_[i], in, image, owner))
      return false;
  }
  return !in.bad();
}

bool RowCodec::differs(const Step& step, const std::byte* before, const std::byte* after) {
  if (step.null_flag >= 0) {
    const bool was_null = before[step.null_flag] != std::byte{0};
    if (was_null != (after[step.null_flag] != std::byte{0})) return true;
    if (was_null) return false;
  }
  if (step.width == Width::kLongText)
    return TextCell::get(before + step.offset) != TextCell::get(after + step.offset);
  size_t bytes = step.bytes;
  if (step.width == Width::kText) {
    const size_t length = load<uint16_t>(after + step.offset);
    if (load<uint16_t>(before + step.offset) != length) return true;
    bytes = sizeof(uint16_t) + length;
  }
  return std::memcmp(before + step.offset, after + step.offset, bytes) != 0;
}

void RowCodec::compare(const std::byte* before, const std::byte* after, ImageParts parts,
                       std::span<std::byte> bits) const {
  std::ranges::fill(bits, std::byte{0});
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!parts.covers(steps_[i].parts) || !differs(steps_[i], before, after)) continue;
    bits[i / 8] |= std::byte{1} << i % 8;
  }
}

}  // namespace mneme
