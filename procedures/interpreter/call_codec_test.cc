// Goal: a call survives its encoding, and no bytes at all can make the decoder do anything but decode or
// refuse. Method: random calls of a procedure with a parameter of every type, arrays included, are encoded
// and decoded and compared value by value; encodings are mutated, cut and extended, and whatever decodes must
// encode to the very same bytes again.

#include "procedures/interpreter/call_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "base/testing/test_refusal.h"
#include "procedures/interpreter/call_hints.h"
#include "procedures/interpreter/call_text.h"
#include "procedures/values/numeric.h"

namespace mneme {
namespace {

Type type_of(TypeKind kind, uint8_t precision = 0, uint8_t scale = 0, uint16_t length = 0) {
  Type type;
  type.kind = kind;
  type.precision = precision;
  type.scale = scale;
  type.length = length;
  return type;
}

// One procedure; each type is a parameter, and once more as an array.
Program every_type() {
  const Type scalars[] = {
      type_of(TypeKind::kBoolean),  type_of(TypeKind::kSmallInt),       type_of(TypeKind::kInt),
      type_of(TypeKind::kBigInt),   type_of(TypeKind::kNumeric, 12, 2), type_of(TypeKind::kNumeric, 38, 10),
      type_of(TypeKind::kDouble),   type_of(TypeKind::kChar, 0, 0, 5),  type_of(TypeKind::kVarchar, 0, 0, 9),
      type_of(TypeKind::kTimestamp)};
  Program program;
  ir::Procedure procedure;
  procedure.id = ProcedureId{0};
  procedure.name = "every_type";
  for (const bool array : {false, true}) {
    for (Type type : scalars) {
      type.is_array = array;
      const VariableId variable{static_cast<uint32_t>(procedure.variables.size())};
      procedure.variables.push_back({"p" + std::to_string(variable.value), type});
      procedure.parameters.push_back({variable, false});
    }
  }
  auto bound = std::make_shared<BoundProcedure>();
  bound->procedure = procedure;
  program.procedures.push_back(bound);
  return program;
}

class RandomCalls {
 public:
  RandomCalls(const Program& program, uint64_t seed) : procedure_(program.procedures[0]), random_(seed) {}

  Call next() {
    arena_.reset();
    Call call{procedure_.id, {}};
    for (size_t i = 0; i < argument_count(procedure_); ++i)
      call.arguments.push_back(argument(argument_type(procedure_, i)));
    return call;
  }

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }

  Argument argument(const Type& type) {
    if (below(4) == 0) return {};
    if (!type.is_array) return Argument::of(value(type));
    const std::span<Value> elements = arena_.make_array<Value>(below(12));
    const bool nulls = below(2) == 0;
    for (Value& element : elements) {
      if (!nulls || below(3) > 0) element = value(type.element());
    }
    return Argument::of_array(elements);
  }
  int64_t integer(int bits) {
    // Numbers of all magnitudes: half of all random numbers would have the top bit set.
    const auto magnitude =
        static_cast<int64_t>(random_() >> (64 - bits + 1) >> below(static_cast<uint64_t>(bits - 1)));
    return below(2) == 0 ? magnitude : -magnitude - 1;
  }
  Value value(const Type& type) {
    switch (type.kind) {
      case TypeKind::kBoolean:
        return Value::of_bool(below(2) == 0);
      case TypeKind::kSmallInt:
        return Value::of_int(integer(16));
      case TypeKind::kInt:
        return Value::of_int(integer(32));
      case TypeKind::kNumeric: {
        int128 number = (int128{integer(64)} << 64 | static_cast<int128>(random_())) >> below(127);
        return Value::of_numeric(number % power_of_ten(type.precision));
      }
      case TypeKind::kDouble:
        return Value::of_double(std::bit_cast<double>(random_()));
      case TypeKind::kChar:
      case TypeKind::kVarchar: {
        const std::span<char> text = arena_.make_array<char>(below(type.length + 1));
        for (char& c : text) c = static_cast<char>('!' + below(90));
        return Value::of_text({text.data(), text.size()});
      }
      case TypeKind::kTimestamp:
        return Value::of_int(integer(56));  // in the years 858 to 3141
      default:
        return Value::of_int(integer(64));
    }
  }

