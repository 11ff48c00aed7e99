#include "procedures/interpreter/call_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.h"
#include "base/utf8.h"
#include "engine/schema/enum_types.h"
#include "procedures/interpreter/call_hints.h"
#include "procedures/ir/sql_error.h"
#include "procedures/times/interval.h"
#include "procedures/times/timestamp.h"
#include "procedures/values/arithmetic.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

// Numerics: 128-bit zigzag varints.
using uint128 = unsigned __int128;
constexpr int kMaxNumericBytes = 19;

int128 get_numeric(ByteReader& cursor, bool& minimal) {
  // Most numbers have so few bytes that 64 bits hold them, and are made without 128-bit shifts.
  constexpr int kNarrowBytes = 9;
  uint64_t narrow = 0;
  for (int i = 0; i < kNarrowBytes; ++i) {
    const auto byte = cursor.get<uint8_t>();
    narrow |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    minimal = i == 0 || byte != 0;
    return unzigzag(narrow);
  }
  uint128 value = narrow;
  for (int i = kNarrowBytes; i < kMaxNumericBytes; ++i) {
    const auto byte = cursor.get<uint8_t>();
    value |= static_cast<uint128>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    // The last byte has room for more bits than 128.
    minimal = byte != 0 && (i < kMaxNumericBytes - 1 || byte < 4);
    return static_cast<int128>(value >> 1) ^ -static_cast<int128>(value & 1);
  }
  minimal = false;
  return 0;
}

constexpr const char* kOutOfRange = "is out of range";

constexpr const char* kNotUtf8 = "is not valid UTF-8, or has a zero byte";

// Whether the text has no more characters than its type allows.
bool has_length(const Type& type, std::string_view text) {
  return type.length == 0 || text.size() <= type.length || count_characters(text) <= type.length;
}

// Returns why a value that is not NULL is none of the type, or nullptr. Clients' calls and bytes from disk
// are both checked by it.
const char* fault_of(const Type& type, const Value& value) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return value.as_int() == 0 || value.as_int() == 1 ? nullptr : "is neither true nor false";
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return fits_integer(type.kind, value.as_int()) ? nullptr : kOutOfRange;
    case TypeKind::kNumeric:
      return fits_numeric(type, value.as_numeric()) ? nullptr : "has too many digits";
    case TypeKind::kDecimal:
      return has_digits(value.as_numeric(), kMaxNumericPrecision) && value.digits() <= kMaxNumericPrecision
                 ? nullptr
                 : "has too many digits";
    case TypeKind::kReal:
      return is_real(value.as_double()) ? nullptr : "is no real";
    case TypeKind::kDouble:
    case TypeKind::kTimestamp:
    case TypeKind::kInterval:
      return nullptr;
    case TypeKind::kDate:
      return is_date(value.as_int()) ? nullptr : kOutOfRange;
    case TypeKind::kTime:
      return is_time_of_day(value.as_int()) ? nullptr : kOutOfRange;
    case TypeKind::kEnum:
      return find_label(type, value.as_int()) != nullptr ? nullptr : "is no label of its type";
    case TypeKind::kChar:
    case TypeKind::kVarchar: {
      const std::string_view text = value.as_text();
      if (invalid_utf8(text) != text.npos) return kNotUtf8;
      if (!has_length(type, text)) return "is too long";
      if (type.kind == TypeKind::kChar && text.ends_with(' ')) return "keeps the blanks at its end";
      return nullptr;
    }
    case TypeKind::kNull:
      break;
  }
  return "has no type";
}

// Why a client's argument is refused, and PostgreSQL's code for it.
struct Fault {
  const char* sqlstate = nullptr;
  const char* what = nullptr;

  explicit operator bool() const { return what != nullptr; }
};

