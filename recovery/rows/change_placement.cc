#include "recovery/rows/change_placement.h"

#include <algorithm>

namespace mneme {
namespace {

bool is_update(const LoggedChange& change) {
  return change.row.action == ChangeAction::kUpdate || change.row.action == ChangeAction::kPatch;
}

bool have_common_bits(ByteSpan a, ByteSpan b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & b[i]) != std::byte{0}) return true;
  }
  return false;
}

bool contains_all(const std::vector<ColumnId>& columns, const std::vector<ColumnId>& wanted) {
  return std::ranges::all_of(wanted, [&](ColumnId c) { return std::ranges::count(columns, c) > 0; });
}

}  // namespace

ChangePlacement::ChangePlacement(const DependencyGraph& graph, const Schema& schema)
    : schema_(schema), codec_(schema), rest_block_(static_cast<uint32_t>(graph.blocks.size())) {
  const Catalog& catalog = schema.catalog();
  const ChangeOwners owners(graph, catalog);
  for (const TableDefinition& table : catalog.tables()) {
    LaneTable& lanes = rest_lanes_.emplace_back();
    lanes.table = table.id;
    lanes.any_lane = !table.primary_key;
    if (table.primary_key) lanes.columns = catalog.index(*table.primary_key).columns;
  }
  places_.resize(graph.blocks.size() + 1);
  for (auto& tables : places_) tables.resize(catalog.tables().size());
  for (const TableDefinition& table : catalog.tables()) {
    const Owner existence = owners.existence(table.id);
    is_existence_barrier_.push_back(existence == Owner::barrier());
    if (existence.kind() == Owner::Kind::kNobody) add_place(rest_block_, rest_lanes_, table.id, {});
    if (existence.kind() == Owner::Kind::kBlock)
      add_place(existence.block().value, graph.block(existence.block()).lanes, table.id, {});
    const auto owned_by = [&](Owner owner) {
      std::vector<ColumnId> columns;
      for (const ColumnId column : codec_.rest_columns(table.id)) {
        if (owners.column(table.id, column) == owner) columns.push_back(column);
      }
      return columns;
    };
    barrier_columns_.push_back(bits_of(table.id, owned_by(Owner::barrier())));
    may_be_barrier_.push_back(existence == Owner::barrier() || !table.primary_key);
    if (existence != Owner::barrier()) continue;
    if (const auto columns = owned_by(Owner::nobody()); !columns.empty())
      add_place(rest_block_, rest_lanes_, table.id, bits_of(table.id, columns));
    for (const Block& block : graph.blocks) {
      const auto columns = owned_by(Owner::of(block.id));
      if (!columns.empty()) add_place(block.id.value, block.lanes, table.id, bits_of(table.id, columns));
    }
  }
}

void ChangePlacement::add_place(uint32_t block, std::span<const LaneTable> tables, TableId table,
                                std::vector<std::byte> columns) {
  const auto lanes = std::ranges::find(tables, table, &LaneTable::table);
  ChangePlace& place = places_[block][table.value].emplace();
  place.lanes = &*lanes;
  place.table_number = static_cast<size_t>(lanes - tables.begin());
  place.columns = std::move(columns);
  for (size_t w = 0; w < lanes->ways(); ++w)
    place.ways.push_back(make_way(schema_.catalog().table(table), lanes->way(w)));
}

ChangePlace::Way ChangePlacement::make_way(const TableDefinition& table,
                                           const std::vector<ColumnId>& columns) const {
  const Catalog& catalog = schema_.catalog();
  ChangePlace::Way way;
  way.lanes_in_key = table.primary_key && contains_all(catalog.index(*table.primary_key).columns, columns);
  way.keys_stay = true;
  std::vector<ColumnId> moving = columns;
  for (const IndexId id : table.indexes) {
    const IndexDefinition& index = catalog.index(id);
    if (!index.unique || contains_all(index.columns, columns)) continue;
    way.keys_stay = false;
    moving.insert(moving.end(), index.columns.begin(), index.columns.end());
  }
  way.moving = bits_of(table.id, moving);
  return way;
}

std::vector<std::byte> ChangePlacement::bits_of(TableId table, const std::vector<ColumnId>& columns) const {
  const std::span<const ColumnId> rest = codec_.rest_columns(table);
  std::vector<std::byte> bits(ColumnBits::bytes_for(rest.size()));
  for (size_t i = 0; i < rest.size(); ++i) {
    if (std::ranges::count(columns, rest[i]) > 0) bits[i / 8] |= std::byte{1} << i % 8;
  }
  return bits;
}

bool ChangePlacement::is_barrier(const LoggedChange& change) const {
  const uint32_t table = change.row.table.value;
  // Equal rows may have been inserted by any lane.
  if (change.row.action == ChangeAction::kErase && codec_.is_keyless(change.row.table)) return true;
  return is_update(change) ? have_common_bits(change.changed.bytes(), barrier_columns_[table])
                           : is_existence_barrier_[table];
}

bool ChangePlacement::has_part(const ChangePlace& place, const LoggedChange& change) {
  if (!is_update(change)) return true;
  const ByteSpan changed = change.changed.bytes();
  if (!place.columns.empty()) return have_common_bits(changed, place.columns);
  return std::ranges::any_of(changed, [](std::byte bits) { return bits != std::byte{0}; });
}

bool ChangePlacement::lane_values(const ChangePlace& place, size_t number, const LoggedChange& change,
                                  std::byte* image, std::vector<Value>& values) const {
  const ChangePlace::Way& way = place.ways[number];
  const RowChange& row = change.row;
  const bool is_moving =
      is_update(change) ? have_common_bits(change.changed.bytes(), way.moving) : !way.keys_stay;
  const bool is_whole = row.action == ChangeAction::kInsert || row.action == ChangeAction::kUpdate;
  if (is_moving || (!is_whole && !way.lanes_in_key)) return false;
  const bool is_row = way.lanes_in_key ? codec_.decode_key(row.table, row.columns, image)
                                       : codec_.decode_row(row.table, row.action, row.columns, image);
  // Bytes that are no row are refused by the thread that replays them, wherever that is.
  if (!is_row) return false;
  values.clear();
  const RowLayout& layout = schema_.layout(row.table);
  for (const ColumnId column : place.lanes->way(number)) values.push_back(layout.get(image, column));
  return true;
}

}  // namespace mneme
