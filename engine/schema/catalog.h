// Catalog: the tables, columns and indexes of a database. Made by the binder from SQL, then constant.
//
// Copies      share the definitions (shared_list.h), so that a catalog which follows from another by one
//             change takes that change's time.
// Invariants  Ids are dense, in order of declaration; column ids count within their table.
//             Every table with a primary key has it as its first index, unique.
//             Tables and indexes share one space of names, as in PostgreSQL.
// Errors      what a declaration cannot be (a name taken, a key too wide) is an Error that names table and
//             column.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/shared_list.h"
#include "base/strong_id.h"
#include "engine/schema/enum_types.h"
#include "engine/schema/index_key.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"

namespace mneme {

using TableId = StrongId<struct TableIdTag>;
using ColumnId = StrongId<struct ColumnIdTag>;
using IndexId = StrongId<struct IndexIdTag>;

// Whether a column is an identity: its values come from its sequence, and an INSERT may give others, or may
// not. For the binder and the catalogs: the engine doesn't read it.
enum class Identity : uint8_t { kNone, kByDefault, kAlways };

struct Column {
  std::string name;
  Type type;
  bool nullable = true;
  // The value of an INSERT that gives none, as SQL; empty: NULL. For the binder: the engine doesn't read it.
  std::string initial = {};
  // The sequence that is dropped with the column, as SERIAL's; empty: there is none.
  std::string sequence = {};
  Identity identity = Identity::kNone;
  // What a column GENERATED ALWAYS AS (...) STORED is of the row's others, as SQL; empty: a plain column. For
  // the binder, as `initial` is: to the engine it is a column as any other.
  std::string generated = {};

  // A string that was declared without a length has here the one that earlier versions gave it, and
  // the catalog's hash has. Its type has it, too, where a key was declared with the table.
  uint16_t assumed_length = 0;

  bool is_generated() const { return !generated.empty(); }
  bool operator==(const Column&) const = default;
};

// What an index was made by: CREATE INDEX; PRIMARY KEY or UNIQUE; or FOREIGN KEY, for its own columns.
enum class IndexOrigin : uint8_t { kIndex, kConstraint, kForeignKey };

struct IndexDefinition {
  IndexId id;
  std::string name;
  TableId table;
  std::vector<ColumnId> columns;  // in key order
  // No two rows have the same values in all columns; NULL is not the same as NULL.
  bool unique = false;
  IndexOrigin origin = IndexOrigin::kIndex;
  // Some statement reads a range or a prefix of it: a B+tree then, else a hash table. The binder sets it once
  // all procedures are known.
  bool ordered = false;
  // The rows that CREATE INDEX ... WHERE makes it for, as SQL; empty: all. It has entries of all rows
  // nevertheless, so that whatever is found by it is found without a look at the condition.
  std::string predicate = {};
  // With a predicate: no two of its rows have the same values in all columns. `unique` is false then: the
  // binder sees to it, as it does to foreign keys.
  bool unique_in_part = false;

  bool operator==(const IndexDefinition&) const = default;
};

// What becomes of a row that refers to one that is deleted, or whose key changes.
enum class ForeignKeyAction : uint8_t { kNoAction, kRestrict, kCascade, kSetNull, kSetDefault };

// Rows whose columns are all not NULL have a row of the other table whose key is equal. The binder adds the
// statements that see to it to each INSERT, UPDATE and DELETE (procedures/binder/change_binder.h).
struct ForeignKey {
  std::string name;
  std::vector<ColumnId> columns;
  TableId referenced;
  std::vector<ColumnId> referenced_columns;  // a whole key of one of its unique indexes
  ForeignKeyAction on_delete = ForeignKeyAction::kNoAction;
  ForeignKeyAction on_update = ForeignKeyAction::kNoAction;
  // As declared. Each statement is checked all the same.
  bool deferrable = false;
  bool deferred = false;

  bool operator==(const ForeignKey&) const = default;
};

// A condition, as SQL, that is false for no row. The binder sees to it, as it does to foreign keys.
struct CheckConstraint {
  std::string name;
  std::string condition;
  std::vector<ColumnId> columns;  // that it names

  bool operator==(const CheckConstraint&) const = default;
};

// What a sequence counts by.
struct SequenceOptions {
  TypeKind type = TypeKind::kBigInt;
  int64_t increment = 1;
  int64_t least = 1;
  int64_t most = std::numeric_limits<int64_t>::max();
  int64_t start = 1;
  int64_t first = 1;  // `start`, or where it was restarted
  bool cycles = false;

  bool operator==(const SequenceOptions&) const = default;
};

struct TableDefinition {
  TableId id;
  std::string name;
  std::vector<Column> columns;
  std::optional<IndexId> primary_key;
  std::vector<IndexId> indexes;  // all of them, the primary key's first
  // Raised where the table goes on without its rows; and where it goes on with them, laid out anew.
  uint32_t times_emptied = 0;
  uint32_t times_remade = 0;
  std::vector<CheckConstraint> checks = {};
  std::vector<ForeignKey> foreign_keys = {};
  SequenceOptions sequence = {};  // for sequences alone

  bool operator==(const TableDefinition&) const = default;

