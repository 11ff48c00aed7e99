#include "procedures/native/emitter_access.h"

#include <algorithm>

#include "procedures/ir/ir_walk.h"

namespace mneme {

using ir::AccessPath;
using ir::Expr;
using ir::Operation;

namespace {

const char* row_name(uint8_t source) {
  return source == 0 ? "row" : "inner";
}

std::string index_literal(IndexId index) {
  return fmt::format("IndexId{{{}}}", index.value);
}

const char* purpose_literal(const Operation& operation) {
  return operation.for_update ? "Purpose::kChange" : "Purpose::kRead";
}

std::string all_of(const std::vector<std::string>& conditions) {
  std::string text;
  for (const std::string& condition : conditions) text += (text.empty() ? "" : " && ") + condition;
  return text;
}

}  // namespace

KeyShape key_shape(const Catalog& catalog, IndexId id) {
  const IndexDefinition& index = catalog.index(id);
  const TableDefinition& table = catalog.table(index.table);
  KeyShape shape;
  for (const ColumnId column_id : index.columns) {
    const Column& column = table.column(column_id);
    const uint32_t null_byte = column.nullable ? 1 : 0;
    const uint32_t bytes = key_bytes(column);
    shape.places.push_back({column_id, column.type, shape.bytes + null_byte, bytes - null_byte});
    shape.bytes += bytes;
  }
  if (index.unique) return shape;
  if (!table.primary_key) {
    shape.bytes += sizeof(uint64_t);
    return shape;
  }
  for (const ColumnId column : catalog.index(*table.primary_key).columns)
    shape.bytes += key_bytes(table.column(column));
  return shape;
}

bool AccessEmitter::is_point(const Operation& operation) {
  const AccessPath& path = operation.access[0].path;
  return operation.access.size() == 1 && path.kind == AccessPath::Kind::kPoint &&
         std::ranges::all_of(path.equalities, [](const AccessPath::Equality& equality) {
           return !equality.array.valid() && equality.values.size() == 1;
         });
}

bool AccessEmitter::is_plain(const ir::TableAccess& access) const {
  const KeyShape shape = key_shape(scope_.schema.catalog(), access.path.index);
  for (size_t i = 0; i < access.path.equalities.size(); ++i) {
    const AccessPath::Equality& equality = access.path.equalities[i];
    if (equality.array.valid() || equality.values.size() != 1) return false;
    if (shape.places[i].type.is_floating()) return false;
  }
  return true;
}

bool AccessEmitter::changes_indexes(const Catalog& catalog, const Operation& operation) {
  if (operation.kind == ir::OperationKind::kDelete) return true;
  if (operation.kind != ir::OperationKind::kUpdate) return false;
  const auto assigned = [&](ColumnId column) {
    return std::ranges::any_of(operation.assignments,
                               [&](const ir::Assignment& assignment) { return assignment.column == column; });
  };
  for (const IndexId id : catalog.table(operation.access[0].table).indexes) {
    if (std::ranges::any_of(catalog.index(id).columns, assigned)) return true;
  }
  return false;
}

void AccessEmitter::set_row(const Operation& operation, uint8_t source) {
  scope_.rows[source] = {operation.access[source].table, fmt::format("{}.image", row_name(source)), {}};
}

void AccessEmitter::visit_outer_rows(const Operation& operation, const RowCode& code) {
  set_row(operation, 0);
  visit(operation, 0, code, false);
}

void AccessEmitter::visit_rows(const Operation& operation, const RowCode& code) {
  if (operation.access.size() == 1) return visit_outer_rows(operation, code);
  // The outer rows first: a scan is not interrupted by another.
  const std::string rows = text_.new_name("outer_rows");
  text_.line("ArenaVector<RowRef> {}(*run.arena);", rows);
  visit_outer_rows(operation, [&]() -> std::string {
    text_.line("{}.push_back(row);", rows);
    return "true";
  });
  const std::string at = text_.new_name("at");
  text_.open("for (size_t {0} = 0; {0} < {1}.size(); ++{0})", at, rows);
  write_group_prefetch(operation, rows, at);
  text_.line("const RowRef& row = {}[{}];", rows, at);
  set_row(operation, 1);
  visit(operation, 1, code, true);
  text_.close();
}

void AccessEmitter::visit(const Operation& operation, uint8_t source, const RowCode& code, bool inside_loop) {
  const ir::TableAccess& access = operation.access[source];
  if (!is_plain(access)) return visit_many(operation, source, code, inside_loop);
  std::vector<Operand> values;
  for (const AccessPath::Equality& equality : access.path.equalities) {
    values.push_back(emit_key_value(equality.values[0]));
  }
  if (access.path.kind == AccessPath::Kind::kPoint) {
    visit_point(operation, source, values, code, inside_loop);
  } else {
    visit_range(operation, source, values, code, inside_loop);
  }
}

Operand AccessEmitter::emit_key_value(const Expr& expr) {
  Operand operand = expressions_.emit(expr);
  operand.key_bytes = expr.type.kind == TypeKind::kSmallInt ? 2 : expr.type.kind == TypeKind::kInt ? 4 : 8;
  return operand;
}

// A value that is NULL equals nothing, nor does one that no row of the column's type can have.
std::string AccessEmitter::key_condition(IndexId index, std::span<const Operand> values) {
  const KeyShape shape = key_shape(scope_.schema.catalog(), index);
  std::vector<std::string> conditions;
  for (size_t i = 0; i < values.size(); ++i) {
    const Operand& value = values[i];
    const KeyPlace& place = shape.places[i];
    if (value.is_null()) return "false";
    if (value.is_nullable()) conditions.push_back("!" + value.null);
    if (value.rep == Rep::kText)
      conditions.push_back(fmt::format("{}.size() <= {}", value.value, place.bytes));
    const bool may_exceed =
        value.rep == Rep::kWide ? place.bytes == 8 : value.rep == Rep::kInt && place.bytes < value.key_bytes;
    if (may_exceed) conditions.push_back(fmt::format("fits<{}>({})", place.bytes, value.value));
  }
  return all_of(conditions);
}

void AccessEmitter::write_key(IndexId index, std::span<const Operand> values, const std::string& name) {
  text_.line("IndexKey {} = zero_key<{}>();", name, key_shape(scope_.schema.catalog(), index).words());
  put_key(index, values, name);
}

void AccessEmitter::write_key_of_lookup(IndexId index, std::span<const Operand> values) {
  text_.line("RowLookup& lookup = lookups[count];");
  text_.line("LookupKey& key = make_zero<{}>(lookup.key);",
             key_shape(scope_.schema.catalog(), index).words());
  put_key(index, values, "key");
}

void AccessEmitter::put_key(IndexId index, std::span<const Operand> values, const std::string& name) {
  const KeyShape shape = key_shape(scope_.schema.catalog(), index);
  for (size_t i = 0; i < values.size(); ++i) {
    const KeyPlace& place = shape.places[i];
    const std::string& value = values[i].value;
    if (values[i].is_null()) continue;
    switch (rep_of(place.type)) {
      case Rep::kBool:
        text_.line("put_bool<{}>({}, {});", place.offset, name, value);
        break;
      case Rep::kText:
        text_.line("put_text<{}, {}>({}, {});", place.offset, place.bytes, name, value);
        break;
      case Rep::kWide:
        text_.line("put_wide<{}>({}, {});", place.offset, name, value);
        break;
      case Rep::kInt:
        text_.line("put_int<{}, {}>({}, static_cast<int64_t>({}));", place.offset, place.bytes, name, value);
        break;
      case Rep::kDouble:
      case Rep::kNone:
        CHECK(false && "a key that is written in words");
    }
  }
}

void AccessEmitter::visit_point(const Operation& operation, uint8_t source, std::span<const Operand> values,
                                const RowCode& code, bool inside_loop) {
  const ir::TableAccess& access = operation.access[source];
  const std::string condition = key_condition(access.path.index, values);
  if (condition.empty()) {
    text_.open();
  } else {
    text_.open("if ({})", condition);
  }
  write_key(access.path.index, values, "key");
  text_.line("RowRef {};", row_name(source));
  const std::string wanted = parts(operation, source);
  text_.line("const AccessStatus found = rows->find_parts({}, key, {}, {}, {});",
             index_literal(access.path.index), wanted, purpose_literal(operation), row_name(source));
  text_.open("if (found == AccessStatus::kOk)");
  row_code(operation, source, code, inside_loop ? Place::kLoop : Place::kAlone);
  text_.close(" else if (found != AccessStatus::kAbsent) {");
  text_.line("  return refuse(run, found, {});", operation.id.value);
  text_.line("}}");
  text_.close();
}

// The filter, and what is done with a row that passes it.
void AccessEmitter::row_code(const Operation& operation, uint8_t source, const RowCode& code, Place place,
                             const std::string& more) {
  const std::optional<Expr>& filter = operation.access[source].filter;
  if (filter) text_.open("if ({})", expressions_.condition(*filter));
  const std::string go_on = code();
  if (place == Place::kLambda) text_.line("return {}{};", more, go_on);
  if (place == Place::kLoop && go_on == "false") text_.line("break;");
  if (place == Place::kLoop && go_on != "false" && go_on != "true") text_.line("if (!({})) break;", go_on);
  if (!filter) return;
  text_.close();
  if (place == Place::kLambda) text_.line("return true;");
}

void AccessEmitter::write_lambda(const Operation& operation, uint8_t source, const RowCode& code,
                                 const std::string& more) {
  text_.open("const auto visit = [&](const RowRef& {}) -> bool", row_name(source));
  const FunctionText::Leave before = text_.leave_by({"return ok = ", ""});
  row_code(operation, source, code, Place::kLambda, more);
  text_.leave_by(before);
  text_.close(";");
}

AccessEmitter::Bounds AccessEmitter::write_bounds(const ir::TableAccess& access) {
  Bounds bounds;
  bounds.lower = write_bound(access.path.lower, bounds.condition);
  bounds.upper = write_bound(access.path.upper, bounds.condition);
  return bounds;
}

std::string AccessEmitter::write_bound(const std::optional<AccessPath::Bound>& bound,
                                       std::string& condition) {
  if (!bound) return "std::nullopt";
  const Operand value = expressions_.emit(bound->value);
  const std::string name = text_.new_name("bound");
  text_.line("const KeyCodec::Bound {}{{{}, {}}};", name, boxed(value, bound->value.type), bound->inclusive);
  condition += fmt::format("{}!{}.value.is_null()", condition.empty() ? "" : " && ", name);
  return name;
}

void AccessEmitter::visit_range(const Operation& operation, uint8_t source, std::span<const Operand> values,
                                const RowCode& code, bool inside_loop) {
  const ir::TableAccess& access = operation.access[source];
  const IndexId index = access.path.index;
  const KeyShape shape = key_shape(scope_.schema.catalog(), index);
  const bool bounded = access.path.lower || access.path.upper;
  const Bounds bounds = write_bounds(access);

  std::string condition = key_condition(index, values);
  if (!bounds.condition.empty()) condition += (condition.empty() ? "" : " && ") + bounds.condition;
  const std::string more = inside_loop ? text_.new_name("more") : "";
  if (inside_loop) text_.line("bool {} = true;", more);
  if (condition.empty()) {
    text_.open();
  } else {
    text_.open("if ({})", condition);
  }
  std::string range = "range";
  if (bounded) {
    std::string prefix;
    for (size_t i = 0; i < values.size(); ++i) {
      prefix += (i == 0 ? "" : ", ") + boxed(values[i], access.path.equalities[i].values[0].type);
    }
    text_.line(
        "const auto range = run.schema->codec({}).of_range(std::initializer_list<Value>{{{}}}, {}, {});",
        index_literal(index), prefix, bounds.lower, bounds.upper);
    text_.open("if (range)");
    range = "*range";
  } else {
    write_key(index, values, "low");
    text_.line("KeyRange range{{low, low}};");
    const uint32_t fixed = shape.prefix_bytes(values.size());
    if (fixed < shape.bytes) text_.line("put_ones<{}, {}>(range.high);", fixed, shape.bytes);
  }
  text_.line("bool ok = true;");
  write_lambda(operation, source, code, inside_loop ? more + " = " : "");
  const std::string wanted = parts(operation, source);
  text_.line(
      "const AccessStatus scanned = rows->scan_parts({}, {}, RowAccess::Direction::k{}, {}, {}, visit);",
      index_literal(index), range, operation.path_backward ? "Backward" : "Forward", wanted,
      purpose_literal(operation));
  text_.line("if (scanned != AccessStatus::kOk) return refuse(run, scanned, {});", operation.id.value);
  text_.line("if (!ok) return false;");
  if (bounded) text_.close();
  text_.close();
  if (inside_loop) text_.line("if (!{}) break;", more);
}

// The values of one column of the path, sorted, as a span of Values.
std::string AccessEmitter::write_values(const Operation& operation, uint8_t source, size_t column) {
  const ir::TableAccess& access = operation.access[source];
  const AccessPath::Equality& equality = access.path.equalities[column];
  const std::string name = text_.new_name("values");
  if (equality.array.valid()) {
    const KeyShape shape = key_shape(scope_.schema.catalog(), access.path.index);
    text_.line("const auto {} = key_values(run, {}.span(), {}.kind, {});", name,
               scope_.variable(equality.array), type_literal(shape.places[column].type),
               operation.path_backward);
    return name;
  }
  std::string list;
  for (const Expr& value : equality.values) {
    list += (list.empty() ? "" : ", ") + boxed(expressions_.emit(value), value.type);
  }
  text_.line("const auto {} = key_values(run, std::initializer_list<Value>{{{}}}, {}.kind, {});", name, list,
             type_literal(equality.values[0].type), operation.path_backward);
  return name;
}

void AccessEmitter::visit_many(const Operation& operation, uint8_t source, const RowCode& code,
                               bool inside_loop) {
  const ir::TableAccess& access = operation.access[source];
  std::string lists;
  std::string condition;
  for (size_t i = 0; i < access.path.equalities.size(); ++i) {
    const std::string name = write_values(operation, source, i);
    lists += (i == 0 ? "" : ", ") + name;
    condition += fmt::format("{}!{}.empty()", i == 0 ? "" : " && ", name);
  }
  const Bounds bounds = write_bounds(access);
  if (!bounds.condition.empty()) condition += " && " + bounds.condition;
  const std::string more = inside_loop ? text_.new_name("more") : "";
  if (inside_loop) text_.line("bool {} = true;", more);
  text_.open("if ({})", condition);
  const std::string wanted = parts(operation, source);
  text_.line("const std::span<const Value> values[] = {{{}}};", lists);
  text_.line("const KeyPath path{{{}, {}, {}, {}, {}, {}, values, {}, {}}};", operation.id.value,
             index_literal(access.path.index), access.path.kind == AccessPath::Kind::kPoint,
             operation.path_backward, wanted, purpose_literal(operation), bounds.lower, bounds.upper);
  text_.line("bool ok = true;");
  write_lambda(operation, source, code, inside_loop ? more + " = " : "");
  text_.line("if (!PathVisitor(run, path, ok, visit).visit_all()) return false;");
  text_.close();
  if (inside_loop) text_.line("if (!{}) break;", more);
}

}  // namespace mneme
