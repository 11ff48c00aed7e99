// ALTER TABLE, ALTER INDEX and sequences into the catalog.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "base/ascii.h"
#include "engine/schema/array_form.h"
#include "engine/schema/qualified_name.h"
#include "procedures/binder/names.h"
#include "procedures/binder/schema_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/renamed_text.h"
#include "procedures/parser/written_names.h"
#include "procedures/typing/conversion.h"

namespace mneme {

namespace {

using AlterationKind = syntax::Alteration::Kind;

void add_column(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const syntax::Table& added = alteration.added;
  const TableId id = table.id;
  if (table.find_column(added.columns[0].name.text)) {
    refuse_as(sqlstate::kDuplicateColumn, added.columns[0].name.where,
              "column \"{}\" of relation \"{}\" already exists", added.columns[0].name.text, table.name);
  }
  std::vector<Column> columns = {bind_column(added.columns[0], table.name, catalog)};
  if (added.columns[0].initial) check_initial(catalog, *added.columns[0].initial, columns[0]);
  std::vector<const syntax::Check*> checks;
  for (const syntax::Check& check : added.checks) {
    if (!sizes_a_column(check, columns)) checks.push_back(&check);
  }
  Column& column = columns[0];
  assume_length(column, !added.unique.empty());
  std::deque<std::string> strings;
  (void)initial_value(catalog, column, strings);
  if (const Result<ColumnId> made = catalog.add_column(id, column); !made)
    refuse(added.columns[0].name.where, "{}", made.error().message);
  check_generated_columns(catalog.table(id), catalog);
  if (added.primary_key) {
    refuse_as(sqlstate::kNotSupported, added.primary_key->where,
              "ADD COLUMN with PRIMARY KEY is not supported; add the column, then the key");
  }
  for (const syntax::UniqueConstraint& constraint : added.unique) add_unique(constraint, id, catalog);
  for (const syntax::Check* check : checks) bind_check(*check, id, catalog);
}

ColumnId column_of(const TableDefinition& table, const syntax::Name& name) {
  const std::optional<ColumnId> column = table.find_column(name.text);
  if (column) return *column;
  refuse_as(sqlstate::kUndefinedColumn, name.where, "column \"{}\" of relation \"{}\" does not exist",
            name.text, table.name);
}

bool contains_column(const std::vector<ColumnId>& columns, ColumnId column) {
  return std::ranges::find(columns, column) != columns.end();
}

void drop_column(const syntax::Name& name, const TableDefinition& table, Catalog& catalog) {
  const ColumnId column = column_of(table, name);
  bool is_used = table.columns.size() == 1;
  for (const IndexId index : table.indexes) is_used |= contains_column(catalog.index(index).columns, column);
  for (const CheckConstraint& check : table.checks) is_used |= contains_column(check.columns, column);
  for (const ForeignKey& key : table.foreign_keys) is_used |= contains_column(key.columns, column);
  const auto is_made_of_it = [&](const Column& each) { return names_column(each.generated, name.text); };
  is_used |= std::ranges::any_of(table.columns, is_made_of_it);
  for (const IndexId index : table.indexes)
    is_used |= contains_column(columns_of_predicate(catalog.index(index), catalog), column);
  if (is_used) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "column {} is part of a key, an index or a constraint of table {}, or its only column: "
              "dropping it is "
              "not supported",
              name.text, table.name);
  }
  catalog.drop_column(table.id, column);
}

void drop_constraint(const syntax::Name& name, const TableDefinition& table, Catalog& catalog) {
  if (std::ranges::find(table.checks, name.text, &CheckConstraint::name) != table.checks.end())
    return catalog.drop_check(table.id, name.text);
  const IndexDefinition* index = catalog.find_index(beside(table.name, name.text));
  if (index != nullptr && index->table == table.id && index->origin == IndexOrigin::kConstraint) {
    catalog = catalog.without(index->id);
    return;
  }
  if (std::ranges::find(table.foreign_keys, name.text, &ForeignKey::name) != table.foreign_keys.end()) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "a file that adds foreign key {} doesn't drop it again; leave both out", name.text);
  }
  refuse_as(sqlstate::kUndefinedObject, name.where, "constraint \"{}\" of relation \"{}\" does not exist",
            name.text, table.name);
}

