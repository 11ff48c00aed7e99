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

// Keys have a fixed size: so many characters a text, or a varchar without a length, has room for in a key
// that is declared with its table, where no CHECK (char_length(column) <= n) says otherwise.
inline constexpr uint16_t kAssumedKeyLength = 64;
// The lengths that earlier versions gave columns without one, a bytea two characters a byte. The
// catalog's hash has it.
inline constexpr uint16_t kAssumedTextLength = 255;
inline constexpr uint16_t kAssumedJsonLength = 2000;
inline constexpr uint16_t kAssumedByteaLength = 1002;

void bind_table(const syntax::Table& table, Catalog& catalog);
// The name of the index, which PostgreSQL's rule gives where the statement doesn't.
std::string index_name(const syntax::Index& index, const Catalog& catalog);
void bind_alteration(const syntax::Alteration& alteration, Catalog& catalog);
// The value that the rows of a table get in a column that is added: its DEFAULT, which is a constant. Text
// lies in `strings`.
Value initial_value(const Catalog& catalog, const Column& column, std::deque<std::string>& strings);
// A table's indexes go to its new schema with it.
void move_indexes(TableId id, std::string_view schema, ir::SourceLocation where, Catalog& catalog);
void bind_index(const syntax::Index& index, Catalog& catalog);
void bind_sequence(const syntax::Sequence& sequence, Catalog& catalog);
// Takes it out, and leaves its owner without it.
void drop_sequence(const std::string& name, Catalog& catalog);
// Writes the statement out.
std::string print_sequence(const syntax::Sequence& sequence);
// Returns the sequence that a DEFAULT draws from, or "".
std::string drawn_sequence(const std::string& initial);

// ---- what CREATE TABLE and ALTER TABLE have in common ----

namespace sqlstate {
inline constexpr const char* kInvalidTable = "42P16";
inline constexpr const char* kDuplicateColumn = "42701";
inline constexpr const char* kDuplicateObject = "42710";
inline constexpr const char* kDuplicateRelation = "42P07";
}  // namespace sqlstate

// The column with its sequence, where it is SERIAL in `table`.
Column bind_column(const syntax::ColumnDefinition& definition, const std::string& table,
                   const Catalog& catalog);
// Notes what a string column without a length is taken to have, at least `least`; in a key it has that.
void assume_length(Column& column, bool is_in_key, uint16_t least = 0);
// A DEFAULT is a constant, the time of the statement, or a sequence's next number. It is bound here for its
// faults, and again wherever an INSERT gives no value.
void check_initial(const Catalog& catalog, const syntax::Expr& initial, const Column& column);
// Returns whether the check does nothing but give a text column its size, as CHECK (char_length(column) <= n)
// does. One with a name is a constraint besides.
bool sizes_a_column(const syntax::Check& check, std::vector<Column>& columns);
std::vector<ColumnId> bind_key(const std::vector<syntax::Name>& names, const std::vector<Column>& columns);
std::vector<ColumnId> bind_primary_key(const std::vector<syntax::Name>& names,
                                       const std::vector<Column>& columns);
// Returns the name that is written for a key, or PostgreSQL's, which is free.
std::string unique_name(const TableDefinition& table, const syntax::UniqueConstraint& constraint,
                        const Catalog& catalog);
std::string primary_key_name(const std::string& table, const syntax::UniqueConstraint& constraint,
                             const Catalog& catalog);
bool has_constraint(const TableDefinition& table, const Catalog& catalog, const std::string& name);
// Returns whether rows are found by these columns without reading others.
bool has_index_for(const TableDefinition& table, const Catalog& catalog,
                   const std::vector<ColumnId>& columns);
bool can_be_compared(const Type& a, const Type& b);
void add_unique(const syntax::UniqueConstraint& constraint, TableId id, Catalog& catalog);
void bind_check(const syntax::Check& check, TableId id, Catalog& catalog);
// Binds a check's condition for its faults, and returns the columns that it names.
std::vector<ColumnId> bind_condition(const syntax::Expr& condition, const TableDefinition& table,
                                     const Catalog& catalog);
void bind_foreign_key(const syntax::ForeignKey& key, TableId id, Catalog& catalog);

// ---- generated columns and partial indexes ----

// Binds what a generated column is of its table's row, for its faults and its value.
ir::Expr bind_generated(const TableDefinition& table, const Column& column, const Catalog& catalog,
                        std::deque<std::string>& strings);
void check_generated_columns(const TableDefinition& table, const Catalog& catalog);
// Whether the text, a generated column's or an index's condition, names the column.
bool names_column(const std::string& text, const std::string& column);
// The columns that an index's condition names.
std::vector<ColumnId> columns_of_predicate(const IndexDefinition& index, const Catalog& catalog);
// The expression with the table's name before each of its columns that has none.
syntax::Expr qualified(syntax::Expr expr, const std::string& name, const TableDefinition& table);

}  // namespace mneme
