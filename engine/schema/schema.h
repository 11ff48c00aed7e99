// Schema: a catalog with the row layout of each table and the key codec of each index, derived once.
//
// Copies      a schema that follows from another shares the layouts and codecs of the tables and indexes that
//             stay what they were.
// Threads     constant once made. The catalog must outlive it.
#pragma once

#include "base/shared_list.h"
#include "engine/schema/catalog.h"
#include "engine/schema/key_codec.h"
#include "engine/schema/row_layout.h"

namespace mneme {

class Schema {
 public:
  explicit Schema(const Catalog& catalog, const Schema* former = nullptr);

  const Catalog& catalog() const { return catalog_; }
  const RowLayout& layout(TableId table) const { return layouts_[table.value]; }
  const KeyCodec& codec(IndexId index) const { return codecs_[index.value]; }

 private:
  const Catalog& catalog_;
  SharedList<RowLayout> layouts_;
  SharedList<KeyCodec> codecs_;
};

}  // namespace mneme
