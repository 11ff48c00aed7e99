// Written names: names of the schema as SQL text has them, in quotes where they need some.
//
// Source      PostgreSQL 15, section 4.1.1 (identifiers), and its quote_identifier().
#pragma once

#include <string>
#include <string_view>

namespace mneme {

// Whether a name without quotes is read as it is written: letters in lower case, digits and _.
bool is_plain_name(std::string_view name);

// The name for a statement that is parsed again: in quotes, unless it is plain and no word has it. That of an
// object in a schema of the user's stands behind its schema (engine/schema/qualified_name.h).
std::string written_name(std::string_view name);

// The same, in quotes whatever it is.
std::string name_in_quotes(std::string_view name);

// The name as PostgreSQL shows it, which reserves fewer words than PL/pgSQL and the parser do.
std::string shown_name(std::string_view name);

// What a name that SQL text has means: without its quotes, or in lower case.
std::string read_written_name(std::string_view written);

// The relation that a text names, as nextval() and regclass take it: perhaps in quotes, perhaps behind its
// schema, of which pg_catalog says nothing.
std::string read_relation_name(std::string_view written);

// The DEFAULT that draws from the sequence.
std::string written_draw(std::string_view sequence);

// The end of the name that begins at `at`, be it in quotes.
size_t end_of_written_name(std::string_view text, size_t at);

// A text as a literal.
std::string written_string(std::string_view text);

}  // namespace mneme
