// ProcedureBinder's arrays and cursors.
//
// Cursors     a cursor is the rows of its query, found when it is opened: an array a column, and the place of
//             the row that was fetched last, from 1; 0 stands before the first row, and one more than there
//             are behind the last. So it shows what was there when it was opened, as PostgreSQL's do.
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/schema/text_form.h"
#include "procedures/binder/any_query_binder.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"

namespace mneme {

using ir::Statement;
using ir::StatementKind;
using nodes::make_assign;
using nodes::make_boolean;
using nodes::make_statement;

namespace {

constexpr const char* kNoSuchCursor = "34000";
constexpr const char* kCursorInUse = "42P03";

ir::Expr constant_int(int64_t value, ir::SourceLocation where) {
  ir::Expr constant = nodes::make(ir::ExprKind::kConstant, nodes::kInt, where);
  constant.constant = Value::of_int(value);
  return constant;
}

ir::Expr cardinality_of(VariableId array, ir::SourceLocation where) {
  ir::Expr count = nodes::make(ir::ExprKind::kFunction, nodes::kInt, where);
  count.function = ir::Function::kCardinality;
  count.variable = array;
  return count;
}

}  // namespace

void ProcedureBinder::bind_array_assign(VariableId array, const syntax::Expr& value, ir::SourceLocation where,
                                        Statements& out) {
  Statement assign = make_statement(StatementKind::kArrayAssign, where);
  assign.variable = array;
  const auto array_named = [&](const syntax::Expr& expr) -> VariableId {
    const Declared* declared = expr.kind == syntax::ExprKind::kReference && expr.qualifier.empty()
                                   ? names_.find(expr.text)
                                   : nullptr;
    return declared ? declared->variable : VariableId{};
  };
  if (value.kind == syntax::ExprKind::kEmptyArray ||
      (value.kind == syntax::ExprKind::kString && value.text == "{}")) {
    out.push_back(std::move(assign));
    return;
  }
  if (value.kind == syntax::ExprKind::kCall && value.text == "array_append" && value.args.size() == 2 &&
      array_named(value.args[0]) == array) {
    assign.kind = StatementKind::kArrayAppend;
    assign.expr = bind_value_for(value.args[1], array);
    out.push_back(std::move(assign));
    return;
  }
  assign.source_array = array_named(value);
  if (assign.source_array.valid() && names_.type_of(assign.source_array) == names_.type_of(array)) {
    out.push_back(std::move(assign));
    return;
  }
  fill_array(array, value, where, out);
}

// A query computes any other value, and its rows are the elements: FOR each IN SELECT unnest(value) LOOP
// append it END LOOP. The value may read the array, so the array changes at the end alone.
void ProcedureBinder::fill_array(VariableId array, syntax::Expr value, ir::SourceLocation where,
                                 Statements& out) {
  const Type type = names_.type_of(array);
  // Nothing ever fills this one: it is NULL.
  const VariableId null = names_.declare_hidden("array that is NULL", type);
  const auto assign_to_array = [&](VariableId source) {
    Statement assign = make_statement(StatementKind::kArrayAssign, where);
    assign.variable = array;
    assign.source_array = source;
    return assign;
  };
  if (value.kind == syntax::ExprKind::kNull) {
    out.push_back(assign_to_array(null));
    return;
  }
  if (value.kind == syntax::ExprKind::kString) {
    syntax::Expr cast = syntax::make_expression(syntax::ExprKind::kCast, where);
    cast.type = written_type(type.element(), where);
    cast.type.is_array = true;
    cast.args.push_back(std::move(value));
    value = std::move(cast);
  }
  const syntax::Expr is_null = query_of(syntax::make_unary(ir::Op::kIsNull, value, where), out);
  syntax::Query query;
  query.where = query.first.where = where;
  syntax::SelectCore& core = query.first.select.emplace();
  core.where = where;
  core.items.push_back({false, {}, syntax::make_call("unnest", {std::move(value)}, where), {}});
  syntax::Operation select;
  select.where = where;
  select.text = "the elements of an array";
  select.query = std::make_shared<const syntax::Query>(std::move(query));
  const VariableId filled = names_.declare_hidden(names_.name_of(array), type);
  Statement clear = make_statement(StatementKind::kArrayAssign, where);
  clear.variable = filled;
  out.push_back(std::move(clear));
  Statement loop = make_statement(StatementKind::kForQuery, where);
  Type found_type;
  VariableId found;
  loop.operation = bind_any(select, nullptr, [&](const BoundAnyQuery& bound) {
    found_type = bound.types.at(0);
    found = names_.declare_hidden("element", found_type);
    return std::vector<VariableId>{found};
  });
  loop.found = names_.declare_hidden("found", nodes::kBoolean);
  Statement append = make_statement(StatementKind::kArrayAppend, where);
  append.variable = filled;
  append.expr = folded(convert_for_variable(names_, filled, nodes::make_variable(found, found_type, where)));
  loop.body.push_back(std::move(append));
  out.push_back(std::move(loop));
  Statement choice = make_statement(StatementKind::kIf, where);
  choice.expr = bind_condition(is_null);
  choice.body.push_back(assign_to_array(null));
  choice.else_body.push_back(assign_to_array(filled));
  out.push_back(std::move(choice));
}

// FOREACH x IN ARRAY a: a loop over the places of a copy of the array.
void ProcedureBinder::bind_for_each(const syntax::Statement& statement, Statements& out) {
  const syntax::Expr& of = *statement.expr;
  const ir::SourceLocation where = statement.where;
  const VariableId target = assignable(statement.target);
  const Declared* declared =
      of.kind == syntax::ExprKind::kReference && of.qualifier.empty() ? names_.find(of.text) : nullptr;
  const bool is_array =
      declared != nullptr && declared->variable.valid() && names_.type_of(declared->variable).is_array;
  Type type = is_array ? names_.type_of(declared->variable) : without_modifiers(names_.type_of(target));
  type.is_array = true;
  const VariableId copy = names_.declare_hidden("array in FOREACH", type);
  if (is_array) {
    Statement assign = make_statement(StatementKind::kArrayAssign, where);
    assign.variable = copy;
    assign.source_array = declared->variable;
    out.push_back(std::move(assign));
  } else {
    fill_array(copy, of, where, out);
  }
  out.push_back(nodes::make_raise_if(
      nodes::make_unary(ir::Op::kIsNull, nodes::kBoolean, cardinality_of(copy, where), where),
      sqlstate::kNullNotAllowed, "FOREACH expression must not be null", where));
  Statement loop = make_statement(StatementKind::kForRange, where);
  loop.variable = names_.declare_hidden("place in FOREACH", nodes::kInt);
  loop.expr = constant_int(1, where);
  loop.limit = cardinality_of(copy, where);
  ir::Expr element = nodes::make(ir::ExprKind::kArrayElement, type.element(), where);
  element.variable = copy;
  element.args.push_back(nodes::make_variable(loop.variable, nodes::kInt, where));
  Statements body;
  body.push_back(make_assign(target, convert_for_variable(names_, target, std::move(element)), where));
  bind_loop_body(statement, body);
  for (Statement& each : body) loop.body.push_back(std::move(each));
  out.push_back(std::move(loop));
}

// ---- cursors ----

void ProcedureBinder::declare_cursor(const syntax::Declaration& declaration, Statements& out) {
  const ir::SourceLocation where = declaration.name.where;
  OpenCursor cursor;
  cursor.name = declaration.name.text;
  cursor.from = declaration.cursor;
  for (const syntax::Parameter& parameter : declaration.cursor->parameters)
    cursor.parameters.push_back(
        names_.declare_hidden(cursor.name + " argument", names_.read_parameter_type(parameter.type)));
  cursor.is_open = names_.declare_hidden(cursor.name + " is open", nodes::kBoolean);
  cursor.place = names_.declare_hidden(cursor.name + " place", nodes::kInt);
  out.push_back(make_assign(cursor.is_open, make_boolean(false, where), where));
  cursors_.push_back(std::move(cursor));
}

ProcedureBinder::OpenCursor& ProcedureBinder::cursor_named(const syntax::Name& name) {
  const auto found = std::find_if(cursors_.rbegin(), cursors_.rend(),
                                  [&](const OpenCursor& cursor) { return cursor.name == name.text; });
  if (found == cursors_.rend())
    refuse(name.where, "\"{}\" is not a known cursor: declare it, as {} CURSOR FOR SELECT ...", name.text,
           name.text);
  return *found;
}

void ProcedureBinder::require_open(const OpenCursor& cursor, ir::SourceLocation where, Statements& out) {
  out.push_back(
      nodes::make_raise_if(nodes::make_not(nodes::make_variable(cursor.is_open, nodes::kBoolean, where)),
                           kNoSuchCursor, "cursor \"" + cursor.name + "\" does not exist", where));
}

// Evaluates the arguments, and opens a block in which the query may name the cursor's parameters. The caller
// closes the block.
void ProcedureBinder::begin_cursor_query(const OpenCursor& cursor, const syntax::Statement& statement,
                                         Statements& out) {
  const ir::SourceLocation where = statement.where;
  out.push_back(nodes::make_raise_if(nodes::make_variable(cursor.is_open, nodes::kBoolean, where),
                                     kCursorInUse, "cursor \"" + cursor.name + "\" already in use", where));
  const std::vector<syntax::Parameter>& parameters = cursor.from->parameters;
  if (statement.args.size() != parameters.size()) {
    refuse(where, "cursor {} takes {} argument{}, and {} are given", cursor.name, parameters.size(),
           parameters.size() == 1 ? "" : "s", statement.args.size());
  }
  std::vector<char> is_given(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    size_t place = i;
    const syntax::Expr* value = &statement.args[i];
    if (value->kind == syntax::ExprKind::kNamed) {
      const auto named = std::ranges::find_if(
          parameters, [&](const syntax::Parameter& each) { return each.name.text == value->text; });
      if (named == parameters.end())
        refuse(value->where, "cursor {} has no argument {}", cursor.name, value->text);
      place = static_cast<size_t>(named - parameters.begin());
      value = &value->args[0];
    }
    if (is_given[place] != 0) {
      refuse(value->where, "value for parameter \"{}\" of cursor \"{}\" specified more than once",
             parameters[place].name.text, cursor.name);
    }
    is_given[place] = 1;
    out.push_back(make_assign(cursor.parameters[place],
                              bind_value_for(queries_.hoist(*value, out), cursor.parameters[place]), where));
  }
  names_.open_block();
  for (size_t i = 0; i < parameters.size(); ++i)
    names_.declare_alias(parameters[i].name, cursor.parameters[i]);
}

void ProcedureBinder::bind_open(const syntax::Statement& statement, Statements& out) {
  const ir::SourceLocation where = statement.where;
  OpenCursor& cursor = cursor_named(statement.name);
  begin_cursor_query(cursor, statement, out);
  // No name of the user's holds a blank.
  const syntax::Name row{"row of cursor " + std::to_string(++calls_), where};
  names_.declare_record(row);
  Statement loop = make_statement(StatementKind::kForQuery, where);
  Bound bound = bind_operation_into(cursor.from->query, OperationBinder::Use::kForLoop, {{row, {}}}, out);
  loop.operation = bound.id;
  loop.found = names_.declare_hidden("found", nodes::kBoolean);
  for (Statement& taken : bound.taken) loop.body.push_back(std::move(taken));
  const auto& fields = *names_.get(row).record->fields;
  names_.close_block();
  const bool is_first = cursor.columns.empty();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Type& type = names_.type_of(fields[i].second);
    if (is_first) {
      Type list = type;
      list.is_array = true;
      cursor.names.push_back(fields[i].first);
      cursor.columns.push_back(names_.declare_hidden(cursor.name + " column", list));
    }
    Statement clear = make_statement(StatementKind::kArrayAssign, where);
    clear.variable = cursor.columns[i];
    out.push_back(std::move(clear));
    Statement append = make_statement(StatementKind::kArrayAppend, where);
    append.variable = cursor.columns[i];
    append.expr = nodes::make_variable(fields[i].second, type, where);
    loop.body.push_back(std::move(append));
  }
  out.push_back(std::move(loop));
  out.push_back(make_assign(cursor.place, constant_int(0, where), where));
  out.push_back(make_assign(cursor.is_open, make_boolean(true, where), where));
}

