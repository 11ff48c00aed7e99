#include "procedures/binder/schema_binder.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/names.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

namespace {

constexpr size_t kLongestText = 32767;
constexpr const char* kInvalidForeignKey = "42830";
constexpr std::array<std::string_view, 6> kSystemColumns = {"tableoid", "ctid", "xmin",
                                                            "cmin",     "xmax", "cmax"};

}  // namespace

Column bind_column(const syntax::ColumnDefinition& definition, const std::string& table,
                   const Catalog& catalog) {
  if (!definition.type.table.empty()) {
    refuse(definition.type.where, "%TYPE is for variables and parameters; write the column's type");
  }
  if (std::ranges::find(kSystemColumns, definition.name.text) != kSystemColumns.end()) {
    refuse(definition.name.where,
           "{} is a column that every table of PostgreSQL has already; choose another name",
           definition.name.text);
  }
  Type type = read_plain_type(definition.type, catalog);
  if (type.is_array) type = array_form(type);
  Column column{definition.name.text, type, !definition.not_null, definition.initial_text};
  column.identity = definition.identity;
  column.generated = definition.generated;
  if (definition.is_serial) column.sequence = syntax::sequence_name(table, definition.name.text);
  return column;
}

void assume_length(Column& column, bool is_in_key, uint16_t least) {
  if (column.type.kind != TypeKind::kVarchar || column.type.length != 0) return;
  const uint16_t length = is_in_key                                ? kAssumedKeyLength
                          : is_json(column.type)                   ? kAssumedJsonLength
                          : is_form(column.type, TextForm::kBytea) ? kAssumedByteaLength
                                                                   : kAssumedTextLength;
  column.assumed_length = std::max(length, least);
  if (is_in_key) column.type.length = column.assumed_length;
}

void check_initial(const Catalog& catalog, const syntax::Expr& initial, const Column& column) {
  ir::Procedure procedure;
  std::deque<std::string> strings;
  Names names(catalog, procedure);
  names.open_block();
  names.allow_sequences();
  ExpressionBinder binder(names, strings);
  binder.bind_for(initial, column.type, column.name);
}

bool sizes_a_column(const syntax::Check& check, std::vector<Column>& columns) {
  const syntax::Expr& condition = check.condition;
  if (condition.kind != syntax::ExprKind::kBinary || condition.op != ir::Op::kLessEqual) return false;
  const syntax::Expr& call = condition.args[0];
  const syntax::Expr& bound = condition.args[1];
  const bool is_length =
      call.kind == syntax::ExprKind::kCall && call.args.size() == 1 &&
      (call.text == "char_length" || call.text == "character_length" || call.text == "length") &&
      call.args[0].kind == syntax::ExprKind::kReference && call.args[0].qualifier.empty();
  if (!is_length || bound.kind != syntax::ExprKind::kInteger) return false;
  const auto column = std::ranges::find(columns, call.args[0].text, &Column::name);
  if (column == columns.end() || !column->type.is_text || is_form(column->type, TextForm::kUuid) ||
      is_array_form(column->type))
    return false;
  if (bound.text.size() > 5 || std::stoul(bound.text) > kLongestText || std::stoul(bound.text) == 0) {
    refuse(bound.where, "a text column's length is from 1 to {}", kLongestText);
  }
  auto length = static_cast<uint16_t>(std::stoul(bound.text));
  if (is_form(column->type, TextForm::kBytea)) {
    // Two characters a byte, behind \x.
    length = static_cast<uint16_t>(std::min<size_t>(kLongestText, 2 + 2 * size_t{length}));
  }
  if (check.name.empty() || length > kAssumedTextLength) column->type.length = length;
  return check.name.empty();
}

