// Syntax of a schema: tables with their columns, constraints and sequences, indexes, and what ALTER changes.
//
// Invariants  as syntax.h has them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema/catalog.h"
#include "procedures/parser/syntax_queries.h"

namespace mneme::syntax {

// CREATE SEQUENCE or ALTER SEQUENCE. What is not written keeps its value, or gets PostgreSQL's.
struct Sequence {
  Name name;
  bool alters = false;
  bool if_exists = false;  // CREATE: IF NOT EXISTS
  std::optional<TypeKind> type;
  std::optional<int64_t> increment;
  std::optional<int64_t> least;
  std::optional<int64_t> most;
  bool no_least = false;
  bool no_most = false;
  std::optional<int64_t> start;
  bool restarts = false;
  std::optional<int64_t> restart;
  std::optional<bool> cycles;
  bool is_owned = false;  // OWNED BY is written
  Name owner;             // empty: NONE
  Name owner_column;
};

struct ColumnDefinition {
  Name name;
  TypeName type;
  bool not_null = false;
  std::optional<Expr> initial = std::nullopt;               // DEFAULT
  std::string initial_text = {};                            // as written
  bool is_serial = false;                                   // the DEFAULT draws from a sequence of its own
  std::optional<Sequence> sequence_options = std::nullopt;  // of that one, as IDENTITY has them
};

// The sequence of a table's SERIAL column, as PostgreSQL names it.
inline std::string sequence_name(const std::string& table, const std::string& column) {
  return table + "_" + column + "_seq";
}

struct UniqueConstraint {
  Name name;  // empty: PostgreSQL's rule names it
  std::vector<Name> columns;
  SourceLocation where;
};

struct ForeignKey {
  Name name;  // empty: PostgreSQL's rule names it
  std::vector<Name> columns;
  Name table;
  std::vector<Name> referenced;  // empty: the table's primary key
  ForeignKeyAction on_delete = ForeignKeyAction::kNoAction;
  ForeignKeyAction on_update = ForeignKeyAction::kNoAction;
  SourceLocation where;
};

struct Check {
  Name name;  // empty: PostgreSQL's rule names it
  Expr condition;
  std::string text;  // the condition, as written
  bool is_of_column = false;
};

// LIKE table INCLUDING ..., in the place of columns.
struct LikeTable {
  Name table;
  size_t place = 0;  // so many columns stand before it
  bool defaults = false;
  bool constraints = false;
  bool identity = false;
  bool indexes = false;
};

struct Table {
  Name name;
  bool if_not_exists = false;
  std::vector<LikeTable> like;
  // CREATE TABLE AS and SELECT INTO: the query whose columns, and rows, are the table's.
  std::shared_ptr<const Query> query;
  std::vector<Name> column_names;  // with a query
  bool with_data = true;
  std::vector<ColumnDefinition> columns;
  std::optional<UniqueConstraint> primary_key;
  std::vector<UniqueConstraint> unique;
  std::vector<Check> checks;
  std::vector<ForeignKey> foreign_keys;
};

struct Index {
  Name name;  // empty: PostgreSQL's rule names it
  Name table;
  std::vector<Name> columns;
  bool unique = false;
  bool if_not_exists = false;
};

// One action of ALTER TABLE. ALTER INDEX and ALTER SEQUENCE ... RENAME are kRenameTo.
struct Alteration {
  enum class Kind {
    kAddPrimaryKey,
    kAddUnique,
    kAddCheck,
    kAddForeignKey,
    kAddColumn,
    kDropColumn,
    kDropConstraint,
    kSetDefault,
    kDropDefault,
    kSetNotNull,
    kDropNotNull,
    kSetType,
    kRenameTo,
    kRenameColumn,
    kRenameConstraint,
  };

  Kind kind = Kind::kAddColumn;
  Name table;
  bool if_exists = false;
  UniqueConstraint key;  // kAddPrimaryKey, kAddUnique
  Check check;
  ForeignKey foreign_key;
  std::string constraint_text = {};  // of one that is added, without CONSTRAINT and its name
  Table added = {};                  // of one column, with its constraints; `if_not_exists`
  Name changed = {};                 // the column or constraint that is dropped, changed or renamed
  bool if_changed_exists = false;    // DROP ... IF EXISTS
  bool cascades = false;
  std::optional<Expr> initial = std::nullopt;  // kSetDefault
  std::string initial_text = {};
  TypeName type = {};                        // kSetType
  std::optional<Expr> value = std::nullopt;  // kSetType: USING
  Name new_name = {};
};

}  // namespace mneme::syntax