void ProcedureBinder::bind_close(const syntax::Statement& statement, Statements& out) {
  const ir::SourceLocation where = statement.where;
  const OpenCursor& cursor = cursor_named(statement.name);
  require_open(cursor, where, out);
  out.push_back(make_assign(cursor.is_open, make_boolean(false, where), where));
  for (const VariableId column : cursor.columns) {
    Statement clear = make_statement(StatementKind::kArrayAssign, where);
    clear.variable = column;
    out.push_back(std::move(clear));
  }
}

// The place that FETCH or MOVE goes to.
ir::Expr ProcedureBinder::next_place(const OpenCursor& cursor, const syntax::Statement& statement,
                                     Statements& out) {
  const ir::SourceLocation where = statement.where;
  const auto place = [&] { return nodes::make_variable(cursor.place, nodes::kInt, where); };
  const auto sum = [&](ir::Op op, ir::Expr left, ir::Expr right) {
    return nodes::make_binary(op, nodes::kInt, std::move(left), std::move(right), where);
  };
  const std::string& word = statement.words[0];
  if (word == "next" || word == "forward") return sum(ir::Op::kAdd, place(), constant_int(1, where));
  if (word == "prior" || word == "backward") return sum(ir::Op::kSubtract, place(), constant_int(1, where));
  if (word == "first") return constant_int(1, where);
  if (word == "last") return cardinality_of(cursor.columns[0], where);
  const VariableId number = names_.declare_hidden("number of a row", nodes::kInt);
  out.push_back(make_assign(number, bind_value_for(queries_.hoist(*statement.expr, out), number), where));
  const auto written = [&] { return nodes::make_variable(number, nodes::kInt, where); };
  if (word == "relative") return sum(ir::Op::kAdd, place(), written());
  // A negative number counts from the end.
  ir::Expr choice = nodes::make(ir::ExprKind::kCase, nodes::kInt, where);
  choice.args.push_back(
      nodes::make_binary(ir::Op::kLess, nodes::kBoolean, written(), constant_int(0, where), where));
  choice.args.push_back(
      sum(ir::Op::kAdd, sum(ir::Op::kAdd, cardinality_of(cursor.columns[0], where), constant_int(1, where)),
          written()));
  choice.args.push_back(written());
  return choice;
}