void set_default(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const ColumnId column = column_of(table, alteration.changed);
  if (table.column(column).is_generated()) {
    refuse(alteration.changed.where, "column \"{}\" of relation \"{}\" is a generated column",
           alteration.changed.text, table.name);
  }
  if (alteration.initial) check_initial(catalog, *alteration.initial, table.column(column));
  catalog.set_default(table.id, column, alteration.initial_text);
}

// The column draws its DEFAULT from a sequence that it owns.
void set_identity(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const ColumnId column = column_of(table, alteration.changed);
  if (const std::string& own = table.column(column).sequence;
      own.empty() || drawn_sequence(table.column(column).initial) != own) {
    refuse_as(sqlstate::kNotSupported, alteration.changed.where,
              "ADD GENERATED AS IDENTITY is supported in a session's ALTER TABLE alone");
  }
  catalog.set_identity(table.id, column, alteration.identity);
}

void set_nullable(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const ColumnId column = column_of(table, alteration.changed);
  const bool nullable = alteration.kind == AlterationKind::kDropNotNull;
  if (table.column(column).nullable == nullable) return;
  if (nullable && table.primary_key && contains_column(catalog.index(*table.primary_key).columns, column)) {
    refuse_as(sqlstate::kInvalidTable, alteration.changed.where, "column \"{}\" is in a primary key",
              alteration.changed.text);
  }
  if (Result<void> set = catalog.set_nullable(table.id, column, nullable); !set.ok())
    refuse_as(sqlstate::kProgramLimit, alteration.changed.where, "{}", set.error().message);
}

// USING may say no more than what is done without it.
void check_conversion(const syntax::Alteration& alteration, const Type& from, const Type& to,
                      const Catalog& catalog) {
  const std::string& name = alteration.changed.text;
  if (!alteration.value) {
    if (is_assigned_without_cast(from, to)) return;
    refuse_as(sqlstate::kDatatypeMismatch, alteration.changed.where,
              "column \"{}\" cannot be cast automatically to type {}; write USING {}::{}", name,
              to_string(to), name, to_string(to));
  }
  const syntax::Expr* value = &*alteration.value;
  const bool casts = value->kind == syntax::ExprKind::kCast;
  const bool same_type =
      !casts || read_plain_type(value->type, catalog) == read_plain_type(alteration.type, catalog);
  if (casts) value = &value->args[0];
  // The usual way from one enum type to another: USING c::text::other.
  const bool is_by_label = casts && from.kind == TypeKind::kEnum && to.kind == TypeKind::kEnum &&
                           value->kind == syntax::ExprKind::kCast &&
                           read_plain_type(value->type, catalog) == text_type();
  if (is_by_label) value = &value->args[0];
  const bool is_column = value->kind == syntax::ExprKind::kReference && value->text == name;
  // A value that is too long for its type is refused, not cut.
  if (!same_type || !is_column) {
    refuse_as(sqlstate::kNotSupported, alteration.value->where,
              "USING is the column itself, or its cast to the new type; for other values add a column, "
              "UPDATE the rows, drop the former column, and rename");
  }
  if (!casts && !is_assigned_without_cast(from, to)) {
    refuse_as(sqlstate::kDatatypeMismatch, alteration.value->where,
              "result of USING clause for column \"{}\" cannot be cast automatically to type {}", name,
              to_string(to));
  }
  const bool casts_bool = (from.kind == TypeKind::kBoolean && to.kind == TypeKind::kInt) ||
                          (from.kind == TypeKind::kInt && to.kind == TypeKind::kBoolean);
  // A text is read; an array's elements are, where they are texts.
  const bool is_read =
      is_array_form(from) ? is_array_form(to) && declared_element(from).is_string() : from.is_string();
  if (!is_assigned_without_cast(from, to) && !is_read && !casts_bool && !is_by_label) {
    refuse_as(sqlstate::kCannotCoerce, alteration.value->where, "cannot cast type {} to {}", to_string(from),
              to_string(to));
  }
}

