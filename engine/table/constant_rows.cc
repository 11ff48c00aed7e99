#include "engine/table/constant_rows.h"

#include <algorithm>
#include <limits>

namespace mneme {

namespace {

constexpr uint64_t kMostPlacesPerRow = 4;

// Returns the bits of a key's word below its number; nothing if keys are not one integer.
std::optional<uint32_t> bits_below(const IndexedTable& table, const TableIndex& index) {
  const IndexDefinition& definition = *index.definition;
  if (!definition.unique || definition.columns.size() != 1 || index.has_whole_key_suffix ||
      index.codec->word_count() != 1)
    return std::nullopt;
  const Column& column = table.definition().column(definition.columns[0]);
  if (column.nullable) return std::nullopt;
  switch (column.type.kind) {
    case TypeKind::kSmallInt:
      return 48;
    case TypeKind::kInt:
      return 32;
    case TypeKind::kBigInt:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ConstantRows> ConstantRows::make(const IndexedTable& table, const TableIndex& index) {
  const std::optional<uint32_t> shift = bits_below(table, index);
  if (!shift) return std::nullopt;
  ConstantRows made(table.rows(), *shift);
  const auto number_of = [&](const Row* row) {
    return table.entry_key(index, row->image(), row).words[0] >> *shift;
  };
  uint64_t lowest = std::numeric_limits<uint64_t>::max();
  uint64_t highest = 0;
  uint64_t count = 0;
  table.rows().for_each_live(0, table.rows().slot_end(), [&](const Row* row) {
    const uint64_t number = number_of(row);
    lowest = std::min(lowest, number);
    highest = std::max(highest, number);
    ++count;
  });
  if (count == 0 || (highest - lowest) / kMostPlacesPerRow >= count) return std::nullopt;
  made.lowest_ = lowest;
  made.rows_.resize(highest - lowest + 1);
  table.rows().for_each_live(0, table.rows().slot_end(),
                             [&](Row* row) { made.rows_[number_of(row) - lowest] = row; });
  return made;
}

}  // namespace mneme
