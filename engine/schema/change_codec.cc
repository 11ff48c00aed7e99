#include "engine/schema/change_codec.h"

#include <algorithm>

namespace mneme {

namespace {

constexpr bool holds_changed_bits(ChangeAction action) {
  return action == ChangeAction::kUpdate || action == ChangeAction::kPatch;
}

}  // namespace

ChangeCodec::ChangeCodec(const Schema& schema, const ChangeCodec* former, const Schema* formers) {
  const Catalog& catalog = schema.catalog();
  if (former != nullptr) tables_ = former->tables_;
  tables_.resize_down(catalog.tables().size());
  for (size_t i = 0; i < catalog.tables().size(); ++i) {
    const bool is_same =
        i < tables_.size() && formers->catalog().tables().shared(i) == catalog.tables().shared(i);
    if (is_same) continue;
    const TableDefinition& table = catalog.tables()[i];
    std::vector<ColumnId> key;
    if (table.primary_key) key = schema.catalog().index(*table.primary_key).columns;
    std::vector<ColumnId> rest;
    for (uint32_t c = 0; c < table.columns.size(); ++c) {
      if (std::ranges::find(key, ColumnId{c}) == key.end()) rest.push_back(ColumnId{c});
    }
    const RowLayout& layout = schema.layout(table.id);
    TableCodec codec{RowCodec(layout, key), RowCodec(layout, rest), rest, 0};
    codec.max_bytes = 4 * kMaxVarintBytes + codec.key.max_bytes() + ColumnBits::bytes_for(rest.size()) +
                      codec.rest.max_bytes();
    tables_.put(i, std::make_shared<const TableCodec>(std::move(codec)));
  }
}

bool ChangeCodec::decode_key(TableId table, ByteSpan columns, std::byte* image) const {
  ByteReader in(columns);
  return key(table).decode(in, image);
}

bool ChangeCodec::decode_row(TableId table, ChangeAction action, ByteSpan columns, std::byte* image,
                             ImageOwner owner) const {
  ByteReader in(columns);
  // No long text is in a key.
  if (!key(table).decode(in, image)) return false;
  if (action == ChangeAction::kErase && !is_keyless(table)) return in.remaining() == 0;
  const size_t bits = holds_changed_bits(action) ? ColumnBits::bytes_for(rest(table).column_count()) : 0;
  const ColumnBits changed(in.get_bytes(bits));
  if (in.bad()) return false;
  const bool is_decoded = action == ChangeAction::kPatch
                              ? rest(table).decode(
                                    in, &changed, [](size_t) { return true; }, image, owner)
                              : rest(table).decode(in, image, owner);
  return is_decoded && in.remaining() == 0;
}

bool ChangeCodec::decode_changed(TableId table, ChangeAction action, ByteSpan columns,
                                 const ColumnBits* among, std::byte* image, ImageOwner owner) const {
  DCHECK(holds_changed_bits(action));
  ByteReader in(columns);
  key(table).skip(in);
  const ColumnBits changed(in.get_bytes(ColumnBits::bytes_for(rest(table).column_count())));
  if (in.bad()) return false;
  const auto is_wanted = [&](size_t c) { return changed.has(c) && (among == nullptr || among->has(c)); };
  return rest(table).decode(in, action == ChangeAction::kPatch ? &changed : nullptr, is_wanted, image,
                            owner) &&
         in.remaining() == 0;
}

std::optional<ColumnBits> ChangeCodec::changed_columns(TableId table, ByteSpan columns) const {
  ByteReader in(columns);
  key(table).skip(in);
  const ColumnBits changed(in.get_bytes(ColumnBits::bytes_for(rest(table).column_count())));
  return in.bad() ? std::nullopt : std::optional(changed);
}

}  // namespace mneme