  const ir::Procedure& procedure_;
  std::mt19937_64 random_;
  Arena arena_;
};

bool same(const Type& type, const Value& a, const Value& b) {
  if (a.is_null() || b.is_null()) return a.is_null() == b.is_null();
  if (type.is_string()) return a.as_text() == b.as_text();
  if (type.kind == TypeKind::kNumeric) return a.as_numeric() == b.as_numeric();
  return a.as_int() == b.as_int();  // the very bits of a double
}

void expect_same(const Program& program, const Call& a, const Call& b) {
  ASSERT_EQ(a.procedure, b.procedure);
  ASSERT_EQ(a.arguments.size(), b.arguments.size());
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    const Type& type = argument_type(program.procedures[0], i);
    const Argument& x = a.arguments[i];
    const Argument& y = b.arguments[i];
    if (!type.is_array) {
      EXPECT_TRUE(same(type, x.scalar, y.scalar)) << "argument " << i;
      continue;
    }
    ASSERT_EQ(x.null_array, y.null_array) << "argument " << i;
    ASSERT_EQ(x.array.size(), y.array.size()) << "argument " << i;
    for (size_t k = 0; k < x.array.size(); ++k)
      EXPECT_TRUE(same(type, x.array[k], y.array[k])) << "argument " << i;
  }
}

TEST(CallCodec, RoundTrip) {
  const Program program = every_type();
  RandomCalls calls(program, 1);
  Arena arena;
  for (int i = 0; i < 3000; ++i) {
    const Call call = calls.next();
    ASSERT_TRUE(check_call(program, call).ok()) << check_call(program, call).error().message;
    ByteBuffer bytes;
    encode_call(program, call, bytes);
    arena.reset();
    Call decoded;
    const Result<void> result = decode_call(program, bytes.span(), arena, decoded);
    ASSERT_TRUE(result.ok()) << result.error().message;
    expect_same(program, call, decoded);
  }
}

TEST(CallCodec, MutatedBytesDecodeToWhatTheySayOrAreRefused) {
  const Program program = every_type();
  RandomCalls calls(program, 2);
  std::mt19937_64 random(3);
  Arena arena;
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    ByteBuffer bytes;
    encode_call(program, calls.next(), bytes);
    std::vector<std::byte> mutated(bytes.span().begin(), bytes.span().end());
    for (uint64_t changes = random() % 3; changes > 0; --changes) {
      mutated[random() % mutated.size()] = static_cast<std::byte>(random());
    }
    if (random() % 4 == 0) mutated.resize(random() % (mutated.size() + 4));
    arena.reset();
    Call decoded;
    if (!decode_call(program, mutated, arena, decoded).ok()) {
      ++refused;
      continue;
    }
    // A log of an earlier program may hold a timestamp that no client may give any more.
    const Result<void> checked = check_call(program, decoded);
    ASSERT_TRUE(checked.ok() || checked.error().message.ends_with("lies outside of the years 1 to 9999"))
        << checked.error().message;
    ByteBuffer again;
    encode_call(program, decoded, again);
    encode_hints(decoded.hints, again);
    ASSERT_TRUE(std::ranges::equal(again.span(), mutated));
  }
  EXPECT_GT(refused, 1000);
}

TEST(CallCodec, AHugeArrayInAFewBytesIsRefusedWithoutAllocatingIt) {
  const Program program = every_type();
  ByteBuffer bytes;
  bytes.put_varint(0);
  // All NULL but argument 12, an int[] that claims 2^40 elements.
  for (const uint8_t bits : {0xff, 0xef, 0x0f}) bytes.put(bits);
  bytes.put_varint(uint64_t{1} << 41);
  Arena arena;
  Call decoded;
  const Result<void> result = decode_call(program, bytes.span(), arena, decoded);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "argument 13 of a call of every_type has an array longer than itself");
}

