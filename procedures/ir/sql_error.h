// SqlError: why an expression or a statement could not be carried out: a run-time error to the procedure's
// caller.
//
// The transaction is rolled back, as by RAISE EXCEPTION. `sqlstate` and the message are PostgreSQL's.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/memory/arena.h"

namespace mneme {

struct SqlError {
  const char* sqlstate = "";
  std::string_view message;  // in the arena of the run
  std::string_view detail{};
  std::string_view hint{};
};

namespace sqlstate {
inline constexpr const char* kNotSupported = "0A000";
inline constexpr const char* kCaseNotFound = "20000";
inline constexpr const char* kRaise = "P0001";
inline constexpr const char* kNoDataFound = "P0002";
inline constexpr const char* kTooManyRows = "P0003";
inline constexpr const char* kStringTooLong = "22001";
inline constexpr const char* kOutOfRange = "22003";
inline constexpr const char* kNullNotAllowed = "22004";
inline constexpr const char* kInvalidDatetime = "22007";
inline constexpr const char* kDatetimeOverflow = "22008";
inline constexpr const char* kZoneOutOfRange = "22009";
inline constexpr const char* kNegativeSubstring = "22011";
inline constexpr const char* kDivisionByZero = "22012";
inline constexpr const char* kNotInRepertoire = "22021";
inline constexpr const char* kInvalidParameter = "22023";
inline constexpr const char* kIntervalOverflow = "22015";
inline constexpr const char* kInvalidLogarithm = "2201E";
inline constexpr const char* kInvalidPower = "2201F";
inline constexpr const char* kInvalidLimit = "2201W";
inline constexpr const char* kInvalidOffset = "2201X";
inline constexpr const char* kInvalidPattern = "2201B";
inline constexpr const char* kInvalidEscapeSequence = "22025";
inline constexpr const char* kCardinality = "21000";
inline constexpr const char* kInvalidNtile = "22014";
inline constexpr const char* kInvalidNthValue = "22016";
inline constexpr const char* kInvalidFrameOffset = "22013";
inline constexpr const char* kGrouping = "42803";
inline constexpr const char* kWindowing = "42P20";
inline constexpr const char* kInvalidRecursion = "42P19";
inline constexpr const char* kInvalidReference = "42P10";
inline constexpr const char* kDuplicateAlias = "42712";
inline constexpr const char* kInvalidText = "22P02";
inline constexpr const char* kSerializationFailure = "40001";
inline constexpr const char* kQueryCanceled = "57014";
inline constexpr const char* kAdminShutdown = "57P01";
inline constexpr const char* kNotNull = "23502";
inline constexpr const char* kForeignKey = "23503";
inline constexpr const char* kUnique = "23505";
inline constexpr const char* kCheck = "23514";
inline constexpr const char* kSyntaxError = "42601";
inline constexpr const char* kAmbiguousColumn = "42702";
inline constexpr const char* kNotUnique = "42725";
inline constexpr const char* kIndeterminateType = "42P18";
inline constexpr const char* kUndefinedObject = "42704";
inline constexpr const char* kUndefinedColumn = "42703";
inline constexpr const char* kGeneratedAlways = "428C9";
inline constexpr const char* kInvalidObjectDefinition = "42P17";
inline constexpr const char* kInvalidSchema = "3F000";
inline constexpr const char* kUndefinedTable = "42P01";
inline constexpr const char* kUndefinedParameter = "42P02";
inline constexpr const char* kDatatypeMismatch = "42804";
inline constexpr const char* kWrongObject = "42809";
inline constexpr const char* kSequenceLimit = "2200H";
inline constexpr const char* kCannotCoerce = "42846";
inline constexpr const char* kUndefinedFunction = "42883";
inline constexpr const char* kProgramLimit = "54000";
inline constexpr const char* kTooComplex = "54001";
}  // namespace sqlstate

// Writes the message into the arena and returns false, so that a failing function may end in `return
// fail(...)`.
template <typename... Args>
[[nodiscard]] bool fail(SqlError& error, Arena& arena, const char* sqlstate, fmt::format_string<Args...> text,
                        Args&&... args) {
  fmt::memory_buffer buffer;
  fmt::format_to(std::back_inserter(buffer), text, std::forward<Args>(args)...);
  error = {sqlstate, arena.copy({buffer.data(), buffer.size()})};
  return false;
}

}  // namespace mneme
