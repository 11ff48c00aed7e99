// RowCodec: some columns of a table's rows as bytes, and back: in checkpoints and in tuple records of the log.
//
// Format      column by column, in the codec's order: where it is nullable, a byte, 1 for NULL; then, where it is not
//             NULL, integers, booleans, timestamps and numerics of up to 18 digits as a zigzag varint, wider numerics
//             in 16 bytes, doubles in 8, strings as a varint length and their bytes. So the bytes depend on the
//             table's declaration, and not on where its columns lie in memory.
// Invariants  encode() writes at most max_bytes(). decode() writes only the columns' own places in the image.
// Errors      bytes from disk are the world: decode() answers false for any that are no such columns, and never reads
//             or writes out of bounds.
// Threads     constant after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "engine/row_layout.h"

namespace mneme {

class RowCodec {
 public:
  // Of all columns, in their order.
  explicit RowCodec(const RowLayout& layout);
  RowCodec(const RowLayout& layout, std::span<const ColumnId> columns);

  size_t max_bytes() const { return max_bytes_; }
  // Returns the end of what it wrote.
  std::byte* encode(const std::byte* image, std::byte* to) const;
  void encode(const std::byte* image, ByteBuffer& out) const;
  // What is NULL keeps the bytes that the image has there.
  bool decode(ByteReader& in, std::byte* image) const;

 private:
  enum class Width : uint8_t { k8, k16, k32, k64, k128, kText };
  struct Step {
    uint32_t offset;
    uint32_t bytes;
    int32_t null_flag;  // as RowLayout::Place
    Width width;
    bool is_raw;  // a double: its bits
  };

  void add(const RowLayout& layout, ColumnId column);

  std::vector<Step> steps_;
  size_t max_bytes_ = 0;
};

}  // namespace mneme