bool is_made_for(const Type& type, Value::Kind kind) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return kind == Value::Kind::kBool || kind == Value::Kind::kInt;
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kTimestamp:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kEnum:
      return kind == Value::Kind::kInt;
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      return kind == Value::Kind::kNumeric;
    case TypeKind::kInterval:
      return kind == Value::Kind::kInterval;
    case TypeKind::kReal:
    case TypeKind::kDouble:
      return kind == Value::Kind::kDouble;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return kind == Value::Kind::kText;
    case TypeKind::kNull:
      break;
  }
  return false;
}

const char* given_as(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kInt:
      return "is given as an integer (Value::of_int)";
    case Value::Kind::kBool:
      return "is given as a boolean (Value::of_bool)";
    case Value::Kind::kNumeric:
      return "is given as a numeric (Value::of_numeric)";
    case Value::Kind::kDouble:
      return "is given as a double (Value::of_double)";
    case Value::Kind::kText:
      return "is given as a text (Value::of_text)";
    case Value::Kind::kInterval:
      return "is given as an interval (Value::of_interval)";
    case Value::Kind::kNull:
      break;
  }
  return "is given as NULL";
}

const char* sqlstate_of_fault(const Type& type) {
  switch (type.kind) {
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return sqlstate::kStringTooLong;
    case TypeKind::kBoolean:
      return sqlstate::kInvalidText;
    default:
      return sqlstate::kOutOfRange;
  }
}

// Refuses a client's value that no statement could have given, although a log of an earlier program may hold
// it (a timestamp after the year 9999).
Fault fault_of_given(const Type& type, const Value& value) {
  if (!is_made_for(type, value.kind())) return {sqlstate::kDatatypeMismatch, given_as(value.kind())};
  if (type.kind == TypeKind::kTimestamp && !is_timestamp(value.as_int()))
    return {sqlstate::kDatetimeOverflow, "lies outside of the years 1 to 9999"};
  const char* const what = fault_of(type, value);
  if (what == nullptr) return {};
  if (what == kNotUtf8) return {sqlstate::kNotInRepertoire, what};
  const bool is_text = type.is_string() && has_length(type, value.as_text());
  return {is_text ? sqlstate::kInvalidText : sqlstate_of_fault(type), what};
}

// Returns what is wrong with an array's elements. Every call's arguments are checked, so integers are checked
// by the array's smallest and largest.
Fault fault_of_any(const Type& type, std::span<const Value> elements) {
  if (type.is_integer()) {
    // Bits, not booleans: the loop has no branch.
    unsigned inside = 1;
    for (const Value& element : elements) {
      const unsigned is_int = element.kind() == Value::Kind::kInt;
      const unsigned fits = fits_integer(type.kind, element.as_int());
      inside &= static_cast<unsigned>(element.is_null()) | (is_int & fits);
    }
    if (inside != 0) return {};
  }
  for (const Value& element : elements) {
    if (element.is_null()) continue;
    if (const Fault fault = fault_of_given(type, element)) return fault;
  }
  return {};
}

// The most bytes of a value of any type except text: an interval's are three numbers, of 32, 32 and 64 bits.
constexpr size_t kMaxValueBytes = 2 * 5 + 10;
static_assert(kMaxValueBytes >= kMaxNumericBytes);

size_t max_value_bytes(const Type& type, const Value& value) {
  return type.is_string() ? kMaxVarintBytes + value.as_text().size() : kMaxValueBytes;
}
size_t bitmap_bytes(size_t count) {
  return (count + 7) / 8;
}
size_t max_array_bytes(const Type& type, std::span<const Value> elements) {
  size_t bytes = kMaxVarintBytes + bitmap_bytes(elements.size());
  if (!type.is_string()) return bytes + elements.size() * kMaxValueBytes;
  for (const Value& element : elements) bytes += element.is_null() ? 0 : max_value_bytes(type, element);
  return bytes;
}

// Writes to memory that has room for it: max_*_bytes() says how much that takes.
class Encoder {
 public:
  explicit Encoder(std::byte* at) : at_(at) {}

  std::byte* end() const { return at_; }

