#include "procedures/catalog/relation_rows.h"

#include <algorithm>
#include <string>

#include "engine/schema/array_form.h"
#include "procedures/catalog/object_numbers.h"
#include "procedures/catalog/view_text.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/parser.h"
#include "procedures/query/bound_select.h"
#include "procedures/values/type_oids.h"

namespace mneme::relation_rows {

namespace {

int64_t schema_of(const SystemTable& table) {
  return table.schema == "pg_catalog" ? oids::kPgCatalog : oids::kInformationSchema;
}

// An index of a table's columns, other than a sequence's. PostgreSQL makes none for a foreign key: a client
// that compares indexes with those of its own schema would want to drop it.
bool is_listed(const Program& program, const IndexDefinition& index) {
  return !index.columns.empty() && index.origin != IndexOrigin::kForeignKey &&
         !is_sequence(program.catalog.table(index.table));
}

const Type& type_of_sequence(const SequenceOptions& options) {
  static constexpr Type kSmall{.kind = TypeKind::kSmallInt};
  static constexpr Type kPlain{.kind = TypeKind::kInt};
  static constexpr Type kBig{.kind = TypeKind::kBigInt};
  return options.type == TypeKind::kSmallInt ? kSmall : options.type == TypeKind::kInt ? kPlain : kBig;
}

// An expression is one, too, and an identity's none.
bool has_default(const Column& column) {
  return column.is_generated() || (!column.initial.empty() && column.identity == Identity::kNone);
}

void set_column(RowMaker& rows, int64_t relation, const Column& column, size_t number) {
  rows.set("attrelid", relation).set("attname", column.name).set("attnum", static_cast<int64_t>(number));
  rows.set("atttypid", int64_t{oid_of(column.type)}).set("attlen", int64_t{length_of(column.type)});
  rows.set("atttypmod",
           int64_t{column.assumed_length > 0 && !is_array_form(column.type) ? -1 : modifier_of(column.type)})
      .set("attnotnull", !column.nullable);
  rows.set("atthasdef", has_default(column));
  if (column.is_generated()) rows.set("attgenerated", "s");
  if (column.identity != Identity::kNone)
    rows.set("attidentity", column.identity == Identity::kAlways ? "a" : "d");
  if (column.type.kind == TypeKind::kNumeric || column.type.kind == TypeKind::kDecimal) {
    rows.set("attstorage", "m");
  } else if (column.type.is_string() || column.type.is_array) {
    rows.set("attstorage", "x");
  }
  if (is_form(column.type, TextForm::kUuid)) rows.set("attstorage", "p");
  const Type element = is_array_form(column.type) ? declared_element(column.type) : column.type;
  if (is_array_form(column.type)) rows.set("attndims", int64_t{1});
  if (element.is_string() && form_name(element) == nullptr) rows.set("attcollation", oids::kDefaultCollation);
  rows.add();
}

}  // namespace

std::vector<ResultColumn> columns_of(const SystemCatalog& catalog, const View& view) {
  try {
    std::vector<Type> parameters;
    std::vector<ResultColumn> columns =
        bind_select(catalog.program(), *parse_command(view.text).operation->query, parameters, nullptr,
                    &catalog)
            ->columns;
    for (size_t i = 0; i < columns.size() && i < view.columns.size(); ++i) columns[i].name = view.columns[i];
    return columns;
  } catch (const SourceError&) {
    return {};
  }
}

void sequences(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (!is_sequence(table)) continue;
    const SequenceOptions& options = table.sequence;
    rows.set("seqrelid", oids::of(table.id)).set("seqtypid", int64_t{oid_of(type_of_sequence(options))});
    rows.set("seqstart", options.start).set("seqincrement", options.increment);
    rows.set("seqmin", options.least).set("seqmax", options.most).set("seqcycle", options.cycles).add();
  }
}

void sequence_list(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (!is_sequence(table)) continue;
    const SequenceOptions& options = table.sequence;
    rows.set("sequencename", table.name).set("sequenceowner", owner_name(catalog));
    rows.set("data_type", oids::formatted_type(oid_of(type_of_sequence(options)), -1));
    rows.set("start_value", options.start).set("increment_by", options.increment);
    rows.set("min_value", options.least).set("max_value", options.most).set("cycle", options.cycles).add();
  }
}

void views(const SystemCatalog& catalog, RowMaker& rows) {
  for (const View& view : catalog.program().views) {
    rows.set("viewname", view.name).set("viewowner", owner_name(catalog));
    rows.set("definition", view.text + ";").add();
  }
}

