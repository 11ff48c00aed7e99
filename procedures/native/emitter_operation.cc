#include "procedures/native/emitter_operation.h"

#include <algorithm>
#include <utility>

#include "procedures/ir/ir_walk.h"

namespace mneme {

using ir::Operation;
using ir::OperationKind;
using ir::OperationMode;
using ir::Statement;

std::string OperationEmitter::table_literal(const Operation& operation) const {
  return fmt::format("TableId{{{}}}", operation.access[0].table.value);
}

void OperationEmitter::emit(const Statement& statement, const std::string& iteration) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  const OperationMode mode = scope_.marks.of(statement).mode;
  if (mode == OperationMode::kLocate) return locate(statement, iteration);
  if (mode == OperationMode::kTell) return tell(statement);
  text_.open();
  declare_outputs(operation, mode == OperationMode::kRecall);
  if (mode == OperationMode::kRecall) {
    recall(statement, iteration);
  } else {
    text_.line("uint32_t count = 0;");
    read_elements(operation);
    const Sink sink = [&](const std::vector<Operand>& outputs) {
      fill_outputs(outputs);
      text_.line("++count;");
    };
    switch (operation.kind) {
      case OperationKind::kSelect:
        select_into(operation);
        break;
      case OperationKind::kInsert:
        insert(operation, sink);
        break;
      case OperationKind::kUpdate:
      case OperationKind::kDelete:
        change(operation, sink);
        break;
    }
    check_into(operation);
    cast_outputs(operation);
    scope_.elements.clear();
    if (mode == OperationMode::kPerformAndRecord) record(operation, iteration);
  }
  set_outputs(operation);
  set_found(operation, "count > 0");
  if (operation.row_count.valid())
    text_.line("{} = {{int64_t{{count}}, false}};", scope_.variable(operation.row_count));
  text_.close();
}

// Array elements under a variable that the operation names more than once are read once, before all else:
// what it asks of rows would have the compiler read them again.
void OperationEmitter::read_elements(const Operation& operation) {
  std::vector<const ir::Expr*> elements;
  const auto is_same = [](const ir::Expr& a, const ir::Expr& b) {
    return a.variable == b.variable && a.args[0].variable == b.args[0].variable;
  };
  ir::for_each_expression(operation, [&](const ir::Expr& whole) {
    ir::walk(whole, [&](const ir::Expr& e) {
      const bool is_plain = e.kind == ir::ExprKind::kArrayElement &&
                            e.args[0].kind == ir::ExprKind::kVariable && rep_of(e.args[0]) == Rep::kInt;
      if (is_plain) elements.push_back(&e);
    });
  });
  for (size_t i = 0; i < elements.size(); ++i) {
    const auto rest = std::span(elements).subspan(i + 1);
    const auto read = std::span(elements).first(i);
    const auto is_this = [&](const ir::Expr* other) { return is_same(*elements[i], *other); };
    if (std::ranges::any_of(read, is_this) || std::ranges::none_of(rest, is_this)) continue;
    const Operand subscript = expressions_.emit(elements[i]->args[0]);
    const Rep rep = rep_of(elements[i]->type);
    const std::string element =
        unboxed(rep, fmt::format("{}.at({}, {})", scope_.variable(elements[i]->variable), subscript.value,
                                 subscript.null));
    scope_.elements.emplace(element, expressions_.emit(*elements[i]));
  }
}

// ---- outputs ----

Rep OperationEmitter::rep_of_found(const ir::Output& output) const {
  return output.cast_when_taken ? rep_of(output.selected())
                                : rep_of(scope_.procedure.variables[output.into.value].type);
}

Operand OperationEmitter::cast_output(const ir::Output& output, const Operand& selected) {
  if (!output.cast_when_taken) return selected;
  // Emits the output's cast with its operand replaced by an aggregate, which stands for `selected`.
  ir::Expr cast = output.expr;
  const Type type = output.selected().type;
  cast.args[0] = ir::Expr();
  cast.args[0].kind = ir::ExprKind::kAggregate;
  cast.args[0].type = type;
  std::vector<Operand> aggregates = std::exchange(scope_.aggregates, {selected});
  Operand result =
      converted(expressions_.emit(cast), rep_of(scope_.procedure.variables[output.into.value].type));
  scope_.aggregates = std::move(aggregates);
  return result;
}

