// COPY's text format: a line a row, values parted by tabs, \N for NULL, a backslash before what would be
// taken for one of these.
//
// Source      PostgreSQL 15 documentation, COPY, "Text Format".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema/catalog.h"
#include "engine/schema/value.h"

namespace mneme {

// Appends the row, with the line's end.
void append_copy_line(const TableDefinition& table, std::span<const Value> row, std::string& out);

// Splits a line without its end into values; nothing: NULL. Returns false if it ends within an escape.
[[nodiscard]] bool split_copy_line(std::string_view line, std::vector<std::optional<std::string>>& values);

}  // namespace mneme