void classes(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    rows.set("oid", oids::of(table.id)).set("relname", table.name).set("relam", oids::kHeap);
    if (is_sequence(table)) rows.set("relkind", "S").set("relam", int64_t{0});
    const auto refers = [&](const TableDefinition& other) {
      return std::ranges::find(other.foreign_keys, table.id, &ForeignKey::referenced) !=
             other.foreign_keys.end();
    };
    rows.set("relchecks", static_cast<int64_t>(table.checks.size()));
    rows.set("relhastriggers",
             !table.foreign_keys.empty() || std::ranges::any_of(catalog.program().catalog.tables(), refers));
    rows.set("relhasindex", !table.indexes.empty())
        .set("relnatts", static_cast<int64_t>(table.columns.size()));
    rows.add();
  }
  for (uint32_t number = 0; number < catalog.program().views.size(); ++number) {
    const View& view = catalog.program().views[number];
    rows.set("oid", oids::of_view(number)).set("relname", view.name).set("relkind", "v");
    rows.set("relam", int64_t{0}).set("relnatts", static_cast<int64_t>(view.columns.size())).add();
  }
  for (uint32_t number = 0; number < system_tables().size(); ++number) {
    const SystemTable& table = system_tables()[number];
    if (table.is_function()) continue;
    rows.set("oid", oids::of_system_table(number)).set("relname", table.name);
    rows.set("relnamespace", schema_of(table));
    rows.set("relkind", schema_of(table) == oids::kPgCatalog ? "r" : "v");
    rows.set("relnatts", static_cast<int64_t>(table.count_columns())).add();
  }
  for (const IndexDefinition& index : catalog.program().catalog.indexes()) {
    if (!is_listed(catalog.program(), index)) continue;
    rows.set("oid", oids::of(index.id)).set("relname", index.name).set("relkind", "i");
    rows.set("relam", catalog.program().catalog.is_ordered(index) ? oids::kBtree : oids::kHash);
    rows.set("relnatts", static_cast<int64_t>(index.columns.size())).add();
  }
}

void attributes(const SystemCatalog& catalog, RowMaker& rows) {
  for (uint32_t number = 0; number < system_tables().size(); ++number) {
    const SystemTable& table = system_tables()[number];
    if (table.is_function()) continue;
    for (size_t i = 0; i < table.count_columns(); ++i) {
      set_column(rows, oids::of_system_table(number),
                 {table.columns[i].name, table.columns[i].type, true, ""}, i + 1);
    }
  }
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (size_t i = 0; i < table.columns.size(); ++i)
      set_column(rows, oids::of(table.id), table.columns[i], i + 1);
  }
  for (uint32_t number = 0; number < catalog.program().views.size(); ++number) {
    size_t place = 0;
    for (const ResultColumn& column : columns_of(catalog, catalog.program().views[number]))
      set_column(rows, oids::of_view(number), {column.name, column.type, true, ""}, ++place);
  }
  for (const IndexDefinition& index : catalog.program().catalog.indexes()) {
    for (size_t i = 0; i < index.columns.size(); ++i) {
      Column column = catalog.program().catalog.table(index.table).column(index.columns[i]);
      column.nullable = true;
      column.initial.clear();
      column.generated.clear();
      set_column(rows, oids::of(index.id), column, i + 1);
    }
  }
}

void defaults(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (uint32_t i = 0; i < table.columns.size(); ++i) {
      if (!has_default(table.columns[i])) continue;
      rows.set("oid", oids::default_of(table.id, i)).set("adrelid", oids::of(table.id));
      rows.set("adnum", int64_t{i} + 1)
          .set("adbin", oids::default_expression(table.columns[i], catalog.schema_prefix()));
      rows.add();
    }
  }
}

void indexes(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const IndexDefinition& index : program.catalog.indexes()) {
    if (!is_listed(program, index)) continue;
    rows.set("indexrelid", oids::of(index.id)).set("indrelid", oids::of(index.table));
    rows.set("indnatts", static_cast<int64_t>(index.columns.size()));
    rows.set("indnkeyatts", static_cast<int64_t>(index.columns.size()));
    if (!index.predicate.empty()) rows.set("indpred", "(" + index.predicate + ")");
    rows.set("indisunique", index.unique || index.unique_in_part)
        .set("indisprimary", oids::is_primary_key(program, index));
    std::string zeros;
    for (size_t i = 0; i < index.columns.size(); ++i) zeros += i == 0 ? "0" : " 0";
    rows.set("indoption", zeros).set("indcollation", zeros).set("indclass", zeros);
    const std::string key = column_numbers(index.columns);
    rows.set("indkey", with_blanks(key.substr(1, key.size() - 2))).add();
  }
}

void table_list(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    rows.set("tablename", table.name).set("tableowner", owner_name(catalog));
    rows.set("hasindexes", !table.indexes.empty()).add();
  }
}

// Nothing is counted: all of the counters are NULL.
void counted_tables(const SystemCatalog& catalog, RowMaker& rows) {
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    if (is_sequence(table)) continue;
    rows.set("relid", oids::of(table.id)).set("relname", table.name).add();
  }
}

void counted_indexes(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const IndexDefinition& index : program.catalog.indexes()) {
    if (!is_listed(program, index)) continue;
    rows.set("relid", oids::of(index.table)).set("relname", program.catalog.table(index.table).name);
    rows.set("indexrelid", oids::of(index.id)).set("indexrelname", index.name).add();
  }
}

void index_list(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  for (const IndexDefinition& index : program.catalog.indexes()) {
    if (!is_listed(program, index)) continue;
    rows.set("tablename", program.catalog.table(index.table).name).set("indexname", index.name);
    rows.set("indexdef", oids::index_definition(program, index)).add();
  }
}

