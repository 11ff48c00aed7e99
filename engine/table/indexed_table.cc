#include "engine/table/indexed_table.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace mneme {

IndexedTable::Shape::Shape(const Schema& schema, TableId id)
    : definition(&schema.catalog().table(id)),
      layout(&schema.layout(id)),
      indexed_columns(definition->columns.size()) {
  const Catalog& catalog = schema.catalog();
  if (definition->primary_key) suffix_words = schema.codec(*definition->primary_key).word_count();

  for (IndexId index_id : definition->indexes) {
    const IndexDefinition& index = catalog.index(index_id);
    TableIndex made;
    made.definition = &index;
    made.id = index_id;
    made.codec = &schema.codec(index_id);
    made.is_ordered = catalog.is_ordered(index);
    made.is_primary = definition->primary_key == index_id;
    made.is_unique = index.unique;
    made.depends_on.resize(definition->columns.size());
    const auto is_in_index = [&](ColumnId column) {
      return std::ranges::find(index.columns, column) != index.columns.end();
    };
    const bool contains_primary_key =
        definition->primary_key &&
        std::ranges::all_of(catalog.index(*definition->primary_key).columns, is_in_index);
    made.has_whole_key_suffix = index.unique && !contains_primary_key;
    for (ColumnId column : index.columns) {
      made.depends_on[column.value] = true;
      made.key_parts |= layout->parts(column);
    }
    // An entry's key may end with the primary key's columns. A unique index that contains them has no such
    // suffix, but has their parts already.
    if (definition->primary_key) {
      for (ColumnId column : catalog.index(*definition->primary_key).columns)
        made.key_parts |= layout->parts(column);
    }
    for (size_t i = 0; i < made.depends_on.size(); ++i) {
      if (made.depends_on[i]) indexed_columns[i] = true;
    }
    indexes.push_back(std::move(made));
  }
}

namespace {

void make_index(TableIndex& index, uint32_t suffix_words, HugePageSource& memory) {
  const uint32_t codec_words = index.codec->word_count();
  const uint32_t words = codec_words + (index.has_whole_key_suffix ? suffix_words : 0);
  index.index =
      index.is_ordered ? make_btree_index(words, memory) : make_hash_index(words, codec_words, memory);
}

std::vector<uint32_t> text_cells(const RowLayout& layout) {
  std::vector<uint32_t> cells;
  for (const ColumnId column : layout.long_columns()) cells.push_back(layout.place(column).offset);
  return cells;
}

}  // namespace

IndexedTable::IndexedTable(const Schema& schema, TableId id, HugePageSource& memory)
    : shape_(schema, id),
      image_parts_(shape_.layout->all_parts()),
      rows_(shape_.layout->image_bytes(), memory, text_cells(*shape_.layout)) {
  for (TableIndex& index : shape_.indexes) make_index(index, shape_.suffix_words, memory);
  if (definition().primary_key) primary_ = &shape_.indexes.front();
}

IndexedTable::Shape IndexedTable::shape_in(const Schema& schema, TableId id, HugePageSource& memory) const {
  Shape shape(schema, id);
  const auto has_same_place = [](const Column& a, const Column& b) {
    // A change of an enum type leaves its labels' positions as they are, and the labels of which arrays are.
    const auto without_enum = [](Type type) {
      if (type.kind == TypeKind::kEnum || type.elements == TypeKind::kEnum) type.enumeration = 0;
      return type;
    };
    return without_enum(a.type) == without_enum(b.type) && a.nullable == b.nullable;
  };
  CHECK(std::ranges::equal(shape.definition->columns, definition().columns, has_same_place) &&
        shape.definition->primary_key.has_value() == (primary_ != nullptr));
  for (size_t i = 0; i < shape.indexes.size(); ++i) {
    if (find_same(shape, i) == nullptr) make_index(shape.indexes[i], shape.suffix_words, memory);
  }
  return shape;
}

void IndexedTable::take(Shape&& shape) {
  for (size_t i = 0; i < shape.indexes.size(); ++i) {
    TableIndex& index = shape.indexes[i];
    if (index.index != nullptr) continue;
    const TableIndex* same = find_same(shape, i);
    CHECK(same != nullptr);
    index.index = std::move(shape_.indexes[static_cast<size_t>(same - shape_.indexes.data())].index);
  }
  shape_ = std::move(shape);
  primary_ = definition().primary_key ? &shape_.indexes.front() : nullptr;
}

std::unique_ptr<Index> IndexedTable::exchange(IndexId id, std::unique_ptr<Index> other) {
  const auto place = std::ranges::find(shape_.indexes, id, &TableIndex::id);
  CHECK(place != shape_.indexes.end() && other->key_words() == place->index->key_words());
  return std::exchange(place->index, std::move(other));
}

const TableIndex* IndexedTable::find_same(const Shape& shape, size_t at) const {
  const TableIndex& wanted = shape.indexes[at];
  const auto is_same = [&](const TableIndex& own) {
    if (own.definition == wanted.definition) return true;
    return own.definition->name == wanted.definition->name &&
           own.definition->columns == wanted.definition->columns && own.is_unique == wanted.is_unique &&
           own.is_ordered == wanted.is_ordered;
  };
  // Most indexes keep their place, so the search begins there.
  const auto begin = shape_.indexes.begin();
  const auto place = begin + static_cast<std::ptrdiff_t>(std::min(at, shape_.indexes.size()));
  const auto behind = std::find_if(place, shape_.indexes.end(), is_same);
  if (behind != shape_.indexes.end()) return &*behind;
  const auto before = std::find_if(begin, place, is_same);
  return before == place ? nullptr : &*before;
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
  for (uint32_t i = 0; i < shape_.suffix_words; ++i) {
    range.low.words[range.low.word_count++] = 0;
    range.high.words[range.high.word_count++] = std::numeric_limits<uint64_t>::max();
  }
  return range;
}

}  // namespace mneme