std::vector<ColumnId> bind_key(const std::vector<syntax::Name>& names, const std::vector<Column>& columns) {
  std::vector<ColumnId> key;
  for (const syntax::Name& name : names) {
    const auto column = std::ranges::find(columns, name.text, &Column::name);
    if (column == columns.end())
      refuse_as(sqlstate::kUndefinedColumn, name.where, "the table has no column {}", name.text);
    if (column->type.kind == TypeKind::kInterval) {
      refuse_as(
          sqlstate::kNotSupported, name.where,
          "a key of intervals is not supported: equal ones may be written differently; give it a column "
          "of what extract(epoch FROM ...) says");
    }
    if (is_array_form(column->type)) {
      refuse_as(
          sqlstate::kNotSupported, name.where,
          "a key of arrays is not supported: their order is not that of their texts; use a table of the "
          "elements");
    }
    if (is_json(column->type)) {
      const bool is_binary = is_form(column->type, TextForm::kJsonb);
      refuse_as(is_binary ? sqlstate::kNotSupported : sqlstate::kUndefinedObject, name.where, "{}",
                is_binary ? "a key of jsonb is not supported; give it a column of what it is found by"
                          : "data type json has no default operator class for access method \"btree\"");
    }
    key.push_back(ColumnId{static_cast<uint32_t>(column - columns.begin())});
  }
  return key;
}

std::vector<ColumnId> bind_primary_key(const std::vector<syntax::Name>& names,
                                       const std::vector<Column>& columns) {
  std::vector<ColumnId> key = bind_key(names, columns);
  for (size_t i = 0; i < key.size(); ++i) {
    if (columns[key[i].value].type.kind != TypeKind::kDecimal) continue;
    refuse_as(sqlstate::kNotSupported, names[i].where,
              "a primary key of numeric without precision is not supported: equal ones may be written "
              "differently; use numeric(p,s)");
  }
  return key;
}

// Refuses a name that another relation has.
static std::string free_name(const syntax::Name& name, const Catalog& catalog) {
  if (catalog.has_relation(name.text))
    refuse_as(sqlstate::kDuplicateRelation, name.where, "relation \"{}\" already exists", name.text);
  return name.text;
}

// Returns the name that PostgreSQL gives to what has none: `base`, with a number where that is taken.
static std::string free_name(const std::string& base, const Catalog& catalog) {
  std::string name = base;
  for (int number = 1; catalog.has_relation(name); ++number) name = base + std::to_string(number);
  return name;
}

std::string unique_name(const TableDefinition& table, const syntax::UniqueConstraint& constraint,
                        const Catalog& catalog) {
  if (!constraint.name.empty())
    return free_name({beside(table.name, constraint.name.text), constraint.name.where}, catalog);
  std::string name = table.name;
  for (const syntax::Name& column : constraint.columns) name += "_" + column.text;
  return free_name(name + "_key", catalog);
}

std::string primary_key_name(const std::string& table, const syntax::UniqueConstraint& constraint,
                             const Catalog& catalog) {
  if (!constraint.name.empty())
    return free_name({beside(table, constraint.name.text), constraint.name.where}, catalog);
  return free_name(table + "_pkey", catalog);
}

void add_unique(const syntax::UniqueConstraint& constraint, TableId id, Catalog& catalog) {
  const TableDefinition& table = catalog.table(id);
  const Result<IndexId> index =
      catalog.add_index(unique_name(table, constraint, catalog), id,
                        bind_key(constraint.columns, table.columns), true, IndexOrigin::kConstraint);
  if (!index) refuse(constraint.where, "{}", index.error().message);
}

bool has_constraint(const TableDefinition& table, const Catalog& catalog, const std::string& name) {
  return std::ranges::find(table.checks, name, &CheckConstraint::name) != table.checks.end() ||
         std::ranges::find(table.foreign_keys, name, &ForeignKey::name) != table.foreign_keys.end() ||
         std::ranges::any_of(table.indexes, [&](IndexId index) {
           return catalog.index(index).origin == IndexOrigin::kConstraint &&
                  bare_name(catalog.index(index).name) == name;
         });
}

