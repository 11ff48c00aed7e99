#include "engine/schema/schema.h"

namespace mneme {

Schema::Schema(const Catalog& catalog, const Schema* former) : catalog_(catalog) {
  if (former != nullptr) {
    layouts_ = former->layouts_;
    codecs_ = former->codecs_;
    layouts_.resize_down(catalog.tables().size());
    codecs_.resize_down(catalog.indexes().size());
  }
  const auto is_same_layout = [&](size_t i) {
    const auto& before = former->catalog_.tables().shared(i);
    const auto& now = catalog.tables().shared(i);
    if (before == now) return true;
    if (before->columns != now->columns) return false;
    // An index takes a column's texts into the rows.
    for (uint32_t c = 0; c < now->columns.size(); ++c) {
      if (layouts_[i].place(ColumnId{c}).is_long != is_long_text(catalog, *now, ColumnId{c})) return false;
    }
    return true;
  };
  for (size_t i = 0; i < catalog.tables().size(); ++i) {
    if (i < layouts_.size() && is_same_layout(i)) continue;
    layouts_.put(i, std::make_shared<const RowLayout>(catalog, catalog.tables()[i]));
  }
  // A key's codec refers to the layout.
  const auto is_same_codec = [&](size_t i) {
    const auto& now = catalog.indexes().shared(i);
    return former->catalog_.indexes().shared(i) == now && &former->layout(now->table) == &layout(now->table);
  };
  for (size_t i = 0; i < catalog.indexes().size(); ++i) {
    if (i < codecs_.size() && is_same_codec(i)) continue;
    const IndexDefinition& index = catalog.indexes()[i];
    codecs_.put(i, std::make_shared<const KeyCodec>(catalog, index.id, layout(index.table)));
  }
}

}  // namespace mneme
