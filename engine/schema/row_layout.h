// RowLayout: where each column of a table lies in a row's image, and how a Value gets in and out.
//
// Layout      First the columns of fixed width, then the NULL flags, then the strings, the shortest first:
//             what transactions count and compare lies on the row's first lines, and texts that they seldom
//             look at on the last. A string that would lie in one part more than it must (image_parts.h)
//             moves on to the next one where the row gets no longer by that. Each column is aligned to its
//             size; a nullable column's NULL flag is a byte of its own; a string is a uint16 length and its
//             bytes. Last come cells of strings that may lie elsewhere (long_text.h). No two columns share
//             a byte, NULL flags included, so two threads may write different columns of one row at once. The
//             image is a whole number of 8-byte words.
// Invariants  padding, bytes under NULL and bytes past a string's length mean nothing: digests and
//             comparisons go through get().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/schema/catalog.h"
#include "engine/schema/image_parts.h"
#include "engine/schema/long_text.h"
#include "engine/schema/value.h"

namespace mneme {

// How far one row of a table lies from the next, header included: whole cache lines, where that costs little.
// Then the header and the first columns share one, and no part of an image lies on two (image_parts.h).
size_t row_stride(size_t image_bytes);

class RowLayout {
 public:
  RowLayout(const Catalog& catalog, const TableDefinition& table);

  size_t image_bytes() const { return image_bytes_; }
  size_t column_count() const { return columns_.size(); }
  // Returns the bytes that the columns take of an image, NULL flags included: all but padding.
  size_t column_bytes() const;

  // Strings point into the image.
  Value get(const std::byte* image, ColumnId column) const;
  // `value` fits the column: the binder's assignment casts have seen to length, range and NOT NULL. For
  // images that are no table's row: a long text is borrowed (long_text.h).
  void set(std::byte* image, ColumnId column, const Value& value) const;
  // The same for the image of a table's row. A value may point into the very column. False: no memory for a
  // long text, and nothing changed.
  [[nodiscard]] bool set_in_row(std::byte* row, ColumnId column, const Value& value) const {
    const Place& place = columns_[column.value];
    if (!place.is_long) [[likely]] {
      set(row, column, value);
      return true;
    }
    return set_long(row, place, value);
  }
  // Makes the image of a table's row, but for its header, what another image is. False: no memory, and the
  // row is as it was. `image` has all parts.
  [[nodiscard]] bool copy_to_row(const std::byte* image, std::byte* row) const;
  // Makes the long texts that a row's image borrows its own. False: no memory; it owns none then.
  [[nodiscard]] bool own_texts(std::byte* row) const;

  // The bytes a column occupies, without its NULL flag.
  struct Place {
    uint32_t offset;
    uint32_t bytes;
    int32_t null_flag;  // offset of the flag, or -1 for NOT NULL
    TypeKind kind;
    bool wide_numeric;
    bool is_long;  // a TextCell
  };
  const Place& place(ColumnId column) const { return columns_[column.value]; }
  // The parts of an image that the column lies in, its NULL flag included.
  ImageParts parts(ColumnId column) const { return parts_[column.value]; }
  // The columns that lie in a TextCell.
  const std::vector<ColumnId>& long_columns() const { return long_columns_; }
  std::byte* cell(std::byte* image, ColumnId column) const { return image + columns_[column.value].offset; }
  const std::byte* cell(const std::byte* image, ColumnId column) const {
    return image + columns_[column.value].offset;
  }
  // The bytes that the long texts of a whole image take elsewhere.
  size_t long_bytes(const std::byte* image) const;
  ImageParts all_parts() const { return ImageParts::of(0, image_bytes_); }

 private:
  static bool set_long(std::byte* row, const Place& place, const Value& value);

  std::vector<Place> columns_;
  std::vector<ColumnId> long_columns_;
  std::vector<ImageParts> parts_;  // by column
  size_t image_bytes_ = 0;
};

}  // namespace mneme