namespace {

// Returns the name that is written, or PostgreSQL's: `base`, with a number where it is taken.
std::string free_constraint_name(const syntax::Name& written, const std::string& base,
                                 const TableDefinition& table, const Catalog& catalog) {
  if (!written.empty()) {
    if (has_constraint(table, catalog, written.text)) {
      refuse_as(sqlstate::kDuplicateObject, written.where,
                "constraint \"{}\" for relation \"{}\" already exists", written.text, table.name);
    }
    return written.text;
  }
  std::string name = base;
  for (int number = 1; has_constraint(table, catalog, name); ++number) name = base + std::to_string(number);
  return name;
}

std::vector<ColumnId> find_columns(const std::vector<syntax::Name>& names, const TableDefinition& table) {
  std::vector<ColumnId> columns;
  for (const syntax::Name& name : names) {
    const auto column = table.find_column(name.text);
    if (!column) {
      refuse_as(sqlstate::kUndefinedColumn, name.where,
                "column \"{}\" referenced in foreign key constraint does not exist", name.text);
    }
    columns.push_back(*column);
  }
  return columns;
}

// Returns whether a unique index of the table has just these columns.
bool is_unique_key(const TableDefinition& table, const Catalog& catalog,
                   const std::vector<ColumnId>& columns) {
  return std::ranges::any_of(table.indexes, [&](IndexId id) {
    const IndexDefinition& index = catalog.index(id);
    return index.unique && index.columns.size() == columns.size() &&
           std::ranges::is_permutation(index.columns, columns);
  });
}

}  // namespace

bool has_index_for(const TableDefinition& table, const Catalog& catalog,
                   const std::vector<ColumnId>& columns) {
  if (is_unique_key(table, catalog, columns)) return true;
  return std::ranges::any_of(table.indexes, [&](IndexId id) {
    const IndexDefinition& index = catalog.index(id);
    return !index.unique && index.columns.size() >= columns.size() &&
           std::is_permutation(columns.begin(), columns.end(), index.columns.begin(),
                               index.columns.begin() + static_cast<ptrdiff_t>(columns.size()));
  });
}

bool can_be_compared(const Type& a, const Type& b) {
  return a.kind == b.kind || (a.is_number() && b.is_number()) || (a.is_string() && b.is_string());
}

namespace {

// A chain of cascades that comes back to its first table would need as many statements as it is long.
bool cascades_to(const Catalog& catalog, TableId from, TableId to, std::vector<char>& seen) {
  if (from == to) return true;
  if (std::exchange(seen[from.value], 1) != 0) return false;
  return std::ranges::any_of(catalog.tables(), [&](const TableDefinition& table) {
    return std::ranges::any_of(table.foreign_keys, [&](const ForeignKey& key) {
      return key.referenced == from &&
             (key.on_delete == ForeignKeyAction::kCascade || key.on_update == ForeignKeyAction::kCascade) &&
             cascades_to(catalog, table.id, to, seen);
    });
  });
}

}  // namespace

std::vector<ColumnId> bind_condition(const syntax::Expr& written, const TableDefinition& table,
                                     const Catalog& catalog) {
  ir::Procedure procedure;
  std::deque<std::string> strings;
  Names names(catalog, procedure);
  names.open_block();
  const RowSource source{table.name, &table, 0};
  const ir::Expr condition = ExpressionBinder(names, strings, {&source, 1}).bind_condition(written);
  std::vector<ColumnId> columns;
  ir::walk(condition, [&](const ir::Expr& part) {
    if (part.kind != ir::ExprKind::kColumn) return;
    if (std::ranges::find(columns, part.column) == columns.end()) columns.push_back(part.column);
  });
  return columns;
}

void bind_check(const syntax::Check& check, TableId id, Catalog& catalog) {
  const TableDefinition& table = catalog.table(id);
  CheckConstraint made;
  made.columns = bind_condition(check.condition, table, catalog);
  std::string base(bare_name(table.name));
  if (made.columns.size() == 1) base += "_" + table.column(made.columns[0]).name;
  made.name = free_constraint_name(check.name, base + "_check", table, catalog);
  made.condition = check.text;
  catalog.add_check(id, std::move(made));
}