  // `null(i)` for each of `count` places.
  template <typename IsNull>
  void put_bitmap(size_t count, IsNull null) {
    for (size_t first = 0; first < count; first += 8) {
      uint8_t bits = 0;
      for (size_t i = first; i < count && i < first + 8; ++i)
        bits |= static_cast<uint8_t>(null(i) << (i - first));
      put(bits);
    }
  }
  void put_value(const Type& type, const Value& value) {
    switch (type.kind) {
      case TypeKind::kBoolean:
        return put(static_cast<uint8_t>(value.as_bool()));
      case TypeKind::kNumeric:
        return put_numeric(value.as_numeric());
      case TypeKind::kDecimal:
        put_numeric(value.as_numeric());
        return put(value.digits());
      case TypeKind::kInterval:
        return put_interval(interval_of(value));
      case TypeKind::kReal:
        return put(static_cast<float>(value.as_double()));
      case TypeKind::kDouble:
        return put(value.as_double());
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        return put_text(value.as_text());
      default:
        at_ = store_varint(at_, zigzag(value.as_int()));
    }
  }
  void put_array(const Type& type, std::span<const Value> elements) {
    bool nulls = false;
    for (const Value& element : elements) nulls |= element.is_null();
    at_ = store_varint(at_, uint64_t{elements.size()} * 2 + (nulls ? 1 : 0));
    if (nulls) put_bitmap(elements.size(), [&](size_t i) { return elements[i].is_null(); });
    // The longest arrays are of integers: one look at their type, not one for each.
    if (type.is_integer() && !nulls) {
      for (const Value& element : elements) at_ = store_varint(at_, zigzag(element.as_int()));
      return;
    }
    for (const Value& element : elements) {
      if (!element.is_null()) put_value(type, element);
    }
  }

 private:
  template <typename T>
  void put(T value) {
    store(at_, value);
    at_ += sizeof value;
  }
  void put_numeric(int128 number) {
    uint128 rest = (static_cast<uint128>(number) << 1) ^ static_cast<uint128>(number >> 127);
    for (; rest >= 0x80; rest >>= 7) put(static_cast<uint8_t>(rest | 0x80));
    put(static_cast<uint8_t>(rest));
  }
  void put_interval(const Interval& interval) {
    at_ = store_varint(at_, zigzag(interval.months));
    at_ = store_varint(at_, zigzag(interval.days));
    at_ = store_varint(at_, zigzag(interval.microseconds));
  }
  void put_text(std::string_view text) {
    at_ = store_varint(at_, text.size());
    if (!text.empty()) std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }

  std::byte* at_;
};

// Reads what Encoder wrote. The first thing that it could not have written ends in fault().
class Decoder {
 public:
  Decoder(ByteSpan payload, Arena& arena) : cursor_(payload), arena_(arena) {}

  const char* fault() const { return cursor_.bad() ? "ends early" : fault_; }
  bool ok() const { return fault() == nullptr; }
  size_t remaining() const { return cursor_.remaining(); }
  ByteSpan get_rest() { return cursor_.get_bytes(cursor_.remaining()); }
  void refuse(const char* fault) {
    if (fault_ == nullptr) fault_ = fault;
  }

  uint64_t get_varint() {
    const size_t before = cursor_.remaining();
    const uint64_t value = cursor_.get_varint();
    // A zero behind other bytes could have been left out.
    if (before - cursor_.remaining() > 1 && !cursor_.bad() && cursor_.last() == std::byte{0})
      refuse("has a number in too many bytes");
    return value;
  }
  ByteSpan get_bitmap(size_t count) {
    const ByteSpan bits = cursor_.get_bytes(bitmap_bytes(count));
    if (!bits.empty() && count % 8 != 0 && std::to_integer<unsigned>(bits.back()) >> (count % 8) != 0) {
      refuse("marks more values NULL than there are");
    }
    return bits;
  }
  static bool is_null(ByteSpan bitmap, size_t i) {
    return (std::to_integer<unsigned>(bitmap[i / 8]) >> (i % 8) & 1) != 0;
  }