void check_references(const TableDefinition& table, const Catalog& catalog, ir::SourceLocation where) {
  for (const TableDefinition& other : catalog.tables()) {
    for (const ForeignKey& key : other.foreign_keys) {
      if (key.referenced != table.id && other.id != table.id) continue;
      const TableDefinition& referenced = catalog.table(key.referenced);
      for (size_t i = 0; i < key.columns.size(); ++i) {
        const Column& own = other.column(key.columns[i]);
        const Column& its = referenced.column(key.referenced_columns[i]);
        if (can_be_compared(own.type, its.type)) continue;
        refuse_as(
            sqlstate::kDatatypeMismatch, where,
            "foreign key constraint \"{}\" cannot be implemented: columns {} and {} are of types {} and {}",
            key.name, own.name, its.name, to_string(own.type), to_string(its.type));
      }
    }
  }
}

// Values that were made of others' would have to be made once more.
void check_not_in_expression(const TableDefinition& table, ColumnId column, const syntax::Name& name,
                             const Catalog& catalog) {
  if (table.column(column).is_generated()) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "ALTER TYPE of a generated column is not supported; drop it, and add it with the other type");
  }
  for (const Column& each : table.columns) {
    if (names_column(each.generated, name.text))
      refuse_as(sqlstate::kNotSupported, name.where,
                "cannot alter type of a column used by a generated column");
  }
  for (const IndexId index : table.indexes) {
    if (!contains_column(columns_of_predicate(catalog.index(index), catalog), column)) continue;
    refuse_as(sqlstate::kNotSupported, name.where,
              "ALTER TYPE of a column in the condition of index {} is not supported; drop the index first",
              catalog.index(index).name);
  }
}

void set_type(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const TableId id = table.id;
  const ColumnId column = column_of(table, alteration.changed);
  const Type former = table.column(column).type;
  check_not_in_expression(table, column, alteration.changed, catalog);
  syntax::ColumnDefinition definition{alteration.changed, alteration.type};
  Column changed = bind_column(definition, table.name, catalog);
  changed.initial = table.column(column).initial;
  assume_length(
      changed, is_indexed(catalog, table, column),
      former.is_string() ? std::max(former.length, table.column(column).assumed_length) : uint16_t{0});
  if (changed.type.kind == TypeKind::kInterval && former.kind != TypeKind::kInterval) {
    const bool in_key = std::ranges::any_of(
        table.indexes, [&](IndexId index) { return contains_column(catalog.index(index).columns, column); });
    if (in_key) {
      refuse_as(sqlstate::kNotSupported, alteration.changed.where,
                "{} is in a key, and a key of intervals is not supported; drop its index or constraint first",
                alteration.changed.text);
    }
  }
  const bool is_in_primary_key =
      table.primary_key && contains_column(catalog.index(*table.primary_key).columns, column);
  if (changed.type.kind == TypeKind::kDecimal && is_in_primary_key) {
    refuse_as(sqlstate::kNotSupported, alteration.changed.where,
              "{} is in the primary key, which may not be numeric without precision; use numeric(p,s)",
              alteration.changed.text);
  }
  const bool is_in_key = std::ranges::any_of(
      table.indexes, [&](IndexId index) { return contains_column(catalog.index(index).columns, column); });
  if ((is_json(changed.type) || is_array_form(changed.type)) && is_in_key) {
    refuse_as(sqlstate::kNotSupported, alteration.changed.where,
              "{} is in a key, and a key of {} is not supported; drop its index or constraint first",
              alteration.changed.text, is_json(changed.type) ? "json" : "arrays");
  }
  check_conversion(alteration, former, changed.type, catalog);
  if (!changed.initial.empty()) {
    try {
      check_initial(catalog, parse_expression(changed.initial), changed);
    } catch (const SourceError&) {
      refuse_as(sqlstate::kDatatypeMismatch, alteration.changed.where,
                "default for column \"{}\" cannot be cast automatically to type {}", alteration.changed.text,
                to_string(changed.type));
    }
  }
  if (const Result<void> made = catalog.set_type(id, column, changed.type, changed.assumed_length); !made)
    refuse(alteration.changed.where, "{}", made.error().message);
  for (const CheckConstraint& check : catalog.table(id).checks) {
    if (contains_column(check.columns, column))
      bind_condition(parse_expression(check.condition), catalog.table(id), catalog);
  }
  check_references(catalog.table(id), catalog, alteration.changed.where);
}

