#include "procedures/change_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "procedures/value_text.h"

namespace mneme {

namespace {

constexpr std::array<std::string_view, 3> kActionNames = {"insert", "update", "erase"};

void print_location(const RowLocation& location, fmt::memory_buffer& text) {
  fmt::format_to(std::back_inserter(text), " at slot {}, after ", location.slot);
  if (!location.lived && location.before == kCheckpointLsn) {
    text.append(std::string_view("none"));
  } else if (location.before == kCheckpointLsn) {
    text.append(std::string_view("the checkpoint's"));
  } else {
    fmt::format_to(std::back_inserter(text), "{} {}", location.lived ? "LSN" : "the erasure at LSN",
                   location.before.value);
  }
}

std::string print_row(const Schema& schema, const RowChange& change, bool has_location,
                      const std::byte* image) {
  const TableDefinition& table = schema.catalog().table(change.table);
  const RowLayout& layout = schema.layout(change.table);
  std::vector<ColumnId> key;
  if (table.primary_key) key = schema.catalog().index(*table.primary_key).columns;
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{} {} (", kActionNames[static_cast<size_t>(change.action)],
                 table.name);
  std::string_view separator;
  for (uint32_t c = 0; c < table.columns.size(); ++c) {
    const bool is_key = std::ranges::find(key, ColumnId{c}) != key.end();
    if (change.action == ChangeAction::kErase && !is_key) continue;
    const Column& column = table.columns[c];
    fmt::format_to(std::back_inserter(text), "{}{} ", separator, column.name);
    const Value value = layout.get(image, ColumnId{c});
    if (value.is_null()) {
      text.append(std::string_view("NULL"));
    } else if (column.type.is_string()) {
      fmt::format_to(std::back_inserter(text), "'{}'", value.as_text());
    } else {
      print_value(column.type, value, text);
    }
    separator = ", ";
  }
  text.push_back(')');
  if (has_location) print_location(change.location, text);
  return fmt::to_string(text);
}

}  // namespace

std::optional<std::vector<std::string>> print_changes(const Schema& schema, const ChangeCodec& codec,
                                                      const LoggedChanges& changes) {
  std::vector<std::string> lines;
  ChangeReader reader(codec, changes);
  RowChange change;
  while (reader.next(change)) {
    std::vector<std::byte> image(schema.layout(change.table).image_bytes());
    const bool is_row = change.action == ChangeAction::kErase
                            ? codec.decode_key(change.table, change.columns, image.data())
                            : codec.decode_row(change.table, change.columns, image.data());
    if (!is_row) return std::nullopt;
    lines.push_back(print_row(schema, change, changes.has_locations, image.data()));
  }
  if (reader.bad()) return std::nullopt;
  return lines;
}

}  // namespace mneme
