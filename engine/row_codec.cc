#include "engine/row_codec.h"

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
  Step step{place.offset, place.bytes, place.null_flag, Width::k64, false};
  switch (place.kind) {
    case TypeKind::kBoolean:
      step.width = Width::k8;
      break;
    case TypeKind::kSmallInt:
      step.width = Width::k16;
      break;
    case TypeKind::kInt:
      step.width = Width::k32;
      break;
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
      break;
    case TypeKind::kNumeric:
      if (place.wide_numeric) step.width = Width::k128;
      break;
    case TypeKind::kDouble:
      step.is_raw = true;
      break;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      step.width = Width::kText;
      break;
    case TypeKind::kNull:
      CHECK(false && "a column has a type");
  }
  // A string's place holds its length, too, in two bytes.
  max_bytes_ += 1 + (step.width == Width::kText ? kMaxVarintBytes + place.bytes : 16);
  steps_.push_back(step);
}

std::byte* RowCodec::encode(const std::byte* image, std::byte* to) const {
  for (const Step& step : steps_) {
    if (step.null_flag >= 0) {
      const bool is_null = image[step.null_flag] != std::byte{0};
      *to++ = std::byte{is_null};
      if (is_null) continue;
    }
    const std::byte* at = image + step.offset;
    switch (step.width) {
      case Width::k8:
        to = store_varint(to, zigzag(load<uint8_t>(at)));
        break;
      case Width::k16:
        to = store_varint(to, zigzag(load<int16_t>(at)));
        break;
      case Width::k32:
        to = store_varint(to, zigzag(load<int32_t>(at)));
        break;
      case Width::k64:
        if (!step.is_raw) {
          to = store_varint(to, zigzag(load<int64_t>(at)));
          break;
        }
        std::memcpy(to, at, 8);
        to += 8;
        break;
      case Width::k128:
        std::memcpy(to, at, 16);
        to += 16;
        break;
      case Width::kText: {
        const size_t length = load<uint16_t>(at);
        DCHECK(length + sizeof(uint16_t) <= step.bytes);
        to = store_varint(to, length);
        std::memcpy(to, at + sizeof(uint16_t), length);
        to += length;
        break;
      }
    }
  }
  return to;
}

void RowCodec::encode(const std::byte* image, ByteBuffer& out) const {
  const size_t begin = out.size();
  out.resize(begin + max_bytes_);
  out.resize(static_cast<size_t>(encode(image, out.data() + begin) - out.data()));
}

bool RowCodec::decode(ByteReader& in, std::byte* image) const {
  for (const Step& step : steps_) {
    if (step.null_flag >= 0) {
      const bool is_null = in.get<uint8_t>() != 0;
      image[step.null_flag] = std::byte{is_null};
      if (is_null) continue;
    }
    std::byte* at = image + step.offset;
    switch (step.width) {
      case Width::k8:
        store(at, static_cast<uint8_t>(in.get_signed() != 0));
        break;
      case Width::k16:
        store(at, static_cast<int16_t>(in.get_signed()));
        break;
      case Width::k32:
        store(at, static_cast<int32_t>(in.get_signed()));
        break;
      case Width::k64:
        store(at, step.is_raw ? in.get<int64_t>() : in.get_signed());
        break;
      case Width::k128: {
        const ByteSpan bytes = in.get_bytes(16);
        if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
        break;
      }
      case Width::kText: {
        const ByteSpan text = in.get_bytes(in.get_varint());
        if (in.bad() || text.size() + sizeof(uint16_t) > step.bytes) return false;
        store(at, static_cast<uint16_t>(text.size()));
        if (!text.empty()) std::memcpy(at + sizeof(uint16_t), text.data(), text.size());
        break;
      }
    }
  }
  return !in.bad();
}

}  // namespace mneme
