// Wire: integers, strings and messages in the byte order of PostgreSQL's protocol, version 3.
//
// Reading     WireReader never reads past its end: a short input turns it bad, and from then on every read
//             returns zeros, so that decoding needs one check at its end.
// Writing     MessageWriter appends whole messages: begin() -> fields -> end(), which fills in the length.
//             What was appended since a mark can be taken back.
// Threads     one owner.
// Source      PostgreSQL 15, chapter 55 (frontend/backend protocol).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace mneme {

template <typename T>
T from_big_endian(const std::byte* bytes) {
  std::make_unsigned_t<T> value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<std::make_unsigned_t<T>>(uint64_t{value} << 8 | static_cast<uint8_t>(bytes[i]));
  return static_cast<T>(value);
}

class WireReader {
 public:
  explicit WireReader(ByteSpan bytes) : bytes_(bytes) {}

  uint8_t u8() { return integer<uint8_t>(); }
  int16_t i16() { return integer<int16_t>(); }
  uint16_t u16() { return integer<uint16_t>(); }
  int32_t i32() { return integer<int32_t>(); }
  uint32_t u32() { return integer<uint32_t>(); }
  int64_t i64() { return integer<int64_t>(); }
  ByteSpan bytes(size_t count) {
    if (count > bytes_.size()) return fail(), ByteSpan();
    const ByteSpan taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }
  // Up to a zero, which is taken, too.
  std::string_view text() {
    const void* end = bytes_.empty() ? nullptr : std::memchr(bytes_.data(), 0, bytes_.size());
    if (end == nullptr) return fail(), std::string_view();
    const auto size = static_cast<size_t>(static_cast<const std::byte*>(end) - bytes_.data());
    const std::string_view taken = as_text(bytes_.first(size));
    bytes_ = bytes_.subspan(size + 1);
    return taken;
  }
  size_t remaining() const { return bytes_.size(); }
  // All was there, and nothing is left.
  bool is_done() const { return !bad_ && bytes_.empty(); }
  bool bad() const { return bad_; }

 private:
  template <typename T>
  T integer() {
    if (bytes_.size() < sizeof(T)) return fail(), T{};
    const T value = from_big_endian<T>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  void fail() {
    bad_ = true;
    bytes_ = {};
  }

  ByteSpan bytes_;
  bool bad_ = false;
};

class MessageWriter {
 public:
  explicit MessageWriter(std::vector<std::byte>& out) : out_(out) {}

  void begin(char type) {
    out_.push_back(static_cast<std::byte>(type));
    begin_ = out_.size();
    i32(0);
  }
  void end() { put(begin_, static_cast<uint32_t>(out_.size() - begin_)); }

  void u8(uint8_t value) { out_.push_back(static_cast<std::byte>(value)); }
  void i16(int64_t value) { integer(static_cast<uint16_t>(value)); }
  void i32(int64_t value) { integer(static_cast<uint32_t>(value)); }
  void i64(int64_t value) { integer(static_cast<uint64_t>(value)); }
  void bytes(ByteSpan bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  // Appends the text without a zero at its end.
  void raw(std::string_view text) { bytes(as_bytes(text)); }
  // What stands behind a zero in the text can't be written, and is left out.
  void text(std::string_view text) {
    raw(text.substr(0, text.find('\0')));
    u8(0);
  }
  // A place for a length of four bytes, filled in by end_length() with what was written since.
  size_t begin_length() {
    i32(0);
    return out_.size();
  }
  void end_length(size_t at) { put(at - 4, static_cast<uint32_t>(out_.size() - at)); }

  size_t mark() const { return out_.size(); }
  void take_back(size_t mark) { out_.resize(mark); }

 private:
  template <typename T>
  void integer(T value) {
    for (size_t shift = sizeof(T) * 8; shift > 0; shift -= 8)
      out_.push_back(static_cast<std::byte>(value >> (shift - 8)));
  }
  void put(size_t at, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) out_[at + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  }

  std::vector<std::byte>& out_;
  size_t begin_ = 0;
};

}  // namespace mneme