// Casts the outputs of the one row that INTO takes.
void OperationEmitter::cast_outputs(const Operation& operation) {
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    const ir::Output& output = operation.outputs[i];
    if (!output.cast_when_taken) continue;
    const std::string name = text_.new_name("cast");
    text_.line("Nullable<{}> {};", type_of(rep_of(scope_.procedure.variables[output.into.value].type)), name);
    text_.open("if (count > 0)");
    const Operand value =
        cast_output(output, {outputs_[i] + ".value", outputs_[i] + ".null", rep_of_found(output)});
    text_.line("{} = {{{}, {}}};", name, value.value, value.null);
    text_.close();
    outputs_[i] = name;
  }
}

void OperationEmitter::declare_outputs(const Operation& operation, bool recalled) {
  outputs_.clear();
  for (const ir::Output& output : operation.outputs) {
    const std::string& variable = scope_.procedure.variables[output.into.value].name;
    std::string name = "out_" + identifier_of(variable);
    if (std::ranges::find(outputs_, name) != outputs_.end()) name = text_.new_name(name + "_");
    const Rep rep =
        recalled ? rep_of(scope_.procedure.variables[output.into.value].type) : rep_of_found(output);
    text_.line("Nullable<{}> {};", type_of(rep), name);
    outputs_.push_back(std::move(name));
  }
}

// Returns the outputs, evaluated over the current row. Text that lies in the row is copied, as the row may
// change before the text is used.
std::vector<Operand> OperationEmitter::evaluate_outputs(const Operation& operation) {
  std::vector<Operand> operands;
  for (const ir::Output& output : operation.outputs) {
    const ir::Expr& selected = output.selected();
    Operand operand = converted(expressions_.emit(selected), rep_of_found(output));
    const bool from_row = operation.kind != OperationKind::kInsert && reads_row_text(selected);
    if (from_row && !operand.is_null()) operand.value = fmt::format("kept(run, {})", operand.value);
    operands.push_back(std::move(operand));
  }
  return operands;
}

void OperationEmitter::fill_outputs(const std::vector<Operand>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_null()) text_.line("{} = {{{}, {}}};", outputs_[i], outputs[i].value, outputs[i].null);
  }
}

void OperationEmitter::set_outputs(const Operation& operation) {
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    text_.line("{} = {};", scope_.variable(operation.outputs[i].into), outputs_[i]);
  }
}

void OperationEmitter::set_found(const Operation& operation, const std::string& condition) {
  if (operation.found.valid()) text_.line("{} = {{{}, false}};", scope_.variable(operation.found), condition);
}

void OperationEmitter::check_into(const Operation& operation) {
  const bool changes = operation.kind != OperationKind::kSelect;
  const bool several = operation.kind != OperationKind::kInsert && !AccessEmitter::is_point(operation);
  const auto raise = [&](const char* sqlstate, const char* message) {
    return fmt::format("raise_text(run, {}, sqlstate::{}, \"{}\")", scope_.where, sqlstate, message);
  };
  if (several && !operation.outputs.empty() && (operation.strict || changes)) {
    text_.fail_if("count > 1", raise("kTooManyRows", "query returned more than one row"));
  }
  if (operation.strict) text_.fail_if("count == 0", raise("kNoDataFound", "query returned no rows"));
}

// ---- recordings ----

void OperationEmitter::record(const Operation& operation, const std::string& iteration) {
  std::string values;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Operand operand{outputs_[i] + ".value", outputs_[i] + ".null", Rep::kNone};
    values += (i == 0 ? "" : ", ") +
              boxed(operand, scope_.procedure.variables[operation.outputs[i].into.value].type);
  }
  if (outputs_.empty()) {
    text_.line("run.recording->put(OperationId{{{}}}, {}, count, {{}});", operation.id.value, iteration);
    return;
  }
  text_.line("const Value recorded[] = {{{}}};", values);
  text_.line("run.recording->put(OperationId{{{}}}, {}, count, {{recorded, count * {}}});",
             operation.id.value, iteration, outputs_.size());
}

