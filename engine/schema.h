// Schema: a catalog with the row layout of each table and the key codec of each index, derived once.
//
// Threads     constant once made. The catalog must outlive it.
#pragma once

#include <memory>
#include <vector>

#include "engine/catalog.h"
#include "engine/key_codec.h"
#include "engine/row_layout.h"

namespace mneme {

class Schema {
 public:
  explicit Schema(const Catalog& catalog) : catalog_(catalog) {
    for (const TableDefinition& table : catalog.tables()) layouts_.push_back(std::make_unique<RowLayout>(table));
    for (const IndexDefinition& index : catalog.indexes()) {
      codecs_.push_back(std::make_unique<KeyCodec>(catalog, index.id, *layouts_[index.table.value]));
    }
  }

  const Catalog& catalog() const { return catalog_; }
  const RowLayout& layout(TableId table) const { return *layouts_[table.value]; }
  const KeyCodec& codec(IndexId index) const { return *codecs_[index.value]; }

 private:
  const Catalog& catalog_;
  std::vector<std::unique_ptr<RowLayout>> layouts_;
  std::vector<std::unique_ptr<KeyCodec>> codecs_;
};

}  // namespace mneme
