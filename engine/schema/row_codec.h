// RowCodec: some columns of a table's rows as bytes, and back: in checkpoints and in tuple records of the
// log.
//
// Format      column by column, in the codec's order: where it is nullable, a byte, 1 for NULL; then, where
//             it is not NULL, integers, booleans, timestamps, dates and numerics of up to 18 digits as a
//             zigzag varint, wider numerics in 16 bytes, doubles in 8, reals in 4, strings as a varint length
//             and their bytes.
//             So the bytes depend on the table's declaration, and not on where its columns lie in memory.
// Invariants  encode() writes at most max_bytes() and the image's long_bytes(). decode() writes only the
//             columns' own places in the image.
// Long texts  decode() of an image that is no table's row borrows them from the bytes that it reads, so that
//             these outlive the image. The image of a row owns what decode() writes (long_text.h).
// Errors      bytes from disk are the world: decode() answers false for any that are no such columns, and
//             never reads or writes out of bounds.
// Subsets     ColumnBits: a bit a column, in the codec's order, the lowest first. What was encoded of some
//             columns is decoded by the same bits; what was encoded of more than is wanted is read past.
// Threads     constant after construction.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/function_ref.h"
#include "engine/schema/row_layout.h"

namespace mneme {

// Which of a codec's columns: a view of bits that lie elsewhere.
class ColumnBits {
 public:
  static constexpr size_t bytes_for(size_t columns) { return (columns + 7) / 8; }

  explicit ColumnBits(ByteSpan bytes) : bytes_(bytes) {}

  bool has(size_t column) const { return (bytes_[column / 8] & std::byte{1} << column % 8) != std::byte{0}; }
  ByteSpan bytes() const { return bytes_; }

 private:
  ByteSpan bytes_;
};

// The kind of image that is decoded into.
enum class ImageOwner : uint8_t {
  kNone,  // its texts belong to others
  kRow,   // it is a table's row
};

class RowCodec {
 public:
  // A codec of all columns, in their order.
  explicit RowCodec(const RowLayout& layout);
  RowCodec(const RowLayout& layout, std::span<const ColumnId> columns);

  size_t column_count() const { return steps_.size(); }
  // Without the texts that lie outside the image.
  size_t max_bytes() const { return max_bytes_; }
  // The bytes that encode() writes of texts outside the image.
  size_t long_bytes(const std::byte* image) const;
  size_t long_bytes(const std::byte* image, const ColumnBits& columns) const;
  // Returns the end of what it wrote.
  std::byte* encode(const std::byte* image, std::byte* to) const;
  void encode(const std::byte* image, ByteBuffer& out) const;
  // A column that is NULL keeps the bytes that the image has there.
  bool decode(ByteReader& in, std::byte* image, ImageOwner owner = ImageOwner::kNone) const;

  // Reads past all columns.
  void skip(ByteReader& in) const;

  // Some columns only.
  std::byte* encode(const std::byte* image, const ColumnBits& columns, std::byte* to) const;
  // Writes the wanted ones of the columns that `in` holds (nullptr: all).
  bool decode(ByteReader& in, const ColumnBits* held, FunctionRef<bool(size_t column)> is_wanted,
              std::byte* image, ImageOwner owner = ImageOwner::kNone) const;
  // Sets the bits of the columns that lie wholly in `parts` and in which the images differ, and clears all
  // others. Bytes that mean nothing, under NULL or past a string's end, make no difference.
  void compare(const std::byte* before, const std::byte* after, ImageParts parts,
               std::span<std::byte> bits) const;
  // Whether the images are equal in all columns, as compare() sees it.
  bool equal(const std::byte* a, const std::byte* b) const {
    return std::ranges::none_of(steps_, [&](const Step& step) { return differs(step, a, b); });
  }

 private:
  enum class Width : uint8_t { k8, k16, k32, k64, k128, kText, kLongText };
  struct Step {
    uint32_t offset;
    uint32_t bytes;
    int32_t null_flag;  // as RowLayout::Place
    Width width;
    bool is_raw;  // a real or a double: its bits; of k128: a byte of digits follows
    ImageParts parts;
  };

  void add(const RowLayout& layout, ColumnId column);
  static std::byte* encode(const Step& step, const std::byte* image, std::byte* to);
  static bool decode(const Step& step, ByteReader& in, std::byte* image, ImageOwner owner);
  static void skip(const Step& step, ByteReader& in);
  static bool differs(const Step& step, const std::byte* before, const std::byte* after);

  std::vector<Step> steps_;
  bool has_long_texts_ = false;
  size_t max_bytes_ = 0;
};

}  // namespace mneme
