#include "procedures/values/long_number.h"

#include <algorithm>
#include <cmath>

#include "procedures/values/numeric.h"

namespace mneme {

LongNumber::LongNumber(int64_t number) : LongNumber(int128{number}, 0) {}

LongNumber::LongNumber(int128 number, unsigned digits) : is_negative_(number < 0) {
  auto rest = is_negative_ ? -static_cast<unsigned __int128>(number) : static_cast<unsigned __int128>(number);
  for (size_t i = kFraction; rest != 0; ++i, rest /= kBase) limbs_[i] = static_cast<uint32_t>(rest % kBase);
  constexpr unsigned kDigitsOfLimb = 9;
  for (; digits >= kDigitsOfLimb; digits -= kDigitsOfLimb) *this = divided_by(kBase);
  *this = divided_by(static_cast<uint32_t>(power_of_ten(digits)));
}

LongNumber LongNumber::of_double(double number) {
  int exponent = 0;
  constexpr int kMantissaBits = 53;
  const double mantissa = std::frexp(number, &exponent);
  LongNumber result(static_cast<int64_t>(std::ldexp(mantissa, kMantissaBits)));
  exponent -= kMantissaBits;
  if (exponent < 0) return result.halved(static_cast<unsigned>(-exponent));
  for (; exponent > 0; --exponent) result = result.times(2);
  return result;
}

bool LongNumber::is_zero() const {
  return std::ranges::all_of(limbs_, [](uint32_t limb) { return limb == 0; });
}

double LongNumber::to_double() const {
  double result = 0;
  for (size_t i = kLimbs; i-- > 0;) {
    if (limbs_[i] == 0) continue;
    result += limbs_[i] * std::pow(10.0, 9.0 * (static_cast<double>(i) - kFraction));
  }
  return is_negative_ ? -result : result;
}

std::optional<int128> LongNumber::rounded(unsigned digits) const {
  LongNumber scaled = *this;
  for (unsigned i = 0; i < digits; ++i) scaled = scaled.times(10);
  if (scaled.is_too_large_) return std::nullopt;
  int128 whole = 0;
  for (size_t i = kLimbs; i-- > kFraction;) {
    if (whole > kPowersOfTen[kMaxNumericPrecision] / kBase) return std::nullopt;
    whole = whole * kBase + scaled.limbs_[i];
  }
  if (scaled.limbs_[kFraction - 1] >= kBase / 2) ++whole;
  if (!has_digits(whole, kMaxNumericPrecision)) return std::nullopt;
  return is_negative_ ? -whole : whole;
}

int LongNumber::compare_magnitudes(const LongNumber& a, const LongNumber& b) {
  for (size_t i = kLimbs; i-- > 0;) {
    if (a.limbs_[i] != b.limbs_[i]) return a.limbs_[i] < b.limbs_[i] ? -1 : 1;
  }
  return 0;
}

LongNumber LongNumber::operator-() const {
  LongNumber result = *this;
  result.is_negative_ = !is_negative_;
  return result;
}

LongNumber LongNumber::operator+(const LongNumber& other) const {
  LongNumber result;
  result.is_too_large_ = is_too_large_ || other.is_too_large_;
  const bool subtracts = is_negative_ != other.is_negative_;
  const bool is_first_larger = compare_magnitudes(*this, other) >= 0;
  const LongNumber& larger = is_first_larger ? *this : other;
  const LongNumber& smaller = is_first_larger ? other : *this;
  result.is_negative_ = larger.is_negative_;
  int64_t carry = 0;
  for (size_t i = 0; i < kLimbs; ++i) {
    int64_t limb = int64_t{larger.limbs_[i]} + carry;
    limb += subtracts ? -int64_t{smaller.limbs_[i]} : int64_t{smaller.limbs_[i]};
    carry = limb < 0 ? -1 : limb / kBase;
    result.limbs_[i] = static_cast<uint32_t>(limb - carry * kBase);
  }
  result.is_too_large_ |= carry != 0;
  return result;
}

LongNumber LongNumber::operator*(const LongNumber& other) const {
  std::array<uint64_t, 2 * kLimbs> product{};
  for (size_t i = 0; i < kLimbs; ++i) {
    uint64_t carry = 0;
    if (limbs_[i] == 0) continue;
    for (size_t j = 0; j < kLimbs; ++j) {
      const uint64_t limb = product[i + j] + uint64_t{limbs_[i]} * other.limbs_[j] + carry;
      product[i + j] = limb % kBase;
      carry = limb / kBase;
    }
    product[i + kLimbs] += carry;
  }
  LongNumber result;
  result.is_negative_ = is_negative_ != other.is_negative_;
  result.is_too_large_ = is_too_large_ || other.is_too_large_;
  for (size_t i = 0; i < kLimbs; ++i) result.limbs_[i] = static_cast<uint32_t>(product[i + kFraction]);
  for (size_t i = kLimbs + kFraction; i < product.size(); ++i) result.is_too_large_ |= product[i] != 0;
  return result;
}

LongNumber LongNumber::times(uint32_t factor) const {
  LongNumber result = *this;
  uint64_t carry = 0;
  for (uint32_t& limb : result.limbs_) {
    const uint64_t product = uint64_t{limb} * factor + carry;
    limb = static_cast<uint32_t>(product % kBase);
    carry = product / kBase;
  }
  result.is_too_large_ |= carry != 0;
  return result;
}

LongNumber LongNumber::divided_by(uint32_t divisor) const {
  LongNumber result = *this;
  uint64_t rest = 0;
  for (size_t i = kLimbs; i-- > 0;) {
    const uint64_t dividend = rest * kBase + limbs_[i];
    result.limbs_[i] = static_cast<uint32_t>(dividend / divisor);
    rest = dividend % divisor;
  }
  return result;
}

LongNumber LongNumber::halved(unsigned times) const {
  constexpr unsigned kMostBits = 29;
  LongNumber result = *this;
  for (; times > kMostBits; times -= kMostBits) result = result.divided_by(1u << kMostBits);
  return result.divided_by(1u << times);
}

// By Newton's steps, each of which doubles the digits that are right.
LongNumber LongNumber::reciprocal() const {
  constexpr int kSteps = 5;
  LongNumber result = of_double(1.0 / to_double());
  for (int i = 0; i < kSteps; ++i) result = result * (LongNumber(2) - *this * result);
  return result;
}

// The series of a small number, squared as often as the number was halved.
LongNumber exp_of(const LongNumber& number) {
  constexpr unsigned kHalvings = 18;
  constexpr uint32_t kMostTerms = 60;
  const LongNumber part = number.halved(kHalvings);
  LongNumber term(1);
  LongNumber sum(1);
  for (uint32_t i = 1; i < kMostTerms && !term.is_zero(); ++i) {
    term = (term * part).divided_by(i);
    sum = sum + term;
  }
  for (unsigned i = 0; i < kHalvings; ++i) sum = sum * sum;
  return sum;
}

// ln(x) is y + ln(x / e^y), where y is near it: the series of ln(1 + d).
LongNumber ln_of(const LongNumber& number) {
  constexpr uint32_t kMostTerms = 16;
  const LongNumber near = LongNumber::of_double(std::log(number.to_double()));
  const LongNumber rest = number * exp_of(-near) - LongNumber(1);
  LongNumber result = near;
  LongNumber power = rest;
  for (uint32_t i = 1; i < kMostTerms && !power.is_zero(); ++i) {
    const LongNumber term = power.divided_by(i);
    result = i % 2 == 1 ? result + term : result - term;
    power = power * rest;
  }
  return result;
}

LongNumber whole_power_of(const LongNumber& base, int64_t exponent) {
  LongNumber square = exponent < 0 ? base.reciprocal() : base;
  LongNumber result(1);
  for (auto left = static_cast<uint64_t>(std::abs(exponent)); left != 0; left >>= 1) {
    if ((left & 1) != 0) result = result * square;
    if (left > 1) square = square * square;
  }
  return result;
}

}  // namespace mneme