void bind_foreign_key(const syntax::ForeignKey& key, TableId id, Catalog& catalog) {
  const TableDefinition& table = catalog.table(id);
  const TableDefinition* const referenced = catalog.find_table(key.table.text);
  if (referenced == nullptr)
    refuse_as(sqlstate::kUndefinedTable, key.table.where, "relation \"{}\" does not exist", key.table.text);
  ForeignKey made;
  made.columns = find_columns(key.columns, table);
  made.referenced = referenced->id;
  made.on_delete = key.on_delete;
  made.on_update = key.on_update;
  made.deferrable = key.deferrable;
  made.deferred = key.deferred;
  if (!key.referenced.empty()) {
    made.referenced_columns = find_columns(key.referenced, *referenced);
  } else if (referenced->primary_key) {
    made.referenced_columns = catalog.index(*referenced->primary_key).columns;
  } else {
    refuse_as(sqlstate::kUndefinedObject, key.table.where,
              "there is no primary key for referenced table \"{}\"", referenced->name);
  }
  if (made.columns.size() != made.referenced_columns.size()) {
    refuse_as(kInvalidForeignKey, key.where,
              "number of referencing and referenced columns for foreign key disagree");
  }
  if (!is_unique_key(*referenced, catalog, made.referenced_columns)) {
    refuse_as(kInvalidForeignKey, key.where,
              "there is no unique constraint matching given keys for referenced table \"{}\"",
              referenced->name);
  }
  std::string base(bare_name(table.name));
  for (const ColumnId column : made.columns) base += "_" + table.column(column).name;
  made.name = free_constraint_name(key.name, base + "_fkey", table, catalog);
  for (size_t i = 0; i < made.columns.size(); ++i) {
    const Column& own = table.column(made.columns[i]);
    const Column& other = referenced->column(made.referenced_columns[i]);
    if (can_be_compared(own.type, other.type)) continue;
    refuse_as(sqlstate::kDatatypeMismatch, key.where,
              "foreign key constraint \"{}\" cannot be implemented: columns {} and {} are of types {} and {}",
              made.name, own.name, other.name, to_string(own.type), to_string(other.type));
  }
  const auto sets = [](ForeignKeyAction action) {
    return action == ForeignKeyAction::kSetNull || action == ForeignKeyAction::kSetDefault;
  };
  const bool sets_on_update = sets(key.on_update) || key.on_update == ForeignKeyAction::kCascade;
  const bool is_generated =
      std::ranges::any_of(made.columns, [&](ColumnId column) { return table.column(column).is_generated(); });
  if (is_generated && (sets_on_update || sets(key.on_delete))) {
    refuse(key.where, "invalid {} action for foreign key constraint containing generated column",
           sets_on_update ? "ON UPDATE" : "ON DELETE");
  }
  const bool cascades =
      key.on_delete == ForeignKeyAction::kCascade || key.on_update == ForeignKeyAction::kCascade;
  std::vector<char> seen(catalog.tables().size());
  if (cascades && cascades_to(catalog, id, made.referenced, seen)) {
    refuse_as(
        sqlstate::kNotSupported, key.where,
        "foreign key {} would cascade in a circle, which is not supported; leave CASCADE out, and delete "
        "or update the rows that refer to others first",
        made.name);
  }
  if (!has_index_for(table, catalog, made.columns)) {
    const Result<IndexId> added =
        catalog.add_index(free_name(beside(table.name, made.name + "_idx"), catalog), id, made.columns, false,
                          IndexOrigin::kForeignKey);
    if (!added) refuse(key.where, "{}", added.error().message);
  }
  catalog.add_foreign_key(id, std::move(made));
}

