// ImageParts: which parts of a row's image an access reads or changes, so that no cache line is fetched for nothing.
//
// A part is 64 bytes of the image, as many as a cache line; the last part holds all that lies behind the 63rd.
// (Images begin 8 bytes into a row and rows are packed, so a part may touch two lines.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace mneme {

class ImageParts {
 public:
  static constexpr size_t kPartBytes = 64;
  static constexpr size_t kMaxParts = 64;

  constexpr ImageParts() = default;  // none
  constexpr explicit ImageParts(uint64_t bits) : bits_(bits) {}
  static constexpr ImageParts all() { return ImageParts(~uint64_t{0}); }
  // The parts that bytes [offset, offset + bytes) of an image touch.
  static constexpr ImageParts of(size_t offset, size_t bytes) {
    ImageParts parts;
    for (size_t i = part_of(offset); i <= part_of(offset + bytes - 1); ++i) parts.bits_ |= uint64_t{1} << i;
    return parts;
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool covers(ImageParts other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr ImageParts operator|(ImageParts other) const { return ImageParts(bits_ | other.bits_); }
  constexpr ImageParts& operator|=(ImageParts other) { return *this = *this | other; }
  constexpr bool operator==(const ImageParts&) const = default;

 private:
  static constexpr size_t part_of(size_t offset) { return std::min(offset / kPartBytes, kMaxParts - 1); }

  uint64_t bits_ = 0;
};

}  // namespace mneme
