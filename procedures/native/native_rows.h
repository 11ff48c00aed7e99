// Native rows: where columns lie in images, keys made of words, and rows kept for later, in generated code.
//
// Invariants  Column and NullableColumn read and write what RowLayout does; put_* encode what KeyCodec does:
//             a test holds both to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/bytes.h"
#include "base/memory/arena.h"
#include "engine/schema/index_key.h"
#include "engine/schema/long_text.h"
#include "engine/schema/value.h"
#include "engine/transaction/shared_cell.h"

namespace mneme::native {

// ---- columns ----

// A string in a TextCell. It is read here, and written by the access.
struct LongString {};

// A NOT NULL column, as it is stored: bool, int16_t, int32_t, int64_t (a narrow numeric, too), int128,
// float, double, std::string_view, or LongString.
template <typename Stored>
struct Column {
  using Value = std::conditional_t<
      std::is_integral_v<Stored> && !std::is_same_v<Stored, bool> && sizeof(Stored) <= sizeof(int64_t),
      int64_t,
      std::conditional_t<std::is_same_v<Stored, float>, double,
                         std::conditional_t<std::is_same_v<Stored, LongString>, std::string_view, Stored>>>;
  uint32_t at;

  Value get(const std::byte* image) const {
    if constexpr (std::is_same_v<Stored, LongString>) {
      return TextCell::get(image + at);
    } else if constexpr (std::is_same_v<Stored, std::string_view>) {
      return {reinterpret_cast<const char*>(image + at + 2), load<uint16_t>(image + at)};
    } else if constexpr (std::is_same_v<Stored, bool>) {
      return load<uint8_t>(image + at) != 0;
    } else {
      return load<Stored>(image + at);
    }
  }
  void set(std::byte* image, Value value) const {
    static_assert(!std::is_same_v<Stored, LongString>);
    if constexpr (std::is_same_v<Stored, std::string_view>) {
      store(image + at, static_cast<uint16_t>(value.size()));
      if (!value.empty()) std::memcpy(image + at + 2, value.data(), value.size());
    } else if constexpr (std::is_same_v<Stored, bool>) {
      store<uint8_t>(image + at, value);
    } else {
      store(image + at, static_cast<Stored>(value));
    }
  }
  // While others add, too (shared_cell.h).
  void add(std::byte* image, int64_t amount) const { add_to_cell<Stored>(image + at, amount); }
  void subtract(std::byte* image, int64_t amount) const { subtract_from_cell<Stored>(image + at, amount); }
};

template <typename Stored>
struct NullableColumn {
  using Value = typename Column<Stored>::Value;
  Column<Stored> column;
  uint32_t null_flag;

  bool is_null(const std::byte* image) const { return image[null_flag] != std::byte{0}; }
  // The bytes that lie under NULL mean nothing, so they are not read.
  Value get(const std::byte* image) const { return is_null(image) ? Value{} : column.get(image); }
  void set(std::byte* image, Value value, bool null) const {
    image[null_flag] = std::byte{null};
    if (!null) column.set(image, value);
  }
};

// ---- keys ----

// Bytes that are put into a key, an IndexKey or a LookupKey, must be zero before.
template <uint32_t kWords, typename Key>
Key& make_zero(Key& key) {
  key.word_count = kWords;
  for (uint32_t i = 0; i < kWords; ++i) key.words[i] = 0;
  return key;
}
template <uint32_t kWords>
IndexKey zero_key() {
  IndexKey key;
  make_zero<kWords>(key);
  return key;
}

// The kBytes low bytes of `bits`, from byte kOffset on, most significant first.
template <uint32_t kOffset, uint32_t kBytes, typename Key>
void put_bits(Key& key, uint64_t bits) {
  static_assert(kBytes >= 1 && kBytes <= 8);
  if constexpr (kBytes < 8) bits &= (uint64_t{1} << (8 * kBytes)) - 1;
  constexpr uint32_t kWord = kOffset / 8;
  constexpr uint32_t kEnd = kOffset % 8 + kBytes;
  if constexpr (kEnd <= 8) {
    key.words[kWord] |= bits << (8 * (8 - kEnd));
  } else {
    key.words[kWord] |= bits >> (8 * (kEnd - 8));
    key.words[kWord + 1] |= bits << (8 * (16 - kEnd));
  }
}

template <uint32_t kOffset, uint32_t kBytes, typename Key>
void put_int(Key& key, int64_t value) {
  put_bits<kOffset, kBytes>(key, static_cast<uint64_t>(value) ^ (uint64_t{1} << (8 * kBytes - 1)));
}
template <uint32_t kOffset, typename Key>
void put_wide(Key& key, int128 value) {
  put_int<kOffset, 8>(key, static_cast<int64_t>(value >> 64));
  put_bits<kOffset + 8, 8>(key, static_cast<uint64_t>(value));
}
template <uint32_t kOffset, typename Key>
void put_bool(Key& key, bool value) {
  put_bits<kOffset, 1>(key, value);
}
// At most kBytes of text.
template <uint32_t kOffset, uint32_t kBytes, typename Key>
void put_text(Key& key, std::string_view text) {
  constexpr uint32_t kFirst = kOffset / 8;
  constexpr uint32_t kWords = (kOffset % 8 + kBytes + 7) / 8;
  std::byte bytes[8 * kWords] = {};
  if (!text.empty()) std::memcpy(bytes + kOffset % 8, text.data(), text.size());
  for (uint32_t i = 0; i < kWords; ++i) {
    key.words[kFirst + i] |= __builtin_bswap64(load<uint64_t>(bytes + 8 * i));
  }
}

// Bytes [kFrom, kEnd) all ones: the last key of those that begin as `key` does.
template <uint32_t kFrom, uint32_t kEnd, typename Key>
void put_ones(Key& key) {
  for (uint32_t word = kFrom / 8; word * 8 < kEnd; ++word) {
    const uint32_t first = word == kFrom / 8 ? kFrom % 8 : 0;
    const uint32_t last = kEnd - word * 8 < 8 ? kEnd - word * 8 : 8;
    uint64_t ones = ~uint64_t{0} >> (8 * first);
    if (last < 8) ones &= ~(~uint64_t{0} >> (8 * last));
    key.words[word] |= ones;
  }
}

// Whether an integer column of kBytes could hold the value.
template <uint32_t kBytes>
bool fits(int128 value) {
  return value >= -(int128{1} << (8 * kBytes - 1)) && value < (int128{1} << (8 * kBytes - 1));
}

// ---- rows kept for later ----

// Grows in the run's arena.
template <typename T>
class ArenaVector {
 public:
  explicit ArenaVector(Arena& arena) : arena_(arena) {}

  void push_back(const T& value) {
    if (size_ == capacity_) grow();
    new (data_ + size_++) T(value);
  }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  size_t size() const { return size_; }
  void shorten(size_t size) { size_ = size; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  static_assert(std::is_trivially_copyable_v<T>);

  void grow() {
    const size_t capacity = capacity_ == 0 ? 16 : 2 * capacity_;
    T* grown = static_cast<T*>(arena_.allocate(capacity * sizeof(T)));
    if (size_ > 0) std::memcpy(static_cast<void*>(grown), data_, size_ * sizeof(T));
    data_ = grown;
    capacity_ = capacity;
  }

  Arena& arena_;
  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace mneme::native