void ProcedureBinder::bind_fetch(const syntax::Statement& statement, Statements& out) {
  const ir::SourceLocation where = statement.where;
  const OpenCursor& cursor = cursor_named(statement.name);
  require_open(cursor, where, out);
  if (cursor.columns.empty()) {
    // The text has no OPEN before this FETCH, so the columns are not known.
    out.push_back(nodes::make_raise_if(make_boolean(true, where), sqlstate::kNotSupported,
                                       "cursor \"" + cursor.name + "\" is opened behind this FETCH", where));
    return;
  }
  const auto place = [&] { return nodes::make_variable(cursor.place, nodes::kInt, where); };
  const auto compare = [&](ir::Op op, ir::Expr left, ir::Expr right) {
    return nodes::make_binary(op, nodes::kBoolean, std::move(left), std::move(right), where);
  };
  out.push_back(make_assign(cursor.place, next_place(cursor, statement, out), where));
  // The place stays between 0 and one more than there are rows.
  const auto limit = [&](ir::Op op, const std::function<ir::Expr()>& bound) {
    Statement choice = make_statement(StatementKind::kIf, where);
    choice.expr = compare(op, place(), bound());
    choice.body.push_back(make_assign(cursor.place, bound(), where));
    out.push_back(std::move(choice));
  };
  limit(ir::Op::kLess, [&] { return constant_int(0, where); });
  limit(ir::Op::kGreater, [&] {
    return nodes::make_binary(ir::Op::kAdd, nodes::kInt, cardinality_of(cursor.columns[0], where),
                              constant_int(1, where), where);
  });
  const auto element = [&](size_t i) {
    const Type type = names_.type_of(cursor.columns[i]).element();
    ir::Expr value = nodes::make(ir::ExprKind::kArrayElement, type, where);
    value.variable = cursor.columns[i];
    value.args.push_back(place());
    return value;
  };
  const std::vector<syntax::Target>& targets = statement.targets;
  const bool is_record =
      targets.size() == 1 && targets[0].field.empty() && names_.get(targets[0].name).record != nullptr;
  if (is_record) {
    std::vector<Type> types;
    for (const VariableId column : cursor.columns) types.push_back(names_.type_of(column).element());
    const std::vector<VariableId> fields =
        names_.fill_record(names_.get(targets[0].name), cursor.names, types, where);
    for (size_t i = 0; i < fields.size(); ++i) out.push_back(make_assign(fields[i], element(i), where));
  } else if (!targets.empty()) {
    if (targets.size() != cursor.columns.size()) {
      refuse(targets[0].name.where, "{} values go to {} variables; name as many variables as values",
             cursor.columns.size(), targets.size());
    }
    for (size_t i = 0; i < targets.size(); ++i) {
      const VariableId target = assignable(targets[i]);
      out.push_back(make_assign(target, folded(convert_for_variable(names_, target, element(i))), where));
    }
  }
  ir::Expr within = compare(ir::Op::kAnd, compare(ir::Op::kGreater, place(), constant_int(0, where)),
                            compare(ir::Op::kLessEqual, place(), cardinality_of(cursor.columns[0], where)));
  // Where the procedure reads FOUND (keep_found).
  out.push_back(make_assign(VariableId(), std::move(within), where));
}

// FOR row IN cursor: a loop over its query's rows. The cursor is open meanwhile.
void ProcedureBinder::bind_for_cursor(const syntax::Statement& statement, Statements& out) {
  const ir::SourceLocation where = statement.where;
  const OpenCursor cursor = cursor_named(statement.name);
  names_.open_block();
  names_.declare_record(statement.target.name);
  begin_cursor_query(cursor, statement, out);
  Statement loop = make_statement(StatementKind::kForQuery, where);
  Bound bound = bind_operation_into(cursor.from->query, OperationBinder::Use::kForLoop,
                                    {{statement.target.name, {}}}, out);
  names_.close_block();
  loop.operation = bound.id;
  for (Statement& taken : bound.taken) loop.body.push_back(std::move(taken));
  Statements body;
  bind_loop_body(statement, body);
  for (Statement& each : body) loop.body.push_back(std::move(each));
  names_.close_block();
  out.push_back(make_assign(cursor.is_open, make_boolean(true, where), where));
  out.push_back(std::move(loop));
  out.push_back(make_assign(cursor.is_open, make_boolean(false, where), where));
}

}  // namespace mneme