  std::optional<ColumnId> find_column(std::string_view name) const;
  const Column& column(ColumnId id) const { return columns[id.value]; }
};

// A sequence is a table of one row: the number up to which it may have been drawn from. It has PostgreSQL's
// columns: last_value, log_cnt, which is 0 and the key, and is_called. Without a row it begins with `first`.
bool is_sequence(const TableDefinition& table);

// The bytes that a column takes in an index key (engine/schema/key_codec.h), its NULL byte included.
uint32_t key_bytes(const Column& column);

class Catalog;

// Texts of columns that may be longer than this, which no key is, lie elsewhere (long_text.h).
inline constexpr uint32_t kMostTextBytesInRow = 8 * kMaxKeyWords;
// The most bytes of a text: so many that a record of the log has room for its row.
inline constexpr uint32_t kMostTextBytes = 240 * 1024;

// Whether an index has the column.
bool is_indexed(const Catalog& catalog, const TableDefinition& table, ColumnId column);
// Whether the column's texts may lie elsewhere, as those without a length may, where no index has the column.
bool is_long_text(const Catalog& catalog, const TableDefinition& table, ColumnId column);
// How many bytes of text the column, a string, has room for.
uint32_t text_room(const Catalog& catalog, const TableDefinition& table, ColumnId column);

class Catalog {
 public:
  // Names are lower case. The primary key's columns become NOT NULL; no columns: no primary key. An empty
  // name of the key stands for TABLE_pkey.
  Result<TableId> add_table(std::string name, std::vector<Column> columns, std::vector<ColumnId> primary_key,
                            std::string key_name = {});
  // An index of no columns, not unique, lists its table's rows.
  Result<IndexId> add_index(std::string name, TableId table, std::vector<ColumnId> columns, bool unique,
                            IndexOrigin origin = IndexOrigin::kIndex);
  void mark_ordered(IndexId index, bool ordered = true);
  // The table's columns become NOT NULL, and its rows are laid out anew.
  Result<IndexId> add_primary_key(TableId table, std::vector<ColumnId> columns, std::string key_name = {});
  void empty(TableId table);
  // Makes the column the table's last one. The rows are laid out anew.
  Result<ColumnId> add_column(TableId table, Column column);
  // Takes out a column that no index and no constraint has. The columns behind it get lower numbers.
  void drop_column(TableId table, ColumnId column);
  void add_check(TableId table, CheckConstraint check);
  void drop_check(TableId table, std::string_view name);
  void add_foreign_key(TableId table, ForeignKey key);
  void drop_foreign_key(TableId table, std::string_view name);

  void set_sequence(TableId table, const SequenceOptions& options);
  // The sequence, if it is not empty, is dropped with the column.
  void set_owned(TableId table, ColumnId column, std::string sequence);
  void set_default(TableId table, ColumnId column, std::string initial);
  void set_identity(TableId table, ColumnId column, Identity identity);
  void set_generated(TableId table, ColumnId column, std::string expression);
  void set_predicate(IndexId index, std::string predicate, bool unique_in_part);
  // The rows are laid out anew. Both fail where a key would be too wide.
  Result<void> set_nullable(TableId table, ColumnId column, bool nullable);
  Result<void> set_type(TableId table, ColumnId column, const Type& type, uint16_t assumed_length = 0);

  // The caller has seen to it that the name is free, and rewrites what is SQL: defaults and conditions.
  void rename(TableId table, std::string name);
  void rename(IndexId index, std::string name);
  void rename_column(TableId table, ColumnId column, std::string name);
  void rename_check(TableId table, std::string_view former, const std::string& name);
  void rename_foreign_key(TableId table, std::string_view former, const std::string& name);
  void set_condition(TableId table, std::string_view check, std::string condition);

  // The catalog without a table, its indexes and the foreign keys that refer to it, or without an index. The
  // rows of a table that loses its primary key are laid out anew. What comes behind gets lower ids.
  Catalog without(TableId table) const;
  Catalog without(IndexId index) const;

  // The enum types, in the order in which they were made. add_enum() gives the definition its number.
  Result<Type> add_enum(EnumDefinition definition);
  // The type, in the catalog and its columns, is the other one from here on. Rows stay as they are: a label
  // keeps its position.
  Result<void> change_enum(const Type& former, const EnumDefinition& definition);
  void drop_enum(const Type& type);
  const std::vector<Type>& enums() const { return enums_; }
  std::optional<Type> find_enum(std::string_view name) const;

  const SharedList<TableDefinition>& tables() const { return tables_; }
  const SharedList<IndexDefinition>& indexes() const { return indexes_; }
  const TableDefinition& table(TableId id) const { return tables_[id.value]; }
  const IndexDefinition& index(IndexId id) const { return indexes_[id.value]; }
  // Whether the index keeps its entries in order, as a B+tree does. A unique one may be a hash table, unless
  // many rows may stand under one key of it, which holds a NULL.
  bool is_ordered(const IndexDefinition& index) const;
  // Whether the index's columns name one row at most, whatever their values.
  bool names_rows(const IndexDefinition& index) const;
  const TableDefinition* find_table(std::string_view name) const;
  const IndexDefinition* find_index(std::string_view name) const;
  // Tables and indexes.
  bool has_relation(std::string_view name) const;

 private:
  Catalog without(std::optional<TableId> table, const std::vector<IndexId>& indexes) const;
  IndexId append_index(std::string name, TableId table, std::vector<ColumnId> columns, bool unique,
                       IndexOrigin origin);
  // That the key columns exist, are distinct, and make a key that fits an IndexKey.
  Result<void> check_key(const TableDefinition& table, const std::string& name,
                         const std::vector<ColumnId>& columns, bool unique, bool is_primary_key) const;
  Result<void> check_keys(const TableDefinition& table) const;

  SharedList<TableDefinition> tables_;
  SharedList<IndexDefinition> indexes_;
  std::vector<Type> enums_;
};

}  // namespace mneme
