// Run errors: what the interpreter and native code both say when a statement cannot be carried out, in one
// place.
//
// Each that returns a bool returns false, with the reason in `error`, its text in the arena.
#pragma once

#include <span>
#include <string_view>

#include "base/memory/arena.h"
#include "engine/schema/schema.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/sql_error.h"
#include "procedures/values/stop_request.h"

namespace mneme {

// What PostgreSQL says beside an error of a row: its values. Of each no more than the first 64 bytes.
void tell_failing_row(const Schema& schema, TableId table, std::span<const Value> values, Arena& arena,
                      SqlError& error);
[[nodiscard]] bool fail_not_null(const Schema& schema, TableId table, ColumnId column, Arena& arena,
                                 SqlError& error);

// Whether the value is text of more bytes than the column has room for. Its characters may fit: a column
// varchar(n) in a row holds n characters and n bytes at most.
inline bool lacks_room(const Catalog& catalog, const TableDefinition& table, ColumnId column,
                       const Value& value) {
  const Type& type = table.column(column).type;
  if (!type.is_string() || value.is_null() || value.as_text().size() <= type.length) return false;
  return value.as_text().size() > text_room(catalog, table, column);
}
[[nodiscard]] bool fail_no_room(const Schema& schema, TableId table, ColumnId column, std::string_view text,
                                Arena& arena, SqlError& error);

struct TypedValue {
  Type type;
  Value value;
};
// RAISE: the message has the arguments in place of the format's percent signs; the detail and the hint are
// the last arguments.
struct RaiseFormat {
  const char* sqlstate;
  std::string_view format;
  bool has_detail = false;
  bool has_hint = false;
};
[[nodiscard]] bool fail_raise(const RaiseFormat& raise, std::span<const TypedValue> arguments, Arena& arena,
                              SqlError& error);

// The error of a statement that was asked to stop. Its text is constant.
[[nodiscard]] SqlError stopped_error(const StopRequest& stop);

}  // namespace mneme
