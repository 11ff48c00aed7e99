// Bytes to and from memory: little-endian integers, LEB128 variable-length integers, and a bounded reader.
//
// Writers append to a ByteBuffer. ByteReader never reads past its end: a short or malformed input turns it
// `bad`, every later read returns zero, and the caller asks once, at the end. So decoding needs one check,
// not one a field.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
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
  explicit ByteReader(ByteSpan bytes) : rest_(bytes) {}

  bool bad() const { return bad_; }
  size_t remaining() const { return rest_.size(); }

  template <typename T>
  T get() {
    const ByteSpan from = get_bytes(sizeof(T));
    return bad_ ? T{} : load<T>(from.data());
  }
  ByteSpan get_bytes(size_t count) {
    if (bad_ || count > rest_.size()) {
      bad_ = true;
      return {};
    }
    const ByteSpan taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  uint64_t get_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = get<uint8_t>();
      if (bad_) return 0;
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    bad_ = true;
    return 0;
  }
  int64_t get_signed() { return unzigzag(get_varint()); }
  std::string_view get_text() { return as_text(get_bytes(get_varint())); }

 private:
  ByteSpan rest_;
  bool bad_ = false;
};

}  // namespace mneme