  Value get_value(const Type& type) {
    if (type.is_integer()) return get_integer(type.kind);
    const Value value = read_value(type);
    // If the bytes ended early the value is zero, or empty, and fault() reports that first.
    if (const char* fault = fault_of(type, value)) refuse(fault);
    return value;
  }
  std::span<const Value> get_array(const Type& type) {
    const uint64_t header = get_varint();
    const bool nulls = (header & 1) != 0;
    const uint64_t count = header / 2;
    // Each element takes at least a bit: this bounds what damaged bytes can make us allocate.
    if (count > uint64_t{cursor_.remaining()} * 8) refuse("has an array longer than itself");
    if (!nulls && count > cursor_.remaining()) refuse("has an array longer than itself");
    if (!ok()) return {};
    const ByteSpan bitmap = nulls ? get_bitmap(count) : ByteSpan{};
    if (!ok()) return {};
    if (type.is_integer() && !nulls) return get_integers(type.kind, count);
    const std::span<Value> elements = arena_.make_array<Value>(count);
    bool any_null = false;
    for (size_t i = 0; i < count && ok(); ++i) {
      const bool null = nulls && is_null(bitmap, i);
      any_null |= null;
      if (!null) elements[i] = get_value(type);
    }
    if (any_null != nulls) refuse("marks no element of an array NULL");
    return elements;
  }

 private:
  // Integers are most of what calls hold, so they don't go the way of all types.
  Value get_integer(TypeKind kind) {
    const std::byte* at = cursor_.take(0);
    uint64_t bits = 0;
    if (const size_t bytes = short_varint(at, at + cursor_.remaining(), bits);
        bytes > 0 && is_short_in_range(kind, bits)) {
      (void)cursor_.take(bytes);
      return Value::of_int(unzigzag(bits));
    }
    const int64_t number = unzigzag(get_varint());
    if (!fits_integer(kind, number)) refuse(kOutOfRange);
    return Value::of_int(number);
  }
  std::span<const Value> get_integers(TypeKind kind, size_t count) {
    auto* const elements = static_cast<Value*>(arena_.allocate(count * sizeof(Value)));
    const std::byte* const begin = cursor_.take(0);
    const std::byte* const end = begin + cursor_.remaining();
    const std::byte* at = begin;
    size_t i = 0;
    for (uint64_t bits = 0; i < count; ++i) {
      const size_t bytes = short_varint(at, end, bits);
      if (bytes == 0 || !is_short_in_range(kind, bits)) break;
      new (elements + i) Value(Value::of_int(unzigzag(bits)));
      at += bytes;
    }
    (void)cursor_.take(static_cast<size_t>(at - begin));
    for (; i < count; ++i) new (elements + i) Value(get_integer(kind));
    return {elements, count};
  }
  // Returns how many bytes a varint of at most three takes, in the encoding that Encoder gives it, with room
  // behind it for three; 0 for any other.
  [[gnu::always_inline]] static size_t short_varint(const std::byte* at, const std::byte* end,
                                                    uint64_t& bits) {
    if (end - at < 3) return 0;
    const auto first = static_cast<uint64_t>(at[0]);
    const auto second = static_cast<uint64_t>(at[1]);
    const auto third = static_cast<uint64_t>(at[2]);
    if (first < 0x80) {
      bits = first;
      return 1;
    }
    if (second < 0x80) {
      bits = (first & 0x7f) | second << 7;
      return second == 0 ? 0 : 2;
    }
    bits = (first & 0x7f) | (second & 0x7f) << 7 | third << 14;
    return third == 0 || third >= 0x80 ? 0 : 3;
  }
  // `bits` are 21 at most: any of these is an integer of every type but the smallest.
  static bool is_short_in_range(TypeKind kind, uint64_t bits) {
    return kind != TypeKind::kSmallInt || fits_integer(kind, unzigzag(bits));
  }
  Value read_value(const Type& type) {
    switch (type.kind) {
      case TypeKind::kBoolean:
        return Value::of_int(cursor_.get<uint8_t>());
      case TypeKind::kNumeric: {
        bool minimal = true;
        const int128 number = get_numeric(cursor_, minimal);
        if (!minimal) refuse("has a number in too many bytes");
        return Value::of_numeric(number);
      }
      case TypeKind::kDecimal: {
        bool minimal = true;
        const int128 number = get_numeric(cursor_, minimal);
        if (!minimal) refuse("has a number in too many bytes");
        return Value::of_decimal(number, cursor_.get<uint8_t>());
      }
      case TypeKind::kInterval: {
        const int64_t months = unzigzag(get_varint());
        const int64_t days = unzigzag(get_varint());
        if (!fits_integer(TypeKind::kInt, months) || !fits_integer(TypeKind::kInt, days)) refuse(kOutOfRange);
        return value_of(
            Interval{static_cast<int32_t>(months), static_cast<int32_t>(days), unzigzag(get_varint())});
      }
      case TypeKind::kReal:
        return Value::of_double(double{cursor_.get<float>()});
      case TypeKind::kDouble:
        return Value::of_double(cursor_.get<double>());
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        return Value::of_text(as_text(cursor_.get_bytes(get_varint())));
      default:
        return Value::of_int(unzigzag(get_varint()));
    }
  }

