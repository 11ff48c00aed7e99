#include "workloads/ycsb/ycsb_schema.h"

#include <charconv>
#include <string>

#include "base/check.h"
#include "workloads/shared/random.h"

namespace mneme::ycsb {
namespace {

// An inserted record's number: the highest bit, then these.
constexpr int kIncarnationBits = 16;
constexpr int kWorkerBits = 11;
constexpr int kOrdinalBits = 34;
static_assert(1 + kIncarnationBits + kWorkerBits + kOrdinalBits == kRecordBits);

constexpr uint64_t low_bits(int bits) {
  return (uint64_t{1} << bits) - 1;
}

// Odd, so that multiplying by it modulo a power of two can be undone.
constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;

// Newton's iteration doubles the number of right bits; an odd number is its own inverse modulo 8.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t result = odd;
  for (int bits = 3; bits < 64; bits *= 2) result *= 2 - odd * result;
  return result;
}
static_assert(kFactor * inverse(kFactor) == 1);

// Undoes itself, as the upper half stays.
constexpr uint64_t fold(uint64_t x) {
  return x ^ (x >> (kRecordBits / 2));
}

constexpr uint64_t scramble(uint64_t x) {
  for (int round = 0; round < 2; ++round) x = fold(x) * kFactor & low_bits(kRecordBits);
  return fold(x);
}

constexpr uint64_t unscramble(uint64_t x) {
  for (int round = 0; round < 2; ++round) x = fold(x) * inverse(kFactor) & low_bits(kRecordBits);
  return fold(x);
}
static_assert(unscramble(scramble(0x123456789abcdef)) == 0x123456789abcdef);

constexpr std::string_view kAlphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
static_assert(kAlphabet.size() == 64);
constexpr int kBitsPerCharacter = 6;
constexpr size_t kChanceDigits = 8;

}  // namespace

uint64_t inserted_record(const Insertion& insertion) {
  CHECK(insertion.incarnation <= low_bits(kIncarnationBits));
  CHECK(insertion.worker <= low_bits(kWorkerBits));
  CHECK(insertion.ordinal <= low_bits(kOrdinalBits));
  uint64_t record = 1;
  record = record << kIncarnationBits | insertion.incarnation;
  record = record << kWorkerBits | insertion.worker;
  return record << kOrdinalBits | insertion.ordinal;
}

Insertion insertion_of(uint64_t record) {
  CHECK(is_inserted(record));
  return {.incarnation =
              static_cast<uint32_t>(record >> (kWorkerBits + kOrdinalBits) & low_bits(kIncarnationBits)),
          .worker = static_cast<uint32_t>(record >> kOrdinalBits & low_bits(kWorkerBits)),
          .ordinal = record & low_bits(kOrdinalBits)};
}

int64_t key_of(uint64_t record) {
  DCHECK(record <= low_bits(kRecordBits));
  return static_cast<int64_t>(scramble(record));
}

uint64_t record_of(int64_t key) {
  CHECK(is_key(key));
  return unscramble(static_cast<uint64_t>(key));
}

void write_value(int64_t key, uint32_t field, uint32_t chance, std::span<char> text) {
  DCHECK(text.size() >= kLeastFieldBytes);
  Random random({static_cast<uint64_t>(key), field, chance});
  for (size_t i = 0; i < kChanceDigits; ++i) {
    text[i] = kAlphabet[chance >> (4 * (kChanceDigits - 1 - i)) & 15];
  }
  uint64_t bits = 0;
  int left = 0;
  for (char& c : text.subspan(kChanceDigits)) {
    if (left < kBitsPerCharacter) {
      bits = random.next();
      left = 64;
    }
    c = kAlphabet[bits & low_bits(kBitsPerCharacter)];
    bits >>= kBitsPerCharacter;
    left -= kBitsPerCharacter;
  }
}

bool is_value(int64_t key, uint32_t field, std::string_view text) {
  if (text.size() < kLeastFieldBytes) return false;
  uint32_t chance = 0;
  const char* end = text.data() + kChanceDigits;
  const auto [parsed, error] = std::from_chars(text.data(), end, chance, 16);
  if (error != std::errc{} || parsed != end) return false;
  std::string expected(text.size(), ' ');
  write_value(key, field, chance, expected);
  return text == expected;
}

}  // namespace mneme::ycsb
