// Goal: numbers with their own digits are what PostgreSQL 15 makes of them, digit for digit.
// Method: sums, products, quotients and roundings whose results were read from PostgreSQL.
#include "procedures/values/decimal.h"

#include <gtest/gtest.h>

#include "procedures/values/value_text.h"

namespace mneme {
namespace {

std::string decimal_text(const Value& value) {
  fmt::memory_buffer buffer;
  print_value(kDecimalType, value, buffer);
  return fmt::to_string(buffer);
}

class DecimalTest : public testing::Test {
 protected:
  Value read(std::string_view text) {
    Value value;
    EXPECT_TRUE(parse_value(kDecimalType, text, arena_, value, error_)) << text;
    return value;
  }
  std::string apply(ir::Op op, std::string_view a, std::string_view b) {
    Value result;
    if (!apply_decimal(op, read(a), read(b), arena_, result, error_)) return error_.sqlstate;
    return decimal_text(result);
  }
  std::string round(ir::Function function, std::string_view number, int64_t digits) {
    Value result;
    if (!round_decimal(function, read(number), digits, arena_, result, error_)) return error_.sqlstate;
    return decimal_text(result);
  }

  Arena arena_;
  SqlError error_;
};

TEST_F(DecimalTest, QuotientsHavePostgresqlsDigits) {
  const auto quotient = [&](std::string_view a, std::string_view b) { return apply(ir::Op::kDivide, a, b); };
  EXPECT_EQ(quotient("1.0", "3"), "0.33333333333333333333");
  EXPECT_EQ(quotient("10.00", "3"), "3.3333333333333333");
  EXPECT_EQ(quotient("22.5", "7"), "3.2142857142857143");
  EXPECT_EQ(quotient("-2", "3"), "-0.66666666666666666667");
  EXPECT_EQ(quotient("100000000000.0", "3"), "33333333333.33333333");
  EXPECT_EQ(quotient("0.00001", "7"), "0.000001428571428571428571");
  EXPECT_EQ(quotient("123456789.123", "0.001"), "123456789123.00000000");
  EXPECT_EQ(quotient("0", "7.25"), "0.00000000000000000000");
  EXPECT_EQ(quotient("1", "0.0"), "22012");
}

TEST_F(DecimalTest, SumsAndProductsKeepTheMostDigits) {
  EXPECT_EQ(apply(ir::Op::kAdd, "1.5", "2.25"), "3.75");
  EXPECT_EQ(apply(ir::Op::kAdd, "1.50", "2.50"), "4.00");
  EXPECT_EQ(apply(ir::Op::kSubtract, "1", "0.001"), "0.999");
  EXPECT_EQ(apply(ir::Op::kMultiply, "1.10", "1.1"), "1.210");
  EXPECT_EQ(apply(ir::Op::kModulo, "-7.5", "2"), "-1.5");
  EXPECT_EQ(apply(ir::Op::kModulo, "1", "0"), "22012");
  EXPECT_EQ(apply(ir::Op::kMultiply, "99999999999999999999", "99999999999999999999"), "22003");
}

TEST_F(DecimalTest, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(round(ir::Function::kRound, "2.345", 2), "2.35");
  EXPECT_EQ(round(ir::Function::kRound, "-2.345", 2), "-2.35");
  EXPECT_EQ(round(ir::Function::kRound, "2.3", 3), "2.300");
  EXPECT_EQ(round(ir::Function::kRound, "1250", -2), "1300");
  EXPECT_EQ(round(ir::Function::kTrunc, "2.99", 0), "2");
  EXPECT_EQ(round(ir::Function::kFloor, "-2.01", 0), "-3");
  EXPECT_EQ(round(ir::Function::kCeil, "2.01", 0), "3");
}

TEST_F(DecimalTest, EqualNumbersAreAlikeWithoutTheirZeros) {
  EXPECT_EQ(compare_decimals(read("1.50"), read("1.5")), std::strong_ordering::equal);
  EXPECT_EQ(compare_decimals(read("-1.51"), read("-1.5")), std::strong_ordering::less);
  EXPECT_EQ(compare_decimals(read("0.1"), read("0.0999999999999999999999999999")),
            std::strong_ordering::greater);
  EXPECT_EQ(decimal_text(without_trailing_zeros(read("1.500"))), "1.5");
  EXPECT_EQ(decimal_text(without_trailing_zeros(read("0.00"))), "0");
}

}  // namespace
}  // namespace mneme
