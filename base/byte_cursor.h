// ByteCursor: ByteReader for long rows of short fields: what is there in most cases, a varint of up to three
// bytes, is read without a call or a loop.
//
// Flow        ByteCursor cursor(reader) -> fields -> cursor.give_back(reader), which goes on behind them
// Errors      as ByteReader: a short or malformed input turns it bad, and every later read returns zero.
#pragma once

#include <utility>

#include "base/bytes.h"

namespace mneme {

class ByteCursor {
 public:
  explicit ByteCursor(ByteSpan bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  // Takes all that is left of it.
  explicit ByteCursor(ByteReader& reader) : ByteCursor(reader.get_bytes(reader.remaining())) {
    if (reader.bad()) fail();
  }
  void give_back(ByteReader& reader) const {
    reader = ByteReader(ByteSpan(at_, end_));
    if (bad_) reader.get<uint8_t>();
  }

  bool bad() const { return bad_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

  template <typename T>
  T get() {
    const std::byte* from = take(sizeof(T));
    return from == nullptr ? T{} : load<T>(from);
  }
  // nullptr: there are not so many.
  const std::byte* take(size_t count) {
    if (count > remaining()) [[unlikely]] {
      fail();
      return nullptr;
    }
    return std::exchange(at_, at_ + count);
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
  // The byte that was read last; of at least one.
  std::byte last() const { return at_[-1]; }
  int64_t get_signed() { return unzigzag(get_varint()); }

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
  // Nothing is left, so that later reads fail, too.
  void fail() {
    bad_ = true;
    at_ = end_;
  }

  const std::byte* at_;
  const std::byte* end_;
  bool bad_ = false;
};

}  // namespace mneme
