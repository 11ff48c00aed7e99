#include "engine/indexed_table.h"

#include <algorithm>
#include <limits>

namespace mneme {

IndexedTable::IndexedTable(const Schema& schema, TableId id, HugePageSource& memory)
    : definition_(schema.catalog().table(id)),
      layout_(schema.layout(id)),
      image_parts_(layout_.all_parts()),
      rows_(layout_.image_bytes(), memory),
      indexed_columns_(definition_.columns.size()) {
  const Catalog& catalog = schema.catalog();
  if (definition_.primary_key) suffix_words_ = schema.codec(*definition_.primary_key).word_count();

  for (IndexId index_id : definition_.indexes) {
    const IndexDefinition& definition = catalog.index(index_id);
    TableIndex made;
    made.id = index_id;
    made.codec = &schema.codec(index_id);
    made.is_primary = definition_.primary_key == index_id;
    made.is_unique = definition.unique;
    made.depends_on.resize(definition_.columns.size());
    const auto is_in_index = [&](ColumnId column) {
      return std::ranges::find(definition.columns, column) != definition.columns.end();
    };
    const bool contains_primary_key =
        definition_.primary_key &&
        std::ranges::all_of(catalog.index(*definition_.primary_key).columns, is_in_index);
    made.has_whole_key_suffix = definition.unique && !contains_primary_key;
    for (ColumnId column : definition.columns) {
      made.depends_on[column.value] = true;
      made.key_parts |= layout_.parts(column);
    }
    // The primary key's columns may end the key; of a whole key they are, or don't matter.
    if (definition_.primary_key) {
      for (ColumnId column : catalog.index(*definition_.primary_key).columns)
        made.key_parts |= layout_.parts(column);
    }
    for (size_t i = 0; i < made.depends_on.size(); ++i) {
      if (made.depends_on[i]) indexed_columns_[i] = true;
    }
    const uint32_t codec_words = made.codec->word_count();
    const uint32_t words = codec_words + (made.has_whole_key_suffix ? suffix_words_ : 0);
    made.index = definition.unique && !definition.ordered ? make_hash_index(words, codec_words, memory)
                                                          : make_btree_index(words, memory);
    indexes_.push_back(std::move(made));
  }
  if (definition_.primary_key) primary_ = &indexes_.front();
}

IndexKey IndexedTable::entry_key(const TableIndex& index, const std::byte* image, const Row* row) const {
  const uint64_t slot = primary_ == nullptr ? rows_.slot_of(row) : 0;
  IndexKey key = index.codec->of_row(image, slot);
  if (!index.has_whole_key_suffix) return key;
  if (primary_ == nullptr) {
    key.words[key.word_count++] = slot;
    return key;
  }
  const IndexKey primary_key = primary_->codec->of_row(image, slot);
  for (uint64_t word : primary_key.span()) key.words[key.word_count++] = word;
  return key;
}

KeyRange IndexedTable::entry_range(const TableIndex& index, const IndexKey& low, const IndexKey& high) const {
  KeyRange range{low, high};
  if (!index.has_whole_key_suffix) return range;
  for (uint32_t i = 0; i < suffix_words_; ++i) {
    range.low.words[range.low.word_count++] = 0;
    range.high.words[range.high.word_count++] = std::numeric_limits<uint64_t>::max();
  }
  return range;
}

}  // namespace mneme
