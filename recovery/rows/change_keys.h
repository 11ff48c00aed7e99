// ChangeKeys: encodes the primary keys of logged changes in an index's words, as shuffling does for each
// change.
//
// Time        a key of integers goes from the log's bytes into the words; others by way of a row's image.
// Errors      of() returns false for bytes that are no such columns.
// Threads     one owner.
#pragma once

#include <vector>

#include "base/bytes.h"
#include "engine/schema/key_words.h"
#include "engine/transaction/database.h"

namespace mneme {

class ChangeKeys {
 public:
  explicit ChangeKeys(const Database& database);

  // `columns`: of a change (RowChange) of a table that has a primary key.
  bool of(TableId table, ByteSpan columns, IndexKey& key) {
    const TableKeys& keys = tables_[table.value];
    if (keys.parts.empty()) return by_image(table, columns, key);
    key.word_count = keys.word_count;
    std::fill_n(key.words.data(), keys.word_count, 0);
    ByteReader in(columns);
    for (const Part& part : keys.parts) put_into_words(key, part.offset, in.get_signed(), part.bytes);
    return !in.bad();
  }

 private:
  // An integer of the key, its place there in bytes.
  struct Part {
    uint32_t offset;
    uint32_t bytes;
  };
  struct TableKeys {
    std::vector<Part> parts;  // none: not all of the key's columns are integers
    uint32_t word_count = 0;
  };

  bool by_image(TableId table, ByteSpan columns, IndexKey& key);

  const Database& database_;
  std::vector<TableKeys> tables_;
  std::vector<std::byte> image_;  // one whose key columns are being decoded
};

}  // namespace mneme
