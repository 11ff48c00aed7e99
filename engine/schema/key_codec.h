// KeyCodec: makes the keys of one index, from rows and from the values a query compares with.
//
// Flow        procedures: values of a WHERE clause -> of_whole / of_prefix / of_range -> RowAccess::find,
//             scan. engine: row image -> of_row -> Index.  Encoding: see index_key.h.
// Values      one that a query compares with has the column's kind (an int64 for any integer column, an
//             int128 at the column's scale for a numeric one), but need not lie in the column's range: an int
//             column may be compared with a bigint, varchar(4) with a longer string. What cannot be equal to
//             any row gives nothing; a bound beyond the column's range bounds nothing or leaves nothing, as
//             SQL has it.
// Order       doubles as PostgreSQL orders them: -0 equals 0, NaN equals NaN and is above all other numbers.
// Threads     constant after construction.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "engine/schema/catalog.h"
#include "engine/schema/index_key.h"
#include "engine/schema/row_layout.h"

namespace mneme {

// Values that were taken out of a key; texts point into it.
struct KeyValues {
  std::vector<Value> values;
  std::array<std::byte, kMaxKeyWords * 8> bytes;
};

class KeyCodec {
 public:
  KeyCodec(const Catalog& catalog, IndexId index, const RowLayout& layout);

  // The words of this index's keys, the suffix of a non-unique index included.
  uint32_t word_count() const { return word_count_; }

  // The key under which a row stands. `slot` is used only where neither the index nor its table has a unique
  // key.
  IndexKey of_row(const std::byte* image, uint64_t slot) const;
  // The same, as word_count() words, where a row's columns alone make its key and all are numbers; false
  // elsewhere.
  bool put_row(const std::byte* image, uint64_t* words) const {
    if (!is_simple_) return false;
    for (uint32_t i = 0; i < word_count_; ++i) words[i] = 0;
    for (const WordStep& step : word_steps_) {
      const uint64_t word = load<uint64_t>(image + step.image_offset) >> step.down;
      words[step.key_word] |= ((word ^ step.flip) & step.mask) << step.up;
    }
    return true;
  }

  // Whether one of the index's columns is NULL in a row's image: no other row has the same key then.
  bool has_null(const std::byte* image) const {
    return std::ranges::any_of(null_flags_, [&](uint32_t flag) { return image[flag] != std::byte{0}; });
  }

  // The key of the one row whose columns equal `values`, one for each column of a unique index. Nothing as in
  // of_prefix.
  std::optional<IndexKey> of_whole(std::span<const Value> values) const;

  // All keys whose first columns equal `prefix` (fewer values than the index has columns, or all of them).
  // Nothing when a value is NULL (NULL equals nothing) or cannot be equal to any value of its column, as a
  // string longer than the column.
  std::optional<KeyRange> of_prefix(std::span<const Value> prefix) const;

  // As of_prefix, with the next column after the prefix bounded. An absent bound bounds nothing.
  struct Bound {
    Value value;
    bool inclusive;
  };
  std::optional<KeyRange> of_range(std::span<const Value> prefix, const std::optional<Bound>& lower,
                                   const std::optional<Bound>& upper) const;

  // The values of the index's first columns: of as many as have one value in all keys of the range.
  void common_values(const KeyRange& range, KeyValues& common) const;

 private:
  struct Part {
    ColumnId column;
    uint32_t offset;  // of its first byte in the key, the NULL byte where it has one
    uint32_t bytes;   // of its value, without the NULL byte
    bool nullable;
    Type type;
    uint32_t image_offset;  // of its value in a row's image

    uint32_t end() const { return offset + (nullable ? 1 : 0) + bytes; }
  };
  // How a simple key's number, or what of it lies in one word of the key, gets there: the image's word,
  // shifted down, its sign flipped, its bytes singled out, shifted up. A number that lies in two words takes
  // two steps.
  struct WordStep {
    uint32_t image_offset;
    uint32_t key_word;
    uint32_t down;
    uint32_t up;
    uint64_t flip;
    uint64_t mask;
  };
  // A key under construction: its bytes, in order.
  using KeyBytes = std::array<std::byte, kMaxKeyWords * 8>;

  void add_part(const TableDefinition& table, ColumnId column);
  void add_word_steps(const Part& part);
  void append(const Part& part, const Value& value, std::byte* to) const;
  static Value value_at(const Part& part, const std::byte* key);
  // Encodes `prefix` into the first bytes of `to`; false when no row can equal it.
  bool append_prefix(std::span<const Value> prefix, std::byte* to) const;
  // Narrows [low, high], which span all keys of a prefix, by a bound on `part`; false when nothing is left.
  bool narrow_below(const Part& part, const Bound& bound, KeyBytes& low) const;
  bool narrow_above(const Part& part, const Bound& bound, KeyBytes& high) const;
  IndexKey to_words(const KeyBytes& bytes) const;
  IndexKey zeroed_key() const;

  const RowLayout& layout_;
  std::vector<Part> parts_;  // the index's columns, then the suffix
  size_t index_columns_ = 0;
  std::vector<uint32_t> null_flags_;  // in an image, of the index's columns that may be NULL
  bool slot_suffix_ = false;
  // All parts are integers, or numbers kept as such, and never NULL: keys are put together in words, without
  // bytes.
  bool is_simple_ = true;
  std::vector<WordStep> word_steps_;  // of a simple key
  uint32_t key_bytes_ = 0;
  uint32_t word_count_ = 0;
};

}  // namespace mneme