void OperationEmitter::recall(const Statement& statement, const std::string& iteration) {
  const Operation& operation = scope_.procedure.operations[statement.operation.value];
  text_.line(
      "const Recording::Recorded recorded = run.recording->get(OperationId{{{0}}}, {1}, "
      "executions_{0}.next({1}));",
      operation.id.value, iteration);
  scope_.recalled.insert(operation.id.value);
  text_.line("const uint32_t count = recorded.rows;");
  if (outputs_.empty()) return;
  text_.open("if (count > 0)");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Rep rep = rep_of(scope_.procedure.variables[operation.outputs[i].into.value].type);
    text_.line("{} = {};", outputs_[i], unboxed(rep, fmt::format("recorded.values[{}]", i)));
  }
  text_.close();
}

std::string OperationEmitter::key_of(const Statement& statement) {
  std::string key;
  for (const ir::Expr& value : scope_.marks.of(statement).lane_key)
    key += (key.empty() ? "" : ", ") + boxed(expressions_.emit(value), value.type);
  return key;
}

void OperationEmitter::tell(const Statement& statement) {
  text_.open("if (run.keys != nullptr)");
  const std::string key = key_of(statement);
  text_.fail_if(
      fmt::format("!run.keys->tell(OperationId{{{}}}, std::initializer_list<Value>{{{}}})",
                  statement.operation.value, key),
      fmt::format("end_outside_hint(run, {{{}, {}}})", statement.where.line, statement.where.column));
  text_.close();
}

void OperationEmitter::locate(const Statement& statement, const std::string& iteration) {
  const ir::StatementMark& mark = scope_.marks.of(statement);
  const std::string key = key_of(statement);
  text_.line("run.locate->locate(OperationId{{{}}}, {}, {}, std::initializer_list<Value>{{{}}});",
             statement.operation.value, mark.access, iteration, key);
}

// ---- changes ----

// Emits the check that a string fits into its column, unless its type or its constant value proves that.
void OperationEmitter::check_room(const Operation& operation, ColumnId id, const ir::Expr& expr,
                                  const Operand& value) {
  const TableDefinition& table = scope_.schema.catalog().table(operation.access[0].table);
  if (!table.column(id).type.is_string() || value.is_null()) return;
  const uint32_t room = text_room(scope_.schema.catalog(), table, id);
  const bool is_constant = expr.kind == ir::ExprKind::kConstant;
  if (is_constant && expr.constant.as_text().size() <= room) return;
  const bool is_column = expr.kind == ir::ExprKind::kColumn;
  if (is_column && expr.type.is_string() && expr.type.length != 0 &&
      expr.type.length <= kMostTextBytesInRow && expr.type.length <= room)
    return;
  const std::string size = fmt::format("{}.size() > {}", value.value, room);
  text_.fail_if(value.is_nullable() ? fmt::format("!{} && {}", value.null, size) : size,
                fmt::format("raise_no_room(run, {}, {}, ColumnId{{{}}}, {})", scope_.where,
                            table_literal(operation), id.value, value.value));
}

// A row that has one key, which numbers make, is inserted under that.
void OperationEmitter::write_insert(const Operation& operation) {
  const TableDefinition& table = scope_.schema.catalog().table(operation.access[0].table);
  const auto make_key = [&](const KeyShape& shape) {
    return shape.words() <= kUsualKeyWords && std::ranges::all_of(shape.places, [&](const KeyPlace& place) {
             return rep_of(place.type) == Rep::kInt && !table.column(place.column).nullable;
           });
  };
  const bool has_one_key = table.primary_key && table.indexes.size() == 1;
  const KeyShape shape = has_one_key ? key_shape(scope_.schema.catalog(), *table.primary_key) : KeyShape();
  if (!has_one_key || !make_key(shape)) {
    text_.line("const AccessStatus inserted = rows->insert_image({}, image);", table_literal(operation));
    return;
  }
  text_.line("LookupKey key;");
  text_.line("make_zero<{}>(key);", shape.words());
  for (const KeyPlace& place : shape.places)
    text_.line("put_int<{}, {}>(key, {}.get(image));", place.offset, place.bytes,
               column_name(table, place.column));
  text_.line("const AccessStatus inserted = insert_under(rows, {}, image, IndexId{{{}}}, key);",
             table_literal(operation), table.primary_key->value);
}

