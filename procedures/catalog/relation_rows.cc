#include "procedures/catalog/relation_rows.h"

#include <string>

#include "procedures/catalog/object_numbers.h"
#include "procedures/values/type_oids.h"

namespace mneme::relation_rows {

namespace {

const Type& type_of_sequence(const SequenceOptions& options) {
  static constexpr Type kSmall{.kind = TypeKind::kSmallInt};
  static constexpr Type kPlain{.kind = TypeKind::kInt};
  static constexpr Type kBig{.kind = TypeKind::kBigInt};
  return options.type == TypeKind::kSmallInt ? kSmall : options.type == TypeKind::kInt ? kPlain : kBig;
}

}  // namespace

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
    rows.set("sequencename", table.name).set("sequenceowner", catalog.session_text("current_user", "mneme"));
    rows.set("data_type", oids::formatted_type(oid_of(type_of_sequence(options)), -1));
    rows.set("start_value", options.start).set("increment_by", options.increment);
    rows.set("min_value", options.least).set("max_value", options.most).set("cycle", options.cycles).add();
  }
}

void views(const SystemCatalog& catalog, RowMaker& rows) {
  for (const View& view : catalog.program().views) {
    rows.set("viewname", view.name).set("viewowner", catalog.session_text("current_user", "mneme"));
    rows.set("definition", view.text + ";").add();
  }
}

void schema_views(const SystemCatalog& catalog, RowMaker& rows) {
  for (const View& view : catalog.program().views) {
    rows.set("table_catalog", database_name(catalog)).set("table_name", view.name);
    rows.set("view_definition", view.text + ";").add();
  }
}

}  // namespace mneme::relation_rows