void descriptions(const SystemCatalog& catalog, RowMaker& rows) {
  const std::optional<uint32_t> schemas = catalog.find("pg_catalog", "pg_namespace");
  rows.set("objoid", oids::kPublic)
      .set("classoid", oids::of_system_table(*schemas))
      .set("objsubid", int64_t{0});
  rows.set("description", "standard public schema").add();
  for (const oids::Description& each : oids::descriptions(catalog.program())) {
    const std::optional<uint32_t> list = catalog.find("pg_catalog", std::string(each.list));
    rows.set("objoid", each.object).set("classoid", oids::of_system_table(*list));
    rows.set("objsubid", each.part).set("description", each.text).add();
  }
}

namespace {

// A view needs the relations and functions of its text, and a procedure those of its body: pg_dump writes
// them behind these.
void add_dependencies_of_texts(const SystemCatalog& catalog, RowMaker& rows) {
  const Program& program = catalog.program();
  const int64_t classes = oids::of_system_table(*catalog.find("pg_catalog", "pg_class"));
  const int64_t routines = oids::of_system_table(*catalog.find("pg_catalog", "pg_proc"));
  const auto add = [&](int64_t list, int64_t object, int64_t other_list, int64_t other) {
    rows.set("classid", list).set("objid", object).set("refclassid", other_list).set("refobjid", other);
    rows.set("refobjsubid", int64_t{0}).set("deptype", "n").add();
  };
  const auto add_tables = [&](int64_t list, int64_t object, const std::string& text) {
    for (const TableDefinition& table : program.catalog.tables()) {
      if (!is_sequence(table) && mentions_name(text, table.name))
        add(list, object, classes, oids::of(table.id));
    }
  };
  for (uint32_t number = 0; number < program.views.size(); ++number) {
    const std::string& text = program.views[number].text;
    const int64_t view = oids::of_view(number);
    add_tables(classes, view, text);
    for (uint32_t other = 0; other < number; ++other) {
      if (mentions_name(text, program.views[other].name)) add(classes, view, classes, oids::of_view(other));
    }
    for (const ir::Procedure& routine : program.procedures) {
      if (mentions_name(text, routine.name)) add(classes, view, routines, oids::of(routine.id));
    }
  }
  for (const ir::Procedure& procedure : program.procedures) {
    const std::string text = oids::procedure_body(program, procedure);
    add_tables(routines, oids::of(procedure.id), text);
    for (const ir::Procedure& other : program.procedures) {
      if (other.id.value < procedure.id.value && mentions_name(text, other.name))
        add(routines, oids::of(procedure.id), routines, oids::of(other.id));
    }
  }
}

// A DEFAULT goes with its column, and needs the sequence that it draws from.
void add_dependencies_of_defaults(const SystemCatalog& catalog, RowMaker& rows) {
  const Catalog& tables = catalog.program().catalog;
  const int64_t classes = oids::of_system_table(*catalog.find("pg_catalog", "pg_class"));
  const int64_t defaults = oids::of_system_table(*catalog.find("pg_catalog", "pg_attrdef"));
  for (const TableDefinition& table : tables.tables()) {
    for (uint32_t i = 0; i < table.columns.size(); ++i) {
      const Column& column = table.columns[i];
      if (!has_default(column)) continue;
      rows.set("classid", defaults).set("objid", oids::default_of(table.id, i)).set("refclassid", classes);
      rows.set("refobjid", oids::of(table.id)).set("refobjsubid", int64_t{i} + 1).set("deptype", "a").add();
      const TableDefinition* sequence =
          column.sequence.empty() ? nullptr : tables.find_table(column.sequence);
      if (sequence == nullptr) continue;
      rows.set("classid", defaults).set("objid", oids::default_of(table.id, i)).set("refclassid", classes);
      rows.set("refobjid", oids::of(sequence->id)).set("refobjsubid", int64_t{0}).set("deptype", "n").add();
    }
  }
}

}  // namespace

// A sequence that SERIAL made goes with its column.
void dependencies(const SystemCatalog& catalog, RowMaker& rows) {
  const int64_t classes = oids::of_system_table(*catalog.find("pg_catalog", "pg_class"));
  for (const TableDefinition& table : catalog.program().catalog.tables()) {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const TableDefinition* sequence = table.columns[i].sequence.empty()
                                            ? nullptr
                                            : catalog.program().catalog.find_table(table.columns[i].sequence);
      if (sequence == nullptr) continue;
      rows.set("classid", classes).set("objid", oids::of(sequence->id)).set("refclassid", classes);
      rows.set("refobjid", oids::of(table.id)).set("refobjsubid", static_cast<int64_t>(i + 1));
      rows.set("deptype", table.columns[i].identity == Identity::kNone ? "a" : "i").add();
    }
  }
  add_dependencies_of_defaults(catalog, rows);
  add_dependencies_of_texts(catalog, rows);
}

}  // namespace mneme::relation_rows
