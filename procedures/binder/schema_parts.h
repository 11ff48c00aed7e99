// Schema parts: what CREATE TABLE and ALTER TABLE have in common.
//
// Errors      refuse(), with PostgreSQL's SQLSTATEs.
#pragma once

#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax.h"

namespace mneme {

namespace sqlstate {
inline constexpr const char* kInvalidTable = "42P16";
inline constexpr const char* kDuplicateColumn = "42701";
inline constexpr const char* kDuplicateObject = "42710";
inline constexpr const char* kDuplicateRelation = "42P07";
}  // namespace sqlstate

// The column with its sequence, where it is SERIAL in `table`.
Column bind_column(const syntax::ColumnDefinition& definition, const std::string& table);
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

}  // namespace mneme