// Gives generated columns and indexes' conditions the names that are now.
void rename_in_expressions(TableId id, Catalog& catalog,
                           const std::function<std::string(const std::string&)>& renamed) {
  const TableDefinition table = catalog.table(id);
  for (uint32_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].is_generated())
      catalog.set_generated(id, ColumnId{c}, renamed(table.columns[c].generated));
  }
  for (const IndexId each : table.indexes) {
    const IndexDefinition index = catalog.index(each);
    if (!index.predicate.empty()) catalog.set_predicate(each, renamed(index.predicate), index.unique_in_part);
  }
}

void rename_column(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const TableId id = table.id;
  const std::string& name = alteration.new_name.text;
  const ColumnId column = column_of(table, alteration.changed);
  if (table.find_column(name)) {
    refuse_as(sqlstate::kDuplicateColumn, alteration.new_name.where,
              "column \"{}\" of relation \"{}\" already exists", name, table.name);
  }
  const std::vector<CheckConstraint> checks = table.checks;
  const std::string& former = alteration.changed.text;
  catalog.rename_column(id, column, name);
  for (const CheckConstraint& check : checks) {
    if (contains_column(check.columns, column))
      catalog.set_condition(id, check.name, with_column_renamed(check.condition, former, name));
  }
  rename_in_expressions(id, catalog,
                        [&](const std::string& text) { return with_column_renamed(text, former, name); });
}

void rename_constraint(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const std::string& former = alteration.changed.text;
  const std::string& name = alteration.new_name.text;
  if (!has_constraint(table, catalog, former)) {
    refuse_as(sqlstate::kUndefinedObject, alteration.changed.where,
              "constraint \"{}\" for table \"{}\" does not exist", former, table.name);
  }
  const IndexDefinition* index = catalog.find_index(beside(table.name, former));
  const bool is_index = index != nullptr && index->table == table.id;
  if (is_index && catalog.has_relation(beside(table.name, name))) {
    refuse_as(sqlstate::kDuplicateRelation, alteration.new_name.where, "relation \"{}\" already exists",
              name);
  }
  if (has_constraint(table, catalog, name)) {
    refuse_as(sqlstate::kDuplicateObject, alteration.new_name.where,
              "constraint \"{}\" for relation \"{}\" already exists", name, table.name);
  }
  if (is_index) return catalog.rename(index->id, beside(table.name, name));
  if (std::ranges::find(table.checks, former, &CheckConstraint::name) != table.checks.end())
    return catalog.rename_check(table.id, former, name);
  catalog.rename_foreign_key(table.id, former, name);
}

// A sequence's name stands in the DEFAULTs that draw from it.
void rename_draws(const std::string& former, const std::string& name, Catalog& catalog) {
  for (uint32_t t = 0; t < catalog.tables().size(); ++t) {
    const TableId id{t};
    for (uint32_t c = 0; c < catalog.table(id).columns.size(); ++c) {
      const Column column = catalog.table(id).columns[c];
      if (column.sequence == former) catalog.set_owned(id, ColumnId{c}, name);
      if (drawn_sequence(column.initial) == former) catalog.set_default(id, ColumnId{c}, written_draw(name));
    }
  }
}

