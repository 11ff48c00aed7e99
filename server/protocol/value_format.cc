#include "server/protocol/value_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "procedures/interpreter/call_text.h"
#include "procedures/times/interval.h"
#include "procedures/values/array_text.h"
#include "procedures/values/numeric.h"
#include "procedures/values/text_forms.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"
#include "server/protocol/sqlstates.h"

namespace mneme {
namespace {

constexpr uint16_t kNegative = 0x4000;
constexpr int kBase = 10'000;
constexpr int kBaseDigits = 4;

void write_numeric(int128 value, uint32_t scale, MessageWriter& out) {
  const bool is_negative = value < 0;
  auto rest = static_cast<unsigned __int128>(is_negative ? -value : value);
  // The last group of four is filled up with zeros.
  const uint32_t groups_after = (scale + kBaseDigits - 1) / kBaseDigits;
  uint32_t padding = groups_after * kBaseDigits - scale;
  std::array<uint16_t, 12> groups{};  // the last one first: 38 digits, and the padding
  size_t count = 0;
  for (bool is_first = true; rest != 0 || (is_first && padding > 0); is_first = false) {
    int divisor = kBase;
    int factor = 1;
    if (is_first) {
      for (uint32_t i = 0; i < padding; ++i) {
        divisor /= 10;
        factor *= 10;
      }
    }
    groups[count++] = static_cast<uint16_t>(static_cast<int>(rest % static_cast<unsigned>(divisor)) * factor);
    rest /= static_cast<unsigned>(divisor);
  }
  const int weight = static_cast<int>(count) - static_cast<int>(groups_after) - 1;
  size_t skipped = 0;  // groups of zeros at the end
  while (skipped < count && groups[skipped] == 0) ++skipped;
  out.i16(static_cast<int64_t>(count - skipped));
  out.i16(count == skipped ? 0 : weight);
  out.i16(is_negative ? kNegative : 0);
  out.i16(scale);
  for (size_t i = count; i > skipped; --i) out.i16(groups[i - 1]);
}

// All digits after the point, of which 38 are possible in all.
bool read_numeric(WireReader& in, uint8_t least_scale, int128& value, uint8_t& scale) {
  const int count = in.i16();
  const int weight = in.i16();
  const uint16_t sign = in.u16();
  const int dscale = in.i16();
  if (in.bad() || count < 0 || count > 64 || (sign != 0 && sign != kNegative) || dscale < 0) return false;
  scale = std::max(least_scale, static_cast<uint8_t>(std::min<int>(dscale, kMaxNumericPrecision)));
  value = 0;
  // The digit groups are at 10,000 to the power of weight, weight - 1, ...
  for (int i = 0; i < count; ++i) {
    const int group = in.i16();
    if (in.bad() || group < 0 || group >= kBase) return false;
    const int exponent = (weight - i) * kBaseDigits + scale;  // of the group, in units of the value
    if (group == 0) continue;
    int128 part = group;
    if (exponent >= 0) {
      if (exponent > kMaxNumericPrecision || !rescale(part, 0, static_cast<unsigned>(exponent), part))
        return false;
    } else {
      if (exponent < -kBaseDigits) continue;
      part /= power_of_ten(static_cast<unsigned>(-exponent));  // digits that dscale says are not there
    }
    value += part;
    if (!has_digits(value, kMaxNumericPrecision)) return false;
  }
  if (sign == kNegative) value = -value;
  return true;
}

constexpr uint8_t kJsonbVersion = 1;
constexpr size_t kUuidBytes = 16;

void write_form(const Type& type, std::string_view text, MessageWriter& out) {
  switch (text_form(type)) {
    case TextForm::kUuid:
      return out.raw(bytes_of_uuid(text));
    case TextForm::kBytea:
      return out.raw(bytes_of_bytea(text));
    case TextForm::kJsonb:
      out.u8(kJsonbVersion);
      [[fallthrough]];
    default:
      return out.raw(text);
  }
}

// Returns the text that a value of the type stands for in the binary format; nothing where it is none.
std::optional<std::string> read_form_bytes(const Type& type, std::string_view bytes) {
  switch (text_form(type)) {
    case TextForm::kUuid:
      if (bytes.size() != kUuidBytes) return std::nullopt;
      return uuid_of_bytes(bytes);
    case TextForm::kBytea:
      return bytea_of_bytes(bytes);
    case TextForm::kJsonb:
      if (bytes.empty() || bytes[0] != kJsonbVersion) return std::nullopt;
      return std::string(bytes.substr(1));
    default:
      return std::string(bytes);
  }
}

void write_scalar(const Type& type, const Value& value, ValueFormat format, MessageWriter& out) {
  const size_t length = out.begin_length();
  if (format == ValueFormat::kBinary && has_read_form(type)) {
    write_form(type, value.as_text(), out);
  } else if (format == ValueFormat::kText || type.is_string() || type.kind == TypeKind::kEnum) {
    fmt::memory_buffer text;
    print_value(type, value, text);
    out.raw({text.data(), text.size()});
  } else {
    switch (type.kind) {
      case TypeKind::kBoolean:
        out.u8(value.as_bool() ? 1 : 0);
        break;
      case TypeKind::kSmallInt:
        out.i16(value.as_int());
        break;
      case TypeKind::kInt:
        out.i32(value.as_int());
        break;
      case TypeKind::kDate:
        out.i32(value.as_int());
        break;
      case TypeKind::kReal:
        out.i32(std::bit_cast<int32_t>(static_cast<float>(value.as_double())));
        break;
      case TypeKind::kDouble:
        out.i64(std::bit_cast<int64_t>(value.as_double()));
        break;
      case TypeKind::kNumeric:
        write_numeric(value.as_numeric(), type.scale, out);
        break;
      case TypeKind::kInterval: {
        const Interval interval = interval_of(value);
        out.i64(interval.microseconds);
        out.i32(interval.days);
        out.i32(interval.months);
        break;
      }
      case TypeKind::kDecimal:
        write_numeric(value.as_numeric(), value.digits(), out);
        break;
      default:
        if (type == kOidType) {
          out.i32(value.as_int());
        } else {
          out.i64(value.as_int());
        }
        break;
    }
  }
  out.end_length(length);
}

bool wrong_binary(const Type& type, const WireReader& in, Arena& arena, SqlError& error) {
  if (in.bad()) return fail(error, arena, sqlstate::kProtocolViolation, "insufficient data left in message");
  return fail(error, arena, sqlstate::kInvalidBinary, "incorrect binary data format for a value of type {}",
              type_name(type));
}

bool read_binary(const Type& type, ByteSpan bytes, Arena& arena, Value& value, uint8_t& scale,
                 SqlError& error) {
  WireReader in(bytes);
  switch (type.kind) {
    case TypeKind::kBoolean:
      value = Value::of_bool(in.u8() != 0);
      break;
    case TypeKind::kSmallInt:
      value = Value::of_int(in.i16());
      break;
    case TypeKind::kInt:
    case TypeKind::kDate:
      value = Value::of_int(in.i32());
      break;
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kTime:
      value = Value::of_int(type == kOidType ? int64_t{static_cast<uint32_t>(in.i32())} : in.i64());
      break;
    case TypeKind::kReal:
      value = Value::of_double(double{std::bit_cast<float>(in.i32())});
      break;
    case TypeKind::kDouble:
      value = Value::of_double(std::bit_cast<double>(in.i64()));
      break;
    case TypeKind::kInterval: {
      Interval interval;
      interval.microseconds = in.i64();
      interval.days = in.i32();
      interval.months = in.i32();
      value = fit_interval(type, interval);
      break;
    }
    case TypeKind::kNumeric: {
      int128 number = 0;
      if (!read_numeric(in, type.scale, number, scale)) return wrong_binary(type, in, arena, error);
      value = Value::of_numeric(number);
      break;
    }
    case TypeKind::kDecimal: {
      int128 number = 0;
      if (!read_numeric(in, 0, number, scale)) return wrong_binary(type, in, arena, error);
      value = Value::of_decimal(number, scale);
      break;
    }
    default:
      CHECK(false && "strings are read as text");
  }
  return in.is_done() || wrong_binary(type, in, arena, error);
}

bool read_scalar(const Type& type, ByteSpan bytes, ValueFormat format, Arena& arena, Value& value,
                 uint8_t& scale, SqlError& error) {
  scale = type.scale;
  if (format == ValueFormat::kBinary && has_read_form(type)) {
    const std::optional<std::string> form = read_form_bytes(type, as_text(bytes));
    if (!form) return wrong_binary(type, WireReader(bytes), arena, error);
    return parse_value(type, *form, arena, value, error);
  }
  if (format == ValueFormat::kBinary && !type.is_string() && type.kind != TypeKind::kEnum)
    return read_binary(type, bytes, arena, value, scale, error);
  const std::string_view text = as_text(bytes);
  if (!check_text(text, arena, error)) return false;
  Type own = type;
  if (type.kind == TypeKind::kNumeric) {
    own.precision = 0;
    own.scale = scale = std::max(type.scale, digits_after_point(text));
  }
  return parse_value(own, text, arena, value, error);
}

constexpr int kMostElements = 1 << 20;

bool read_binary_array(const Type& type, ByteSpan bytes, Arena& arena, Argument& value, SqlError& error) {
  WireReader in(bytes);
  const int32_t dimensions = in.i32();
  in.i32();  // whether there are NULLs: the lengths say so
  in.i32();  // the elements' type
  if (in.bad() || dimensions < 0 || dimensions > 1) return wrong_binary(type, in, arena, error);
  int32_t count = 0;
  if (dimensions == 1) {
    count = in.i32();
    in.i32();  // the lower bound
  }
  if (count < 0 || count > kMostElements || static_cast<size_t>(count) * 4 > in.remaining())
    return wrong_binary(type, in, arena, error);
  const std::span<Value> elements = arena.make_array<Value>(static_cast<size_t>(count));
  for (Value& element : elements) {
    const int32_t length = in.i32();
    element = Value::null();
    if (length == -1) continue;
    const ByteSpan part = in.bytes(static_cast<uint32_t>(length));
    if (in.bad()) return wrong_binary(type, in, arena, error);
    uint8_t scale = 0;
    if (!read_scalar(type.element(), part, ValueFormat::kBinary, arena, element, scale, error)) return false;
    if (type.kind == TypeKind::kNumeric && scale > type.scale) return wrong_binary(type, in, arena, error);
  }
  value = Argument::of_array(elements);
  return in.is_done() || wrong_binary(type, in, arena, error);
}

uint8_t form_of_elements(const Type& array) {
  Type element = array;
  element.elements = TypeKind::kNull;
  return has_read_form(element) ? array.precision : uint8_t{0};
}

// An array of a query is the text that spells it; so is a vector.
void write_spelled_array(const Type& type, std::string_view text, MessageWriter& out) {
  const ArrayElements elements = array_or_vector_elements(text).value_or(ArrayElements());
  const size_t length = out.begin_length();
  const bool is_of_oids =
      type.precision == kOidArrayPrecision || (is_vector(type) && type.elements == TypeKind::kBigInt);
  Type element{.kind = type.elements,
               .precision = form_of_elements(type),
               .is_text = true,
               .is_zoned = type.is_zoned,
               .enumeration = type.enumeration};
  if (is_of_oids) element = kOidType;
  if (is_name(type)) element = kNameType;
  out.i32(elements.empty() ? 0 : 1);
  out.i32(std::ranges::all_of(elements, [](const auto& each) { return each.has_value(); }) ? 0 : 1);
  out.i32(oid_of(element));
  if (!elements.empty()) {
    out.i32(static_cast<int64_t>(elements.size()));
    out.i32(is_vector(type) ? 0 : 1);
  }
  Arena arena;
  for (const std::optional<std::string>& each : elements) {
    Type own = element;
    if (own.kind == TypeKind::kDecimal) own.kind = TypeKind::kNumeric;
    if (own.kind == TypeKind::kNumeric && each) own.scale = digits_after_point(*each);
    Value value;
    SqlError error;
    if (!each || !parse_value(own, *each, arena, value, error)) {
      out.i32(-1);
    } else {
      write_scalar(own, value, ValueFormat::kBinary, out);
    }
  }
  out.end_length(length);
}

void write_binary_array(const Type& type, std::span<const Value> elements, MessageWriter& out) {
  const size_t length = out.begin_length();
  const bool has_null = std::ranges::any_of(elements, &Value::is_null);
  out.i32(elements.empty() ? 0 : 1);
  out.i32(has_null ? 1 : 0);
  out.i32(oid_of(type.element()));
  if (!elements.empty()) {
    out.i32(static_cast<int64_t>(elements.size()));
    out.i32(1);
  }
  for (const Value& element : elements) {
    if (element.is_null()) {
      out.i32(-1);
    } else {
      write_scalar(type.element(), element, ValueFormat::kBinary, out);
    }
  }
  out.end_length(length);
}

}  // namespace

void write_value(const Type& type, const Argument& value, ValueFormat format, MessageWriter& out) {
  if (type.is_array ? value.null_array : value.scalar.is_null()) return out.i32(-1);
  if (type.elements != TypeKind::kNull && format == ValueFormat::kBinary)
    return write_spelled_array(type, value.scalar.as_text(), out);
  if (!type.is_array) return write_scalar(type, value.scalar, format, out);
  if (format == ValueFormat::kBinary) return write_binary_array(type, value.array, out);
  const size_t length = out.begin_length();
  out.raw(*print_argument(type, value));
  out.end_length(length);
}

bool read_value(const Type& type, ByteSpan bytes, ValueFormat format, Arena& arena, Argument& value,
                uint8_t& scale, SqlError& error) {
  scale = type.scale;
  if (type.elements != TypeKind::kNull) {
    // An array of a query is the text that spells it.
    Type array{.kind = type.elements,
               .is_array = true,
               .precision = form_of_elements(type),
               .is_text = true,
               .is_zoned = type.is_zoned,
               .enumeration = type.enumeration};
    if (type.precision == kOidArrayPrecision) {
      array = kOidType;
      array.is_array = true;
    }
    Argument elements;
    if (!read_value(array, bytes, format, arena, elements, scale, error)) return false;
    value = Argument::of(Value::of_text(arena.copy(*print_argument(array, elements))));
    return true;
  }
  if (!type.is_array) {
    Value scalar;
    if (!read_scalar(type, bytes, format, arena, scalar, scale, error)) return false;
    value = Argument::of(scalar);
    return true;
  }
  if (format == ValueFormat::kBinary) return read_binary_array(type, bytes, arena, value, error);
  const std::string_view text = as_text(bytes);
  if (!check_text(text, arena, error)) return false;
  return parse_argument(type, text, arena, value, error);
}

}  // namespace mneme
