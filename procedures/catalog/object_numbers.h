// Object numbers: the oids under which the catalogs list a database's objects, and the texts that define
// them. Private to the room.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/binder/program.h"

namespace mneme::oids {

inline constexpr int64_t kPgCatalog = 11;
inline constexpr int64_t kPublic = 2200;
inline constexpr int64_t kInformationSchema = 13000;
inline constexpr int64_t kOwner = 10;
inline constexpr int64_t kDatabaseOwner = 6171;  // the role that owns the schema public
inline constexpr int64_t kDatabase = 16000;
inline constexpr int64_t kHeap = 2;
inline constexpr int64_t kBtree = 403;
inline constexpr int64_t kHash = 405;
inline constexpr int64_t kPlpgsql = 13500;
inline constexpr int64_t kDefaultCollation = 100;
inline constexpr int64_t kVoidType = 2278;
inline constexpr int64_t kRecordType = 2249;
inline constexpr int64_t kTriggerType = 2279;
inline constexpr int64_t kArrayIn = 750;
inline constexpr int64_t kEnumIn = 3504;

// PostgreSQL's own number, which clients know, of a table that it has.
int64_t of_system_table(uint32_t number);
inline int64_t of(TableId table) {
  return 16384 + int64_t{table.value};
}
inline int64_t of(IndexId index) {
  return 200'000 + int64_t{index.value};
}
inline int64_t of(ProcedureId procedure) {
  return 300'000 + int64_t{procedure.value};
}
inline int64_t of_view(uint32_t number) {
  return 600'000 + int64_t{number};
}
// public, pg_catalog and information_schema have one, too; 0 where there is no schema of that name.
int64_t of_schema(const Program& program, std::string_view name);
// A table's constraint: one of the three is there.
struct Constraint {
  int64_t oid = 0;
  std::string name;  // in the table's schema
  TableId table;
  const IndexDefinition* key = nullptr;  // PRIMARY KEY or UNIQUE
  const ForeignKey* foreign_key = nullptr;
  const CheckConstraint* check = nullptr;
};
std::vector<Constraint> constraints(const Program& program);
inline int64_t default_of(TableId table, uint32_t column) {
  return 1'000'000 + int64_t{table.value} * 4096 + column;
}

// What COMMENT ON has said of an object: a row of pg_description.
struct Description {
  std::string_view list;  // the catalog that has the object: pg_class, pg_proc, pg_constraint, pg_namespace
  int64_t object = 0;
  int64_t part = 0;  // a column's number; 0: the object itself
  std::string_view text;
};
// The texts are the program's.
std::vector<Description> descriptions(const Program& program);

// Each returns nullptr where no object has the number.
const TableDefinition* table(const Program& program, int64_t oid);
const IndexDefinition* index(const Program& program, int64_t oid);
const View* view(const Program& program, int64_t oid);
const ir::Procedure* procedure(const Program& program, int64_t oid);

// Whether a constraint made the index: a primary key or UNIQUE.
bool is_constraint(const Program& program, const IndexDefinition& index);
bool is_primary_key(const Program& program, const IndexDefinition& index);

// character varying(20), as PostgreSQL's format_type() says.
std::string formatted_type(int64_t type, int64_t modifier);
// The same, of a type of the database's own, too.
std::string formatted_type(const Catalog& catalog, int64_t type, int64_t modifier);
std::string index_definition(const Program& program, const IndexDefinition& index);
// `schema`: what stands before a table's name: nothing, or public. where the session's search path has no
// public.
std::string constraint_definition(const Program& program, const Constraint& constraint,
                                  std::string_view schema = {});
std::string procedure_arguments(const Program& program, const ir::Procedure& procedure);
// The result of a function that returns rows: SETOF or TABLE, and of what.
std::string shown_rows(const ir::Procedure& procedure);
// What stands between the dollar quotes.
std::string procedure_body(const Program& program, const ir::Procedure& procedure);
// A statement that makes the procedure, as PostgreSQL writes it.
std::string procedure_definition(const Program& program, const ir::Procedure& procedure);
// A column's DEFAULT, as PostgreSQL writes it: a constant's type stands behind it.
std::string default_expression(const Column& column, std::string_view schema = {});
// A function that reads a type's values; of type 0: one of arrays.
struct InputFunction {
  int64_t type;
  int64_t number;
  std::string_view name;
};
std::span<const InputFunction> input_functions();
// The number of the function that reads a type's values, as pg_type has it; 0: the type is not known.
int64_t input_function(int64_t type);
// The same by its name, and the name of such a number; an empty one if no type has it.
std::optional<int64_t> find_input_function(std::string_view name);
std::string_view input_function_name(int64_t number);
// The type of what a routine returns: void where it returns nothing.
int64_t result_type(const ir::Procedure& procedure);
// The names of a table's columns, with commas between.
std::string column_list(const TableDefinition& table, const std::vector<ColumnId>& columns);

}  // namespace mneme::oids
