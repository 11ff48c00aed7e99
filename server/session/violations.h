// Violations: which constraint of which table an error is about, for the fields of its report. Programs look
// at those, and not at the words.
//
// The words are the engine's own (run_errors.h, the changes of the binder); where an error of the class
// has others, as a RAISE may, no field is known.
#pragma once

#include <string_view>

namespace mneme {

// Each is part of the message, or empty.
struct Violation {
  std::string_view table{};
  std::string_view column{};
  std::string_view constraint{};
};

inline Violation violation_of(std::string_view sqlstate, std::string_view message) {
  const auto quoted_after = [&](std::string_view words) {
    const size_t at = message.find(words);
    if (at == message.npos) return std::string_view();
    const std::string_view rest = message.substr(at + words.size());
    return rest.substr(0, rest.find('"'));
  };
  if (sqlstate == "23505") return {.constraint = quoted_after("violates unique constraint \"")};
  if (sqlstate == "23502" && message.ends_with("violates not-null constraint"))
    return {.table = quoted_after("of relation \""), .column = quoted_after("null value in column \"")};
  if (sqlstate == "23514")
    return {.table = quoted_after("new row for relation \""),
            .constraint = quoted_after("violates check constraint \"")};
  if (sqlstate == "23503") {
    std::string_view table = quoted_after("insert or update on table \"");
    // What refers to the row that was changed has the constraint.
    if (table.empty()) table = quoted_after("\" on table \"");
    return {.table = table, .constraint = quoted_after("violates foreign key constraint \"")};
  }
  return {};
}

}  // namespace mneme