TEST(CallCodec, ACallThatEndsBeforeItsArgumentsIsRefused) {
  const Program program = every_type();
  ByteBuffer bytes;
  bytes.put_varint(0);
  bytes.put(uint8_t{0xff});  // of twenty arguments
  Arena arena;
  Call decoded;
  test::expect_refused(decode_call(program, bytes.span(), arena, decoded), ErrorKind::kDamaged,
                       "a call of every_type ends early");
  for (const uint8_t bits : {0xff, 0xff}) bytes.put(bits);
  test::expect_refused(decode_call(program, bytes.span(), arena, decoded), ErrorKind::kDamaged,
                       "a call of every_type marks more values NULL than there are");
}

TEST(CallCodec, BadCallsAreRefusedWithASentence) {
  const Program program = every_type();
  Call call{ProcedureId{0}, std::vector<Argument>(20)};
  const auto refusal = [&] {
    const Result<void> result = check_call(program, call);
    return result.ok() ? std::string() : result.error().message;
  };
  EXPECT_EQ(refusal(), "");
  const auto with = [&](size_t n, Value value) {
    call.arguments.assign(20, Argument{});
    call.arguments[n] = Argument::of(value);
    return refusal();
  };
  EXPECT_EQ(with(1, Value::of_int(40000)), "argument 2 of every_type, of type smallint, is out of range");
  EXPECT_EQ(with(4, Value::of_numeric(power_of_ten(12))),
            "argument 5 of every_type, of type numeric(12,2), has too many digits");
  EXPECT_EQ(with(8, Value::of_text("0123456789")),
            "argument 9 of every_type, of type varchar(9), is too long");
  EXPECT_EQ(with(8, Value::of_text("\xc3")),
            "argument 9 of every_type, of type varchar(9), is not valid UTF-8, or has a zero byte");
  EXPECT_EQ(with(8, Value::of_text("\xc3\xa4 is 1 \xe2\x82\xac")), "");
  EXPECT_EQ(with(8, Value::of_text("\xc3\xa4 is 1 \xe2\x82\xac!!")),
            "argument 9 of every_type, of type varchar(9), is too long");
  // Wherever it stands, in whatever company; and what is no such character is none.
  for (size_t length = 1; length <= 9; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (const char other : {'\x01', 'a', '\x7f'}) {
        std::string text(length, other);
        EXPECT_EQ(with(8, Value::of_text(text)), "");
        for (const char wrong : {'\0', '\x80', '\xff'}) {
          text[at] = wrong;
          EXPECT_THAT(with(8, Value::of_text(text)),
                      testing::EndsWith("is not valid UTF-8, or has a zero byte"));
        }
      }
    }
  }
  EXPECT_EQ(with(7, Value::of_text("a ")),
            "argument 8 of every_type, of type char(5), keeps the blanks at its end");
  call.arguments.pop_back();
  EXPECT_EQ(refusal(), "procedure every_type takes 20 arguments, not 19");
  call.procedure = ProcedureId{7};
  EXPECT_EQ(refusal(), "there is no procedure number 7; the program has 1");
}

TEST(CallText, ArgumentsReadBackAsPrinted) {
  const Program program = every_type();
  RandomCalls calls(program, 4);
  Arena arena;
  for (int i = 0; i < 1000; ++i) {
    Call call = calls.next();
    Call read = call;
    arena.reset();
    for (size_t k = 0; k < call.arguments.size(); ++k) {
      const Type& type = argument_type(program.procedures[0], k);
      const std::optional<std::string> text = print_argument(type, call.arguments[k]);
      read.arguments[k] = Argument{};
      if (!text) continue;
      const Result<Argument> argument = parse_argument(type, *text, arena);
      ASSERT_TRUE(argument.ok()) << *text << ": " << argument.error().message;
      // Text keeps one of NaN's many bit patterns.
      const bool has_nan = type.kind == TypeKind::kDouble && text->find("NaN") != std::string::npos;
      read.arguments[k] = has_nan ? call.arguments[k] : *argument;
    }
    expect_same(program, call, read);
  }
}

