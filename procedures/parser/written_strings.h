// Written strings: a text with its strings in the forms that the grammar has.
//
//     SELECT $$it's$$          SELECT 'it''s'
//     SELECT U&'d\0061t'       SELECT 'dat'
//     ... AS 'BEGIN END'       ... AS $$BEGIN END$$
//
// Invariants  what stands behind such a string on its line may move; nothing moves to another line.
// Source      PostgreSQL 15, section 4.1.2 (constants).
#pragma once

#include <string>
#include <string_view>

namespace mneme {

// Returns the text with dollar-quoted strings and strings of U& as '...', and the quoted body of a routine or
// of DO in dollars. Strings inside of a body in dollars are written so, too. What ends too early
// stays as it is, for the parser to refuse. Throws SourceError where U&'...' has an escape of no character.
std::string with_plain_strings(std::string_view text);

}  // namespace mneme