void rename_relation(const syntax::Alteration& alteration, Catalog& catalog) {
  const std::string former = alteration.table.text;
  const std::string& name = alteration.new_name.text;
  if (catalog.has_relation(name)) {
    refuse_as(sqlstate::kDuplicateRelation, alteration.new_name.where, "relation \"{}\" already exists",
              name);
  }
  if (const IndexDefinition* index = catalog.find_index(former)) return catalog.rename(index->id, name);
  const TableId id = catalog.find_table(former)->id;
  if (schema_of(former) != schema_of(name))
    move_indexes(id, schema_of(name), alteration.new_name.where, catalog);
  const bool draws = is_sequence(catalog.table(id));
  const std::vector<CheckConstraint> checks = catalog.table(id).checks;
  catalog.rename(id, name);
  for (const CheckConstraint& check : checks)
    catalog.set_condition(id, check.name, with_table_renamed(check.condition, former, name));
  rename_in_expressions(id, catalog,
                        [&](const std::string& text) { return with_table_renamed(text, former, name); });
  if (!draws) return;
  rename_draws(former, name, catalog);
  // Nobody sees a sequence's key: its name stays free for another sequence of the former name.
  if (!catalog.has_relation(name + "_pkey")) catalog.rename(*catalog.table(id).primary_key, name + "_pkey");
}

void add_key(const syntax::Alteration& alteration, const TableDefinition& table, Catalog& catalog) {
  const syntax::UniqueConstraint& constraint = alteration.key;
  if (alteration.kind == AlterationKind::kAddUnique) return add_unique(constraint, table.id, catalog);
  if (table.primary_key) {
    refuse_as(sqlstate::kInvalidTable, constraint.where,
              "multiple primary keys for table \"{}\" are not allowed", table.name);
  }
  std::vector<ColumnId> key = bind_primary_key(constraint.columns, table.columns);
  std::string name = primary_key_name(table.name, constraint, catalog);
  const Result<IndexId> added = catalog.add_primary_key(table.id, std::move(key), std::move(name));
  if (!added) refuse(constraint.where, "{}", added.error().message);
}

}  // namespace

void bind_alteration(const syntax::Alteration& alteration, Catalog& catalog) {
  const bool renames = alteration.kind == AlterationKind::kRenameTo;
  const TableDefinition* table = catalog.find_table(alteration.table.text);
  if (table == nullptr && !(renames && catalog.find_index(alteration.table.text) != nullptr)) {
    if (alteration.if_exists) return;
    refuse_as(sqlstate::kUndefinedTable, alteration.table.where,
              "there is no table {}; a file creates a table before it changes it", alteration.table.text);
  }
  switch (alteration.kind) {
    case AlterationKind::kAddColumn: {
      const bool is_there = table->find_column(alteration.added.columns[0].name.text).has_value();
      if (is_there && alteration.added.if_not_exists) return;
      return add_column(alteration, *table, catalog);
    }
    case AlterationKind::kDropColumn:
      if (alteration.if_changed_exists && !table->find_column(alteration.changed.text)) return;
      return drop_column(alteration.changed, *table, catalog);
    case AlterationKind::kDropConstraint:
      if (alteration.if_changed_exists && !has_constraint(*table, catalog, alteration.changed.text)) return;
      return drop_constraint(alteration.changed, *table, catalog);
    case AlterationKind::kSetDefault:
    case AlterationKind::kDropDefault:
      return set_default(alteration, *table, catalog);
    case AlterationKind::kAddIdentity:
      return set_identity(alteration, *table, catalog);
    case AlterationKind::kSetNotNull:
    case AlterationKind::kDropNotNull:
      return set_nullable(alteration, *table, catalog);
    case AlterationKind::kSetType:
      return set_type(alteration, *table, catalog);
    case AlterationKind::kRenameTo:
      return rename_relation(alteration, catalog);
    case AlterationKind::kRenameColumn:
      return rename_column(alteration, *table, catalog);
    case AlterationKind::kRenameConstraint:
      return rename_constraint(alteration, *table, catalog);
    case AlterationKind::kAddPrimaryKey:
    case AlterationKind::kAddUnique:
      return add_key(alteration, *table, catalog);
    case AlterationKind::kAddCheck:
      return bind_check(alteration.check, table->id, catalog);
    case AlterationKind::kAddForeignKey:
      return bind_foreign_key(alteration.foreign_key, table->id, catalog);
  }
}