TEST(CallText, RefusesWhatAParametersModifiersWouldChange) {
  Arena arena;
  Type numeric{.kind = TypeKind::kNumeric, .precision = 5, .scale = 2};
  EXPECT_EQ(print_argument(numeric, *parse_argument(numeric, " 1.230 ", arena)), "1.23");
  EXPECT_EQ(print_argument(numeric, *parse_argument(numeric, "123e-2", arena)), "1.23");
  for (const char* text : {"1.239", "1239e-3", "1000"}) {
    const Result<Argument> refused = parse_argument(numeric, text, arena);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_THAT(refused.error().message, testing::HasSubstr("a numeric(5,2) would change"));
  }
  const Type varchar{.kind = TypeKind::kVarchar, .length = 3};
  EXPECT_EQ(print_argument(varchar, *parse_argument(varchar, "ab ", arena)), "ab ");
  EXPECT_FALSE(parse_argument(varchar, "abc ", arena).ok());
  const Type character{.kind = TypeKind::kChar, .length = 3};
  EXPECT_EQ(print_argument(character, *parse_argument(character, "ab    ", arena)), "ab ");
  EXPECT_FALSE(parse_argument(character, "abcd", arena).ok());
  numeric.is_array = true;
  Argument argument;
  SqlError error;
  EXPECT_FALSE(parse_argument(numeric, "{1.23,1.239}", arena, argument, error));
  EXPECT_STREQ(error.sqlstate, sqlstate::kOutOfRange);
  EXPECT_FALSE(parse_argument(numeric, "{1.23,x}", arena, argument, error));
  EXPECT_STREQ(error.sqlstate, sqlstate::kInvalidText);
}

TEST(CallText, ArraysReadAsPostgresqlReadsThem) {
  Type ints = type_of(TypeKind::kInt);
  ints.is_array = true;
  Type texts = type_of(TypeKind::kVarchar, 0, 0, 20);
  texts.is_array = true;
  Arena arena;
  const auto round_trip = [&](const Type& type, std::string_view text) {
    const Result<Argument> argument = parse_argument(type, text, arena);
    return argument.ok() ? *print_argument(type, *argument) : argument.error().message;
  };
  EXPECT_EQ(round_trip(ints, " { 1 , NULL, -3 } "), "{1,NULL,-3}");
  EXPECT_EQ(round_trip(ints, "{}"), "{}");
  EXPECT_EQ(round_trip(texts, R"({a b , "c,d", "", "null", null, e\"f})"),
            R"({"a b","c,d","","null",NULL,"e\"f"})");
  EXPECT_EQ(round_trip(ints, "{1,2"), "malformed array literal: \"{1,2\"; an array is written as {1,2,3}");
  EXPECT_EQ(round_trip(ints, "{1,}"), "malformed array literal: \"{1,}\"; an array is written as {1,2,3}");
  EXPECT_EQ(round_trip(ints, "{1} x"), "malformed array literal: \"{1} x\"; an array is written as {1,2,3}");
  EXPECT_EQ(round_trip(ints, "{x}"), "invalid input syntax for type integer: \"x\"");
}

TEST(CallCodec, AFunctionThatReturnsRowsIsNotCalled) {
  const std::unique_ptr<Program> program = *compile(
      "CREATE FUNCTION three() RETURNS SETOF INT LANGUAGE sql AS $$ VALUES (1), (2), (3) $$;", "test.sql");
  const Result<void> checked = check_call(*program, Call{ProcedureId{0}, {}});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().message, "function three returns rows: write SELECT * FROM three(...)");
}

}  // namespace
}  // namespace mneme