void OperationEmitter::insert(const Operation& operation, const Sink& sink) {
  const TableId id = operation.access[0].table;
  const TableDefinition& table = scope_.schema.catalog().table(id);
  UnitScope::RowView& row = scope_.rows[0];
  row = {id, "", {}};
  for (uint32_t i = 0; i < operation.values.size(); ++i) {
    const Rep rep = rep_of(table.columns[i].type);
    Operand operand = converted(expressions_.emit(operation.values[i]), rep);
    if (!operation.outputs.empty()) operand = expressions_.keep(operand);
    row.columns[i] = std::move(operand);
  }
  for (const auto& [i, operand] : row.columns) {
    check_room(operation, ColumnId{i}, operation.values[i], operand);
    if (table.columns[i].nullable || !operand.is_nullable()) continue;
    text_.fail_if(operand.null, fmt::format("raise_not_null(run, {}, {}, ColumnId{{{}}})", scope_.where,
                                            table_literal(operation), i));
  }
  sink(evaluate_outputs(operation));
  if (!scope_.schema.layout(id).long_columns().empty()) {
    // The rows see to texts that lie elsewhere.
    std::string values;
    for (const auto& [i, operand] : row.columns)
      values += (values.empty() ? "" : ", ") + boxed(operand, table.columns[i].type);
    text_.line("const Value values[] = {{{}}};", values);
    text_.line("const AccessStatus inserted = rows->insert({}, values);", table_literal(operation));
    text_.line("if (inserted != AccessStatus::kOk) return refuse(run, inserted, {});", operation.id.value);
    return;
  }
  text_.line("std::byte* const image = zeroed_image<{}>(rows, {});", scope_.schema.layout(id).image_bytes(),
             table_literal(operation));
  for (const auto& [i, operand] : row.columns) {
    const std::string column = column_name(table, ColumnId{i});
    if (!table.columns[i].nullable) {
      if (!operand.is_null()) text_.line("{}.set(image, {});", column, operand.value);
    } else {
      text_.line("{}.set(image, {}, {});", column, operand.value, operand.null);
    }
  }
  write_insert(operation);
  text_.line("if (inserted != AccessStatus::kOk) return refuse(run, inserted, {});", operation.id.value);
}

void OperationEmitter::change(const Operation& operation, const Sink& sink) {
  if (AccessEmitter::is_point(operation) && access_.is_plain(operation.access[0])) {
    return access_.visit_outer_rows(operation, [&]() -> std::string {
      change_row(operation, sink);
      return "true";
    });
  }
  // All rows are found before the first is changed.
  text_.line("ArenaVector<RowRef> found_rows(*run.arena);");
  access_.visit_outer_rows(operation, [&]() -> std::string {
    text_.line("found_rows.push_back(row);");
    return "true";
  });
  text_.open("for (RowRef& row : found_rows)");
  change_row(operation, sink);
  text_.close();
}

void OperationEmitter::change_row(const Operation& operation, const Sink& sink) {
  if (operation.kind == OperationKind::kUpdate) return update_row(operation, sink);
  sink(evaluate_outputs(operation));
  text_.line("const AccessStatus erased = rows->erase({}, row);", table_literal(operation));
  text_.line("if (erased != AccessStatus::kOk) return refuse(run, erased, {});", operation.id.value);
}