  ByteReader cursor_;
  Arena& arena_;
  const char* fault_ = nullptr;
};

bool is_null(const Type& type, const Argument& argument) {
  return type.is_array ? argument.null_array : argument.scalar.is_null();
}

Fault fault_of_argument(const Type& type, const Argument& argument) {
  if (!type.is_array) {
    if (!argument.null_array)
      return {sqlstate::kDatatypeMismatch, "is given as an array (Argument::of_array)"};
    return argument.scalar.is_null() ? Fault{} : fault_of_given(type, argument.scalar);
  }
  if (!argument.scalar.is_null())
    return {sqlstate::kDatatypeMismatch, "is given as a single value (Argument::of)"};
  return argument.null_array ? Fault{} : fault_of_any(type.element(), argument.array);
}

// The bitmap of NULLs, then the arguments that are not.
template <typename TypeOf>
void encode_arguments(std::span<const Argument> arguments, TypeOf type_of, ByteBuffer& out) {
  size_t max_bytes = bitmap_bytes(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = type_of(i);
    if (is_null(type, arguments[i])) continue;
    max_bytes += type.is_array ? max_array_bytes(type, arguments[i].array)
                               : max_value_bytes(type, arguments[i].scalar);
  }
  const size_t begin = out.size();
  out.resize(begin + max_bytes);
  Encoder encoder(out.data() + begin);
  encoder.put_bitmap(arguments.size(), [&](size_t i) { return is_null(type_of(i), arguments[i]); });
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type& type = type_of(i);
    if (is_null(type, arguments[i])) continue;
    if (type.is_array) {
      encoder.put_array(type, arguments[i].array);
    } else {
      encoder.put_value(type, arguments[i].scalar);
    }
  }
  out.resize(static_cast<size_t>(encoder.end() - out.data()));
}

}  // namespace

size_t argument_count(const ir::Procedure& procedure) {
  return procedure.parameters.size() + (procedure.call_time.valid() ? 1 : 0);
}

const Type& argument_type(const ir::Procedure& procedure, size_t n) {
  const VariableId variable =
      n < procedure.parameters.size() ? procedure.parameters[n].variable : procedure.call_time;
  return procedure.variables[variable.value].type;
}

