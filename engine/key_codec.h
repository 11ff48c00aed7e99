// KeyCodec: makes the keys of one index, from rows and from the values a query compares with.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/catalog.h"
#include "engine/index_key.h"
#include "engine/row_layout.h"

namespace mneme {

class KeyCodec {
 public:
  KeyCodec(const Catalog& catalog, IndexId index, const RowLayout& layout);

  // The words of this index's keys, the suffix of a non-unique index included.
  uint32_t word_count() const { return word_count_; }

  // The key under which a row stands. `slot` is used only where neither the index nor its table has a unique key.
  IndexKey of_row(const std::byte* image, uint64_t slot) const;

  // All keys whose first columns equal `prefix` (fewer values than the index has columns, or all of them).
  // Nothing when a value is NULL (NULL equals nothing) or cannot be equal to any value of its column, as a string
  // longer than the column.
  std::optional<KeyRange> of_prefix(std::span<const Value> prefix) const;

  // As of_prefix, with the next column after the prefix bounded. An absent bound bounds nothing.
  struct Bound {
    Value value;
    bool inclusive;
  };
  std::optional<KeyRange> of_range(std::span<const Value> prefix, const std::optional<Bound>& lower,
                                   const std::optional<Bound>& upper) const;

 private:
  struct Part {
    ColumnId column;
    uint32_t bytes;
    bool nullable;
    Type type;
  };
  void append(const Part& part, const Value& value, std::byte* to) const;

  const RowLayout& layout_;
  std::vector<Part> parts_;  // the index's columns, then the suffix
  size_t index_columns_ = 0;
  bool slot_suffix_ = false;
  uint32_t key_bytes_ = 0;
  uint32_t word_count_ = 0;
};

}  // namespace mneme
