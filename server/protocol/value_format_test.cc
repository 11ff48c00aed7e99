// Goal: values travel as PostgreSQL's clients read and write them, in both formats, and no bytes harm us.
// Method: known bytes of PostgreSQL 15's send functions; there and back at random; random bytes.
#include "server/protocol/value_format.h"

#include <gtest/gtest.h>

#include <random>

#include "base/utf8.h"
#include "procedures/values/numeric.h"
#include "procedures/values/value_text.h"

namespace mneme {
namespace {

Type numeric(uint8_t scale) {
  return {.kind = TypeKind::kNumeric, .scale = scale};
}

std::string hex(ByteSpan bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(each));
  return text;
}

// Returns the value's bytes without the length before them.
std::vector<std::byte> written(const Type& type, const Value& value, ValueFormat format) {
  std::vector<std::byte> bytes;
  MessageWriter out(bytes);
  write_value(type, Argument::of(value), format, out);
  EXPECT_EQ(from_big_endian<uint32_t>(bytes.data()), bytes.size() - 4);
  bytes.erase(bytes.begin(), bytes.begin() + 4);
  return bytes;
}

TEST(ValueFormat, BinaryIsWhatPostgresSends) {
  const auto binary = [](const Type& type, const Value& value) {
    return hex(written(type, value, ValueFormat::kBinary));
  };
  EXPECT_EQ(binary({.kind = TypeKind::kInt}, Value::of_int(-2)), "fffffffe");
  EXPECT_EQ(binary({.kind = TypeKind::kSmallInt}, Value::of_int(258)), "0102");
  EXPECT_EQ(binary({.kind = TypeKind::kBigInt}, Value::of_int(1)), "0000000000000001");
  EXPECT_EQ(binary({.kind = TypeKind::kBoolean}, Value::of_bool(true)), "01");
  EXPECT_EQ(binary({.kind = TypeKind::kDouble}, Value::of_double(1.5)), "3ff8000000000000");
  // select numeric_send(...) of PostgreSQL 15
  EXPECT_EQ(binary(numeric(2), Value::of_numeric(1234)), "0002000000000002000c0d48");
  EXPECT_EQ(binary(numeric(2), Value::of_numeric(5)), "0001ffff0000000201f4");
  EXPECT_EQ(binary(numeric(5), Value::of_numeric(1)), "0001fffe0000000503e8");
  EXPECT_EQ(binary(numeric(0), Value::of_numeric(-10'000)),
            "0001000140000000"
            "0001");
  EXPECT_EQ(binary(numeric(2), Value::of_numeric(0)), "0000000000000002");
}

TEST(ValueFormat, WhatIsWrittenIsReadBack) {
  std::mt19937_64 random(20261125);
  for (int round = 0; round < 20'000; ++round) {
    Type type;
    Value value;
    switch (random() % 5) {
      case 0:
        type.kind = TypeKind::kBigInt;
        value = Value::of_int(static_cast<int64_t>(random() >> random() % 64));
        break;
      case 1:
        type.kind = TypeKind::kDouble;
        value = Value::of_double(static_cast<double>(static_cast<int64_t>(random())) / 1024);
        break;
      case 2:
        type.kind = TypeKind::kTimestamp;
        value = Value::of_int(static_cast<int64_t>(random() % 3'000'000'000'000'000));
        break;
      default: {
        type = numeric(static_cast<uint8_t>(random() % 39));
        int128 number = static_cast<int128>(random()) * static_cast<int64_t>(random() >> random() % 64);
        number %= power_of_ten(static_cast<unsigned>(random() % 39));
        value = Value::of_numeric(random() % 2 == 0 ? number : -number);
      }
    }
    for (const ValueFormat format : {ValueFormat::kText, ValueFormat::kBinary}) {
      const std::vector<std::byte> bytes = written(type, value, format);
      Arena arena;
      Argument read;
      uint8_t scale = 0;
      SqlError error;
      Type wanted = type;
      wanted.scale = 0;  // of a parameter, whose digits the value brings
      ASSERT_TRUE(read_value(wanted, bytes, format, arena, read, scale, error))
          << error.message << hex(bytes);
      EXPECT_EQ(scale, type.scale);
      EXPECT_EQ(hex(written(type, read.scalar, format)), hex(bytes));
    }
  }
}

TEST(ValueFormat, AnyBytesAreAValueOrAnError) {
  std::mt19937_64 random(20261125);
  const std::vector<Type> types = {{.kind = TypeKind::kInt},
                                   numeric(2),
                                   {.kind = TypeKind::kTimestamp},
                                   {.kind = TypeKind::kVarchar, .length = 5},
                                   {.kind = TypeKind::kInt, .is_array = true},
                                   {.kind = TypeKind::kNumeric, .is_array = true, .scale = 2}};
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> bytes(random() % 40);
    for (std::byte& each : bytes) each = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 3);
    for (const Type& type : types) {
      for (const ValueFormat format : {ValueFormat::kText, ValueFormat::kBinary}) {
        Arena arena;
        Argument read;
        uint8_t scale = 0;
        SqlError error;
        if (!read_value(type, bytes, format, arena, read, scale, error)) {
          EXPECT_FALSE(error.message.empty());
          EXPECT_EQ(std::string_view(error.sqlstate).size(), 5U);
        } else if (!type.is_array && type.is_string()) {
          EXPECT_LE(count_characters(read.scalar.as_text()), 5U);
        }
      }
    }
  }
}

}  // namespace
}  // namespace mneme