Result<void> check_call(const Program& program, const Call& call, const char** code) {
  const auto refuse = [code](const char* sqlstate, Error error) {
    if (code != nullptr) *code = sqlstate;
    return error;
  };
  if (!call.procedure.valid() || call.procedure.value >= program.procedures.size()) {
    return refuse(sqlstate::kUndefinedFunction,
                  invalid_argument("there is no procedure number {}; the program has {}",
                                   call.procedure.value, program.procedures.size()));
  }
  const ir::Procedure& procedure = program.procedure(call.procedure);
  if (!procedure.rows.empty()) {
    return refuse(sqlstate::kNotSupported,
                  invalid_argument("function {} returns rows: write SELECT * FROM {}(...)", procedure.name,
                                   procedure.name));
  }
  const size_t count = argument_count(procedure);
  if (call.arguments.size() != count) {
    // The hidden argument is no business of the client's.
    const size_t parameters = procedure.parameters.size();
    const size_t given = call.arguments.size();
    return refuse(sqlstate::kUndefinedFunction,
                  invalid_argument("procedure {} takes {} argument{}, not {}", procedure.name, parameters,
                                   parameters == 1 ? "" : "s", given));
  }
  for (size_t i = 0; i < count; ++i) {
    const Type& type = argument_type(procedure, i);
    if (const Fault fault = fault_of_argument(type, call.arguments[i])) {
      return refuse(fault.sqlstate, invalid_argument("argument {} of {}, of type {}, {}", i + 1,
                                                     procedure.name, to_string(type), fault.what));
    }
  }
  return {};
}

void encode_call(const Program& program, const Call& call, ByteBuffer& out) {
  const ir::Procedure& procedure = program.procedure(call.procedure);
  out.put_varint(call.procedure.value);
  encode_arguments(
      call.arguments, [&](size_t i) -> const Type& { return argument_type(procedure, i); }, out);
}

void encode_results(const ir::Procedure& procedure, std::span<const Argument> results, ByteBuffer& out) {
  std::vector<const Type*> types;
  for (size_t i = 0; i < procedure.parameters.size(); ++i) {
    if (procedure.parameters[i].inout) types.push_back(&argument_type(procedure, i));
  }
  CHECK(types.size() == results.size());
  encode_arguments(
      results, [&](size_t i) -> const Type& { return *types[i]; }, out);
}

Result<void> decode_call(const Program& program, ByteSpan payload, Arena& arena, Call& call) {
  Decoder decoder(payload, arena);
  const uint64_t number = decoder.get_varint();
  if (!decoder.ok() || number >= program.procedures.size()) {
    return damaged("the call names procedure {}, but the program has {}", number, program.procedures.size());
  }
  call.procedure = ProcedureId{static_cast<uint32_t>(number)};
  const ir::Procedure& procedure = program.procedure(call.procedure);
  const size_t count = argument_count(procedure);
  const ByteSpan bitmap = decoder.get_bitmap(count);
  if (!decoder.ok()) return damaged("a call of {} {}", procedure.name, decoder.fault());
  // Most arguments are NULL, as the initial values of INOUT parameters.
  static constexpr Argument kNull;
  const size_t kept = std::min(call.arguments.size(), count);
  call.arguments.resize(count);
  for (Argument& argument : std::span(call.arguments).first(kept)) argument = kNull;
  for (size_t first = 0; first < count; first += 8) {
    unsigned given =
        ~std::to_integer<unsigned>(bitmap[first / 8]) & (0xffu >> (8 - std::min<size_t>(8, count - first)));
    for (; given != 0; given &= given - 1) {
      const size_t i = first + static_cast<size_t>(std::countr_zero(given));
      const Type& type = argument_type(procedure, i);
      call.arguments[i] =
          type.is_array ? Argument::of_array(decoder.get_array(type)) : Argument::of(decoder.get_value(type));
      if (!decoder.ok())
        return damaged("argument {} of a call of {} {}", i + 1, procedure.name, decoder.fault());
    }
  }
  call.hints = {};
  if (decoder.remaining() == 0) return {};
  const ByteSpan hints = decoder.get_rest();
  if (const char* fault = decode_hints(procedure, hints, arena, call.hints)) {
    return damaged("a call of {} is followed by {} bytes that are no hint: it {}", procedure.name,
                   hints.size(), fault);
  }
  return {};
}

}  // namespace mneme