void OperationEmitter::update_row(const Operation& operation, const Sink& sink) {
  const TableDefinition& table = scope_.schema.catalog().table(operation.access[0].table);
  const bool indexed = AccessEmitter::changes_indexes(scope_.schema.catalog(), operation);
  UnitScope::RowView& row = scope_.rows[0];
  std::vector<Operand> values;
  for (const ir::Assignment& assignment : operation.assignments) {
    const Column& column = table.column(assignment.column);
    Operand value = converted(expressions_.emit(assignment.value), rep_of(column.type));
    // The image that is written may be the very one that the text lies in.
    if (!indexed && reads_row_text(assignment.value) && !value.is_null()) {
      value.value = fmt::format("kept(run, {})", value.value);
    }
    value = expressions_.keep(value, "new_" + identifier_of(column.name) + "_");
    check_room(operation, assignment.column, assignment.value, value);
    if (!column.nullable && value.is_nullable()) {
      text_.fail_if(value.null, fmt::format("raise_not_null(run, {}, {}, ColumnId{{{}}})", scope_.where,
                                            table_literal(operation), assignment.column.value));
      value.null = "false";
    }
    values.push_back(std::move(value));
  }
  // RETURNING sees the new row.
  for (size_t i = 0; i < values.size(); ++i) {
    const ir::Assignment& assignment = operation.assignments[i];
    if (assignment.how == ir::Assignment::How::kSet) row.columns[assignment.column.value] = values[i];
  }
  sink(evaluate_outputs(operation));
  row.columns.clear();
  const RowLayout& layout = scope_.schema.layout(operation.access[0].table);
  const auto by_access = [&](const ir::Assignment& assignment) {
    return assignment.how == ir::Assignment::How::kSet &&
           (indexed || layout.place(assignment.column).is_long);
  };
  const bool all_by_access = std::ranges::all_of(operation.assignments, by_access);
  if (indexed || std::ranges::any_of(operation.assignments, by_access))
    store_by_access(operation, values,
                    [&](size_t i) { return indexed || by_access(operation.assignments[i]); });
  if (!indexed && !all_by_access)
    store_parts(operation, values, [&](size_t i) { return !by_access(operation.assignments[i]); });
}

void OperationEmitter::store_parts(const Operation& operation, const std::vector<Operand>& values,
                                   FunctionRef<bool(size_t)> is_stored) {
  const TableId id = operation.access[0].table;
  const TableDefinition& table = scope_.schema.catalog().table(id);
  const RowLayout& layout = scope_.schema.layout(id);
  ImageParts parts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_stored(i)) continue;
    const RowLayout::Place& place = layout.place(operation.assignments[i].column);
    parts |= ImageParts::of(place.offset, place.bytes);
    if (place.null_flag >= 0) parts |= ImageParts::of(static_cast<size_t>(place.null_flag), 1);
  }
  text_.line("std::byte* image = nullptr;");
  text_.line("const AccessStatus changed = rows->change_parts({}, row, ImageParts{{0x{:x}}}, image);",
             table_literal(operation), parts.bits());
  text_.line("if (changed != AccessStatus::kOk) return refuse(run, changed, {});", operation.id.value);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_stored(i)) continue;
    const ColumnId column = operation.assignments[i].column;
    const ir::Assignment::How how = operation.assignments[i].how;
    if (how != ir::Assignment::How::kSet) {
      text_.line("{}.{}(image, {});", column_name(table, column),
                 how == ir::Assignment::How::kAdd ? "add" : "subtract", values[i].value);
    } else if (!table.column(column).nullable) {
      text_.line("{}.set(image, {});", column_name(table, column), values[i].value);
    } else {
      text_.line("{}.set(image, {}, {});", column_name(table, column), values[i].value, values[i].null);
    }
  }
}

void OperationEmitter::store_by_access(const Operation& operation, const std::vector<Operand>& values,
                                       FunctionRef<bool(size_t)> is_stored) {
  const TableDefinition& table = scope_.schema.catalog().table(operation.access[0].table);
  std::string changes;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_stored(i)) continue;
    const ColumnId column = operation.assignments[i].column;
    changes += fmt::format("{}{{ColumnId{{{}}}, {}}}", changes.empty() ? "" : ", ", column.value,
                           boxed(values[i], table.column(column).type));
  }
  text_.line("const ColumnValue changes[] = {{{}}};", changes);
  text_.line("const AccessStatus updated = rows->update({}, row, changes);", table_literal(operation));
  text_.line("if (updated != AccessStatus::kOk) return refuse(run, updated, {});", operation.id.value);
}

}  // namespace mneme
