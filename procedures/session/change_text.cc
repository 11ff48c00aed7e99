#include "procedures/session/change_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "procedures/values/value_text.h"

namespace mneme {

namespace {

constexpr std::array<std::string_view, kChangeActions> kActionNames = {"insert", "update", "erase", "update"};

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

// Whether a change holds a column's value.
class HeldColumns {
 public:
  HeldColumns(const ChangeCodec& codec, const RowChange& change)
      : action_(change.action), rest_(codec.rest_columns(change.table)) {
    if (action_ == ChangeAction::kPatch) changed_ = codec.changed_columns(change.table, change.columns);
  }
  bool has(ColumnId column) const {
    const auto found = std::ranges::find(rest_, column);
    if (found == rest_.end()) return true;  // of the key
    if (action_ == ChangeAction::kErase) return false;
    return !changed_ || changed_->has(static_cast<size_t>(found - rest_.begin()));
  }

 private:
  const ChangeAction action_;
  const std::span<const ColumnId> rest_;
  std::optional<ColumnBits> changed_;
};

std::string print_row(const Schema& schema, const ChangeCodec& codec, const RowChange& change,
                      bool has_location, const std::byte* image) {
  const TableDefinition& table = schema.catalog().table(change.table);
  const RowLayout& layout = schema.layout(change.table);
  const HeldColumns held(codec, change);
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "{} {} (", kActionNames[static_cast<size_t>(change.action)],
                 table.name);
  std::string_view separator;
  for (uint32_t c = 0; c < table.columns.size(); ++c) {
    if (!held.has(ColumnId{c})) continue;
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
    const bool is_row = codec.decode_row(change.table, change.action, change.columns, image.data());
    if (!is_row) return std::nullopt;
    lines.push_back(print_row(schema, codec, change, changes.has_locations, image.data()));
  }
  if (reader.bad()) return std::nullopt;
  return lines;
}

}  // namespace mneme
