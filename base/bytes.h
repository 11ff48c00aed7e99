// Bytes to and from memory: little-endian integers, LEB128 variable-length integers, and a bounded reader.
//
// Writers append to a ByteBuffer. ByteReader never reads past its end: a short or malformed input turns it
// bad. From then on nothing remains and every read returns zero, so decoding needs one check at its end, not
// one a field. A varint of up to three bytes, the usual one, is read without a loop or a call. Functions that
// read many fields of one reader copy it, read from the copy, which stays in registers, and assign it back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace mneme {

static_assert(std::endian::native == std::endian::little, "the log and checkpoint formats are little-endian");

using ByteSpan = std::span<const std::byte>;

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline bool is_zeros(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte each) { return each == std::byte{0}; });
}

// Signed integers near zero become small unsigned ones: 0, -1, 1, -2, ... -> 0, 1, 2, 3, ...
constexpr uint64_t zigzag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
constexpr int64_t unzigzag(uint64_t v) {
  return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1);
}

// A varint holds seven bits a byte. Returns the end of what it wrote.
inline constexpr size_t kMaxVarintBytes = 10;
inline std::byte* store_varint(std::byte* to, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *to++ = static_cast<std::byte>(v | 0x80);
  *to++ = static_cast<std::byte>(v);
  return to;
}
constexpr size_t varint_bytes(uint64_t v) {
  return (static_cast<size_t>(std::bit_width(v | 1)) + 6) / 7;
}

class ByteBuffer {
 public:
  void clear() { bytes_.clear(); }
  size_t size() const { return bytes_.size(); }
  ByteSpan span() const { return {bytes_.data(), bytes_.size()}; }
  std::byte* data() { return bytes_.data(); }
  void resize(size_t size) { bytes_.resize(size); }

  template <typename T>
  void put(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    store(bytes_.data() + at, value);
  }
  void put_bytes(ByteSpan from) { bytes_.insert(bytes_.end(), from.begin(), from.end()); }
  void put_varint(uint64_t v) {
    while (v >= 0x80) {
      bytes_.push_back(static_cast<std::byte>(v | 0x80));
      v >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(v));
  }
  void put_signed(int64_t v) { put_varint(zigzag(v)); }
  // Length, then the bytes.
  void put_text(std::string_view text) {
    put_varint(text.size());
    put_bytes(as_bytes(text));
  }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(ByteSpan bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool bad() const { return bad_; }
  // Returns 0 if the reader is bad.
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

  template <typename T>
  T get() {
    const std::byte* from = take(sizeof(T));
    return from == nullptr ? T{} : load<T>(from);
  }
  // Returns a pointer to the next `count` bytes. If fewer are left, turns bad and returns nullptr.
  const std::byte* take(size_t count) {
    if (count > remaining()) [[unlikely]] {
      fail();
      return nullptr;
    }
    return std::exchange(at_, at_ + count);
  }
  ByteSpan get_bytes(size_t count) {
    const std::byte* from = take(count);
    return from == nullptr ? ByteSpan{} : ByteSpan{from, count};
  }
  uint64_t get_varint() {
    if (at_ != end_ && *at_ < std::byte{0x80}) [[likely]]
      return static_cast<uint64_t>(*at_++);
    if (remaining() >= 2 && at_[1] < std::byte{0x80}) [[likely]] {
      const uint64_t value = (static_cast<uint64_t>(at_[0]) & 0x7f) | static_cast<uint64_t>(at_[1]) << 7;
      at_ += 2;
      return value;
    }
    if (remaining() >= 3 && at_[2] < std::byte{0x80}) {
      const uint64_t value = (static_cast<uint64_t>(at_[0]) & 0x7f) |
                             (static_cast<uint64_t>(at_[1]) & 0x7f) << 7 |
                             static_cast<uint64_t>(at_[2]) << 14;
      at_ += 3;
      return value;
    }
    return get_long_varint();
  }
  int64_t get_signed() { return unzigzag(get_varint()); }
  std::string_view get_text() { return as_text(get_bytes(get_varint())); }
  // The byte that was read last. At least one was.
  std::byte last() const { return at_[-1]; }

 private:
  [[gnu::noinline]] uint64_t get_long_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint64_t>(*at_++);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  // Nothing is left, so later reads fail, too.
  void fail() {
    bad_ = true;
    at_ = end_;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool bad_ = false;
};

}  // namespace mneme