std::string drawn_sequence(const std::string& initial) {
  if (initial.find('(') == initial.npos) return {};
  const syntax::Expr written = parse_expression(initial);
  const syntax::Expr* call = &written;
  while (call->kind == syntax::ExprKind::kCast) call = &call->args[0];
  if (call->kind != syntax::ExprKind::kCall || call->text != "nextval" || call->args.size() != 1) return {};
  const syntax::Expr* argument = &call->args[0];
  while (argument->kind == syntax::ExprKind::kCast) argument = &argument->args[0];
  return read_relation_name(argument->text);
}

namespace {

constexpr const char* kInvalidParameterValue = "22023";

std::pair<int64_t, int64_t> bounds_of(TypeKind type) {
  if (type == TypeKind::kSmallInt)
    return {std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()};
  if (type == TypeKind::kInt)
    return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
  return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
}

std::string_view name_of_type(TypeKind type) {
  return type == TypeKind::kSmallInt ? "smallint" : type == TypeKind::kInt ? "integer" : "bigint";
}

void check_start(std::string_view what, int64_t value, const SequenceOptions& options,
                 ir::SourceLocation where) {
  if (value < options.least) {
    refuse_as(kInvalidParameterValue, where, "{} value ({}) cannot be less than MINVALUE ({})", what, value,
              options.least);
  }
  if (value > options.most) {
    refuse_as(kInvalidParameterValue, where, "{} value ({}) cannot be greater than MAXVALUE ({})", what,
              value, options.most);
  }
}

// Changes the options to what the statement says, as PostgreSQL's init_params() does.
void set_options(const syntax::Sequence& from, SequenceOptions& options) {
  const ir::SourceLocation where = from.name.where;
  const TypeKind former = options.type;
  if (from.type) options.type = *from.type;
  const auto [lowest, highest] = bounds_of(options.type);
  if (from.increment) options.increment = *from.increment;
  if (options.increment == 0) refuse_as(kInvalidParameterValue, where, "INCREMENT must not be zero");
  const bool rises = options.increment > 0;
  if (from.cycles) options.cycles = *from.cycles;
  const bool new_most = !from.alters || from.no_most || options.most == bounds_of(former).second;
  if (from.most) {
    options.most = *from.most;
  } else if (new_most && (!from.alters || from.no_most || former != options.type)) {
    options.most = rises ? highest : -1;
  }
  const bool new_least = !from.alters || from.no_least || options.least == bounds_of(former).first;
  if (from.least) {
    options.least = *from.least;
  } else if (new_least && (!from.alters || from.no_least || former != options.type)) {
    options.least = rises ? 1 : lowest;
  }
  if (options.most > highest || options.most < lowest) {
    refuse_as(kInvalidParameterValue, where, "MAXVALUE ({}) is out of range for sequence data type {}",
              options.most, name_of_type(options.type));
  }
  if (options.least > highest || options.least < lowest) {
    refuse_as(kInvalidParameterValue, where, "MINVALUE ({}) is out of range for sequence data type {}",
              options.least, name_of_type(options.type));
  }
  if (options.least >= options.most) {
    refuse_as(kInvalidParameterValue, where, "MINVALUE ({}) must be less than MAXVALUE ({})", options.least,
              options.most);
  }
  if (from.start) {
    options.start = *from.start;
  } else if (!from.alters) {
    options.start = rises ? options.least : options.most;
  }
  check_start("START", options.start, options, where);
  if (!from.alters) options.first = options.start;
  if (from.restarts) options.first = from.restart.value_or(options.start);
  check_start("RESTART", options.first, options, where);
}

void leave_owner(const std::string& sequence, Catalog& catalog) {
  for (uint32_t t = 0; t < catalog.tables().size(); ++t) {
    const std::vector<Column>& columns = catalog.tables()[t].columns;
    const auto owner = std::ranges::find(columns, sequence, &Column::sequence);
    if (owner == columns.end()) continue;
    return catalog.set_owned(TableId{t}, ColumnId{static_cast<uint32_t>(owner - columns.begin())}, {});
  }
}

void set_owner(const syntax::Sequence& sequence, Catalog& catalog) {
  leave_owner(sequence.name.text, catalog);
  if (sequence.owner.empty()) return;
  const TableDefinition* table = catalog.find_table(sequence.owner.text);
  if (table == nullptr) {
    refuse_as(sqlstate::kUndefinedTable, sequence.owner.where, "relation \"{}\" does not exist",
              sequence.owner.text);
  }
  const std::optional<ColumnId> column = table->find_column(sequence.owner_column.text);
  if (!column) {
    refuse_as(sqlstate::kUndefinedColumn, sequence.owner_column.where,
              "column \"{}\" of relation \"{}\" does not exist", sequence.owner_column.text, table->name);
  }
  if (const std::string& other = table->column(*column).sequence; !other.empty()) {
    refuse_as(sqlstate::kNotSupported, sequence.owner.where,
              "column {} owns sequence {} already, and owns one at most; write OWNED BY NONE for that first",
              sequence.owner_column.text, other);
  }
  catalog.set_owned(table->id, *column, sequence.name.text);
}

}  // namespace