namespace {

void require_immutable(const ir::Expr& expr, const char* what) {
  ir::walk(expr, [&](const ir::Expr& part) {
    // The time of the statement is the only variable that there is.
    if (part.kind == ir::ExprKind::kVariable)
      refuse_as(sqlstate::kInvalidObjectDefinition, part.where, "{}", what);
  });
}

}  // namespace

ir::Expr bind_generated(const TableDefinition& table, const Column& column, const Catalog& catalog,
                        std::deque<std::string>& strings) {
  ir::Procedure procedure;
  Names names(catalog, procedure);
  names.open_block();
  const RowSource source{table.name, &table, 0};
  ir::Expr value = ExpressionBinder(names, strings, {&source, 1})
                       .bind_for(parse_expression(column.generated), column.type, column.name);
  require_immutable(value, "generation expression is not immutable");
  ir::walk(value, [&](const ir::Expr& part) {
    if (part.kind != ir::ExprKind::kColumn || !table.column(part.column).is_generated()) return;
    refuse_as(sqlstate::kInvalidObjectDefinition, part.where,
              "cannot use generated column \"{}\" in column generation expression",
              table.column(part.column).name);
  });
  ConstantFolder(strings).fold_alone(value);
  return value;
}

void check_generated_columns(const TableDefinition& table, const Catalog& catalog) {
  std::deque<std::string> strings;
  for (const Column& column : table.columns) {
    if (column.is_generated()) (void)bind_generated(table, column, catalog, strings);
  }
}

namespace {

bool names_column(const syntax::Expr& expr, const std::string& column) {
  if (expr.kind == syntax::ExprKind::kReference && expr.text == column) return true;
  return std::ranges::any_of(expr.args, [&](const syntax::Expr& arg) { return names_column(arg, column); });
}

}  // namespace

bool names_column(const std::string& text, const std::string& column) {
  return !text.empty() && names_column(parse_expression(text), column);
}

std::vector<ColumnId> columns_of_predicate(const IndexDefinition& index, const Catalog& catalog) {
  if (index.predicate.empty()) return {};
  return bind_condition(parse_expression(index.predicate), catalog.table(index.table), catalog);
}

syntax::Expr qualified(syntax::Expr expr, const std::string& name, const TableDefinition& table) {
  if (expr.kind == syntax::ExprKind::kReference &&
      (expr.qualifier.empty() || names_source(expr.qualifier, table.name)) && table.find_column(expr.text))
    expr.qualifier = name;
  for (syntax::Expr& arg : expr.args) arg = qualified(std::move(arg), name, table);
  return expr;
}

void bind_table(const syntax::Table& table, Catalog& catalog) {
  std::vector<Column> columns;
  for (const syntax::ColumnDefinition& definition : table.columns) {
    const auto has_its_name = [&](const Column& each) { return each.name == definition.name.text; };
    if (std::ranges::any_of(columns, has_its_name)) {
      refuse_as(sqlstate::kDuplicateColumn, definition.name.where, "column \"{}\" specified more than once",
                definition.name.text);
    }
    columns.push_back(bind_column(definition, table.name.text, catalog));
    const std::string sequence = syntax::sequence_name(table.name.text, definition.name.text);
    if (definition.is_serial && catalog.find_table(sequence) == nullptr) {
      refuse_as(
          sqlstate::kNotSupported, definition.type.where,
          "SERIAL is supported in a session's CREATE TABLE alone; write CREATE SEQUENCE before this, and "
          "DEFAULT nextval('its name')");
    }
    if (definition.initial) check_initial(catalog, *definition.initial, columns.back());
  }
  std::vector<const syntax::Check*> checks;
  for (const syntax::Check& check : table.checks) {
    if (!sizes_a_column(check, columns)) checks.push_back(&check);
  }
  const auto is_in_key = [&](const std::string& column) {
    const auto names_it = [&](const syntax::UniqueConstraint& constraint) {
      return std::ranges::find(constraint.columns, column, &syntax::Name::text) != constraint.columns.end();
    };
    return (table.primary_key && names_it(*table.primary_key)) || std::ranges::any_of(table.unique, names_it);
  };
  for (Column& column : columns) {
    assume_length(column, is_in_key(column.name));
  }
  std::vector<ColumnId> primary_key;
  if (table.primary_key) primary_key = bind_primary_key(table.primary_key->columns, columns);
  for (const ColumnId column : primary_key) columns[column.value].nullable = false;
  std::string key_name;
  if (table.primary_key) key_name = primary_key_name(table.name.text, *table.primary_key, catalog);
  const Result<TableId> added = catalog.add_table(table.name.text, columns, primary_key, std::move(key_name));
  if (!added.ok()) refuse(table.name.where, "{}", added.error().message);
  check_generated_columns(catalog.table(*added), catalog);
  for (const syntax::UniqueConstraint& constraint : table.unique) add_unique(constraint, *added, catalog);
  for (const syntax::Check* check : checks) bind_check(*check, *added, catalog);
  for (const syntax::ForeignKey& key : table.foreign_keys) bind_foreign_key(key, *added, catalog);
}

