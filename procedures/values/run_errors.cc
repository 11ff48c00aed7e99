#include "procedures/values/run_errors.h"

#include <algorithm>

#include "procedures/values/value_text.h"

namespace mneme {

bool fail_not_null(const Schema& schema, TableId table, ColumnId column, Arena& arena, SqlError& error) {
  const TableDefinition& definition = schema.catalog().table(table);
  return fail(error, arena, sqlstate::kNotNull,
              "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
              definition.column(column).name, definition.name);
}

void tell_failing_row(const Schema& schema, TableId table, std::span<const Value> values, Arena& arena,
                      SqlError& error) {
  constexpr size_t kMostShown = 64;
  const TableDefinition& definition = schema.catalog().table(table);
  fmt::memory_buffer text;
  text.append(std::string_view("Failing row contains ("));
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text.append(std::string_view(", "));
    if (values[i].is_null()) {
      text.append(std::string_view("null"));
      continue;
    }
    fmt::memory_buffer value;
    print_value(definition.columns[i].type, values[i], value);
    size_t end = std::min(value.size(), kMostShown);
    while (end < value.size() && end > 0 && (static_cast<unsigned char>(value[end]) & 0xc0) == 0x80) --end;
    text.append(value.data(), value.data() + end);
    if (end < value.size()) text.append(std::string_view("..."));
  }
  text.append(std::string_view(")."));
  error.detail = arena.copy({text.data(), text.size()});
}

bool fail_no_room(const Schema& schema, TableId table, ColumnId column, std::string_view text, Arena& arena,
                  SqlError& error) {
  const TableDefinition& definition = schema.catalog().table(table);
  const Column& full = definition.column(column);
  const uint32_t room = text_room(schema.catalog(), definition, column);
  if (full.type.length == 0 && is_indexed(schema.catalog(), definition, column)) {
    return fail(error, arena, sqlstate::kProgramLimit,
                "the value takes {} bytes in UTF-8, and column \"{}\" of relation \"{}\", which an index "
                "has, has room for {} bytes: declare it as varchar({}), or drop the index",
                text.size(), full.name, definition.name, room, text.size());
  }
  if (full.type.length == 0) {
    return fail(error, arena, sqlstate::kProgramLimit,
                "the value takes {} bytes in UTF-8, and column \"{}\" of relation \"{}\" has room for {} "
                "bytes: keep it in several rows",
                text.size(), full.name, definition.name, room);
  }
  return fail(
      error, arena, sqlstate::kStringTooLong,
      "the value takes {} bytes in UTF-8, and column \"{}\" of relation \"{}\", a {}, has room for {} "
      "bytes: declare it at least {} long",
      text.size(), full.name, definition.name, to_string(full.type), room, text.size());
}

bool fail_raise(const RaiseFormat& raise, std::span<const TypedValue> arguments, Arena& arena,
                SqlError& error) {
  const std::string_view format = raise.format;
  fmt::memory_buffer text;
  size_t next = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text.push_back(format[i]);
    } else if (i + 1 < format.size() && format[i + 1] == '%') {
      text.push_back('%');
      ++i;
    } else {
      const TypedValue& argument = arguments[next++];
      if (argument.value.is_null()) {
        text.append(std::string_view("<NULL>"));
      } else {
        print_value(argument.type, argument.value, text);
      }
    }
  }
  (void)fail(error, arena, raise.sqlstate, "{}", std::string_view(text.data(), text.size()));
  for (std::string_view* option :
       {raise.has_detail ? &error.detail : nullptr, raise.has_hint ? &error.hint : nullptr}) {
    if (option == nullptr) continue;
    const TypedValue& argument = arguments[next++];
    if (argument.value.is_null())
      return fail(error, arena, sqlstate::kNullNotAllowed, "RAISE statement option cannot be null");
    text.clear();
    print_value(argument.type, argument.value, text);
    *option = arena.copy({text.data(), text.size()});
  }
  return false;
}

SqlError stopped_error(const StopRequest& stop) {
  switch (stop.reason()) {
    case StopRequest::Reason::kConnectionEnds:
      return {sqlstate::kAdminShutdown, "the statement was ended with its connection"};
    case StopRequest::Reason::kTimedOut:
      return {sqlstate::kQueryCanceled, "canceling statement due to statement timeout"};
    case StopRequest::Reason::kInWay:
      return {sqlstate::kSerializationFailure, "canceling statement due to conflict with recovery"};
    case StopRequest::Reason::kCancelled:
    case StopRequest::Reason::kNone:
      break;
  }
  return {sqlstate::kQueryCanceled, "canceling statement due to user request"};
}

}  // namespace mneme
