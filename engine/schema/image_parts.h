// ImageParts: which parts of a row's image an access reads or changes, so that no cache line is fetched for
// nothing.
//
// Parts       The row's header and the image's first 56 bytes are part 0; every further 64 bytes, as many as
//             a cache line holds, are the next part, and the 64th part is all the rest. So in a row that
//             begins on a cache line a part is a line; in one that doesn't, a part touches two.
// Invariants  part boundaries lie on words: code that copies parts copies whole words.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace mneme {

class ImageParts {
 public:
  static constexpr size_t kPartBytes = 64;
  static constexpr size_t kMaxParts = 64;
  // The bytes before the image in its row (row.h).
  static constexpr size_t kHeaderBytes = 8;

  constexpr ImageParts() = default;  // none
  constexpr explicit ImageParts(uint64_t bits) : bits_(bits) {}
  static constexpr ImageParts all() { return ImageParts(~uint64_t{0}); }
  // The parts that bytes [offset, offset + bytes) of an image touch.
  static constexpr ImageParts of(size_t offset, size_t bytes) {
    ImageParts parts;
    if (bytes == 0) return parts;
    for (size_t i = part_of(offset); i <= part_of(offset + bytes - 1); ++i) parts.bits_ |= uint64_t{1} << i;
    return parts;
  }

  constexpr uint64_t bits() const { return bits_; }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr bool covers(ImageParts other) const { return (other.bits_ & ~bits_) == 0; }
  constexpr ImageParts without(ImageParts other) const { return ImageParts(bits_ & ~other.bits_); }
  constexpr ImageParts operator|(ImageParts other) const { return ImageParts(bits_ | other.bits_); }
  constexpr ImageParts operator&(ImageParts other) const { return ImageParts(bits_ & other.bits_); }
  constexpr ImageParts& operator|=(ImageParts other) { return *this = *this | other; }
  constexpr bool operator==(const ImageParts&) const = default;

  // Calls visit(begin, end) for the words of an image of `image_words` that each part holds.
  template <typename Visit>
  constexpr void for_each_run(size_t image_words, Visit&& visit) const {
    for (uint64_t rest = bits_; rest != 0; rest &= rest - 1) {
      const auto part = static_cast<size_t>(std::countr_zero(rest));
      const size_t begin = part == 0 ? 0 : part * (kPartBytes / 8) - kHeaderBytes / 8;
      if (begin >= image_words) return;
      const size_t end = (part + 1) * (kPartBytes / 8) - kHeaderBytes / 8;
      visit(begin, part == kMaxParts - 1 ? image_words : std::min(end, image_words));
    }
  }

 private:
  static constexpr size_t part_of(size_t offset) {
    return std::min((kHeaderBytes + offset) / kPartBytes, kMaxParts - 1);
  }

  uint64_t bits_ = 0;
};

}  // namespace mneme