Value initial_value(const Catalog& catalog, const Column& column, std::deque<std::string>& strings) {
  if (column.initial.empty()) return Value::null();
  ir::Procedure procedure;
  Names names(catalog, procedure);
  names.open_block();
  const syntax::Expr written = parse_expression(column.initial);
  ir::Expr value = ExpressionBinder(names, strings).bind_for(written, column.type, column.name);
  ConstantFolder(strings).fold_alone(value);
  if (value.kind != ir::ExprKind::kConstant) {
    refuse_as(sqlstate::kNotSupported, written.where,
              "the DEFAULT of a column that is added is a constant here: {} is none; add the column without "
              "it, and "
              "UPDATE the rows",
              column.initial);
  }
  return value.constant;
}

// Names an index as PostgreSQL does where its statement gives no name.
std::string index_name(const syntax::Index& index, const Catalog& catalog) {
  if (!index.name.empty()) return index.name.text;
  std::string base = index.table.text;
  for (const syntax::Name& column : index.columns) base += "_" + column.text;
  base += "_idx";
  return free_name(base, catalog);
}

void bind_index(const syntax::Index& index, Catalog& catalog) {
  const TableDefinition* table = catalog.find_table(index.table.text);
  if (!table)
    refuse_as(sqlstate::kUndefinedTable, index.table.where,
              "there is no table {}; a file creates a table before its indexes", index.table.text);
  const bool is_partial = index.condition.has_value();
  if (is_partial) {
    ir::Procedure procedure;
    std::deque<std::string> strings;
    Names names(catalog, procedure);
    names.open_block();
    const RowSource source{table->name, table, 0};
    require_immutable(ExpressionBinder(names, strings, {&source, 1}).bind_condition(*index.condition),
                      "functions in index predicate must be marked IMMUTABLE");
  }
  if (is_partial && index.unique && !table->primary_key) {
    refuse_as(
        sqlstate::kNotSupported, index.table.where,
        "a unique index of some rows is supported for tables with a primary key alone, by which it tells "
        "a row from others; give table {} one",
        table->name);
  }
  const Result<IndexId> added =
      catalog.add_index(index_name(index, catalog), table->id, bind_key(index.columns, table->columns),
                        index.unique && !is_partial);
  if (!added.ok()) refuse(index.name.where, "{}", added.error().message);
  if (is_partial) catalog.set_predicate(*added, index.condition_text, index.unique);
}

void move_indexes(TableId id, std::string_view schema, ir::SourceLocation where, Catalog& catalog) {
  const auto moved = [&](const std::string& former) {
    std::string name = qualified_name(schema, bare_name(former));
    if (catalog.has_relation(name))
      refuse_as(sqlstate::kDuplicateRelation, where, "relation \"{}\" already exists", name);
    return name;
  };
  const std::vector<IndexId> indexes = catalog.table(id).indexes;
  for (const IndexId index : indexes) catalog.rename(index, moved(catalog.index(index).name));
}

}  // namespace mneme
