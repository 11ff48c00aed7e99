// Schema binder: CREATE TABLE, ALTER TABLE and CREATE INDEX into the catalog. What CHECK and FOREIGN KEY ask
// of each INSERT, UPDATE and DELETE is the change binder's (change_binder.h).
//
// Errors      refuse(), with PostgreSQL's SQLSTATEs.
#pragma once

#include <deque>
#include <string>

#include "engine/schema/catalog.h"
#include "engine/schema/text_form.h"
#include "procedures/parser/syntax.h"

namespace mneme {

// Rows and keys have a fixed size: so many characters a text, or a varchar without a length, has room for
// where no CHECK (char_length(column) <= n) says otherwise; fewer in a key of the table's.
inline constexpr uint16_t kAssumedTextLength = 255;
inline constexpr uint16_t kAssumedKeyLength = 64;
// A json or jsonb, and a bytea of 500 bytes, which takes two characters a byte.
inline constexpr uint16_t kAssumedJsonLength = 2000;
inline constexpr uint16_t kAssumedByteaLength = 1002;
// The length of a string that is declared without one.
inline uint16_t assumed_length(const Type& type, bool is_in_key) {
  if (is_in_key) return kAssumedKeyLength;
  return is_json(type)                     ? kAssumedJsonLength
         : is_form(type, TextForm::kBytea) ? kAssumedByteaLength
                                           : kAssumedTextLength;
}

void bind_table(const syntax::Table& table, Catalog& catalog);
// The name of the index, which PostgreSQL's rule gives where the statement doesn't.
std::string index_name(const syntax::Index& index, const Catalog& catalog);
void bind_alteration(const syntax::Alteration& alteration, Catalog& catalog);
// The value that the rows of a table get in a column that is added: its DEFAULT, which is a constant. Text
// lies in `strings`.
Value initial_value(const Catalog& catalog, const Column& column, std::deque<std::string>& strings);
void bind_index(const syntax::Index& index, Catalog& catalog);
void bind_sequence(const syntax::Sequence& sequence, Catalog& catalog);
// Takes it out, and leaves its owner without it.
void drop_sequence(const std::string& name, Catalog& catalog);
// Writes the statement out.
std::string print_sequence(const syntax::Sequence& sequence);
// Returns the sequence that a DEFAULT draws from, or "".
std::string drawn_sequence(const std::string& initial);

}  // namespace mneme