void bind_sequence(const syntax::Sequence& sequence, Catalog& catalog) {
  SequenceOptions options;
  const TableDefinition* former = catalog.find_table(sequence.name.text);
  if (sequence.alters) {
    if (former == nullptr || !is_sequence(*former))
      refuse_as(sqlstate::kUndefinedTable, sequence.name.where, "there is no sequence {}",
                sequence.name.text);
    options = former->sequence;
  }
  set_options(sequence, options);
  TableId id{};
  if (sequence.alters) {
    id = former->id;
  } else {
    const Type number{.kind = TypeKind::kBigInt};
    const Type flag{.kind = TypeKind::kBoolean};
    const Result<TableId> added = catalog.add_table(
        sequence.name.text,
        {{"last_value", number, false}, {"log_cnt", number, false}, {"is_called", flag, false}},
        {ColumnId{1}});
    if (!added) refuse(sequence.name.where, "{}", added.error().message);
    id = *added;
  }
  catalog.set_sequence(id, options);
  if (sequence.is_owned) set_owner(sequence, catalog);
}

void drop_sequence(const std::string& name, Catalog& catalog) {
  const TableDefinition* sequence = catalog.find_table(name);
  if (sequence == nullptr) return;
  leave_owner(name, catalog);
  catalog = catalog.without(catalog.find_table(name)->id);
}

std::string print_sequence(const syntax::Sequence& sequence) {
  std::string text =
      (sequence.alters ? "ALTER SEQUENCE " : "CREATE SEQUENCE ") + written_name(sequence.name.text);
  const auto add = [&](std::string_view word, const std::optional<int64_t>& value) {
    if (value) text += fmt::format(" {} {}", word, *value);
  };
  if (sequence.type) text += fmt::format(" AS {}", name_of_type(*sequence.type));
  add("INCREMENT BY", sequence.increment);
  add("MINVALUE", sequence.least);
  add("MAXVALUE", sequence.most);
  if (sequence.no_least) text += " NO MINVALUE";
  if (sequence.no_most) text += " NO MAXVALUE";
  add("START WITH", sequence.start);
  if (sequence.restarts && !sequence.restart) text += " RESTART";
  if (sequence.restarts) add("RESTART WITH", sequence.restart);
  if (sequence.cycles) text += *sequence.cycles ? " CYCLE" : " NO CYCLE";
  if (!sequence.is_owned) return text;
  if (sequence.owner.empty()) return text + " OWNED BY NONE";
  return text + fmt::format(" OWNED BY {}.{}", written_name(sequence.owner.text),
                            written_name(sequence.owner_column.text));
}

}  // namespace mneme
