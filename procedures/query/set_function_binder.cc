// SelectBinder's functions that give rows, in FROM and in the select list.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/decimal.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using syntax::FromItem;

namespace {

bool names_slot(const Expr& expr) {
  bool any = false;
  ir::walk(expr, [&](const Expr& part) { any |= part.kind == ExprKind::kColumn && part.source == 0; });
  return any;
}

bool is_series_of_times(std::span<const Expr> args) {
  const auto is_time = [](const Expr& arg) { return arg.type.is_time(); };
  return args.size() == 3 &&
         (std::ranges::any_of(args.first(2), is_time) || args[2].type.kind == TypeKind::kInterval);
}

}  // namespace

// No table is a partition of another.
constexpr std::string_view kPartitionAncestors = "pg_partition_ancestors";

namespace {

// The functions that give the parts of a json, each as unnest() of a list of them. `second`: that of a second
// column.
struct JsonRows {
  std::string_view name;
  const char* list;
  bool is_text;
  const char* second = nullptr;
};
constexpr JsonRows kJsonRows[] = {{"json_array_elements", "mneme_json_elements", false},
                                  {"jsonb_array_elements", "mneme_json_elements", false},
                                  {"json_array_elements_text", "mneme_json_element_texts", true},
                                  {"jsonb_array_elements_text", "mneme_json_element_texts", true},
                                  {"json_object_keys", "mneme_json_keys", true},
                                  {"jsonb_object_keys", "mneme_json_keys", true},
                                  {"json_each", "mneme_json_keys", true, "mneme_json_values"},
                                  {"jsonb_each", "mneme_json_keys", true, "mneme_json_values"},
                                  {"json_each_text", "mneme_json_keys", true, "mneme_json_value_texts"},
                                  {"jsonb_each_text", "mneme_json_keys", true, "mneme_json_value_texts"}};

const JsonRows* json_rows(std::string_view name) {
  const auto* const found = std::ranges::find(kJsonRows, name, &JsonRows::name);
  return found == std::end(kJsonRows) ? nullptr : found;
}

}  // namespace

bool is_set_function(const std::string& name) {
  return json_rows(name) != nullptr || name == "generate_series" || name == "unnest" ||
         name == "generate_subscripts" || name == "regexp_split_to_table" || name == "string_to_table" ||
         name == "regexp_matches" || name == kPartitionAncestors || name == syntax::kExpandArray;
}

bool calls_set_function(const syntax::Expr& expr) {
  return (expr.kind == syntax::ExprKind::kCall && is_set_function(expr.text)) ||
         std::ranges::any_of(expr.args, calls_set_function);
}

void refuse_sets(const syntax::Expr& expr, std::string_view where) {
  if (expr.kind == syntax::ExprKind::kCall && is_set_function(expr.text)) {
    refuse_as(sqlstate::kNotSupported, expr.where, "set-returning functions are not allowed in {}", where);
  }
  for (const syntax::Expr& arg : expr.args) refuse_sets(arg, where);
}

void refuse_chosen_sets(const syntax::Expr& expr) {
  if (expr.kind == syntax::ExprKind::kCase) return refuse_sets(expr, "CASE");
  if (expr.kind == syntax::ExprKind::kCall && expr.text == "coalesce") return refuse_sets(expr, "COALESCE");
  for (const syntax::Expr& arg : expr.args) refuse_chosen_sets(arg);
}

FromStep::SetFunction SelectBinder::bind_json_rows(const char* list, bool is_text, const std::string& name,
                                                   std::span<const syntax::Expr> args,
                                                   ir::SourceLocation where) {
  const Type type = name.starts_with("jsonb") ? kJsonbType : kJsonType;
  const auto refuse_call = [&](std::string_view types) {
    refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist", name, types);
  };
  if (args.size() != 1 || binder_.provider_ == nullptr) refuse_call(args.empty() ? "" : "...");
  Expr json = bind(args[0]);
  if (is_unknown(json)) json = convert_explicitly(std::move(json), type);
  if (!is_form(json.type, text_form(type))) refuse_call(message_name(json.type));
  binder_.bound_.makes_rows = true;
  FromStep::SetFunction function{FromStep::SetFunction::Kind::kElements, {}, is_text ? text_type() : type};
  std::vector<Expr> parts;
  parts.push_back(std::move(json));
  Expr array = call_provided(list, std::move(parts), where);
  function.args.push_back(binder_.finish(convert_explicitly(std::move(array), text_type())));
  return function;
}

FromStep::SetFunction SelectBinder::bind_set_function(const std::string& name,
                                                      std::span<const syntax::Expr> args,
                                                      ir::SourceLocation where) {
  using Kind = FromStep::SetFunction::Kind;
  if (name == kPartitionAncestors && args.size() == 1) {
    FromStep::SetFunction none{Kind::kSeries, {}, Type{.kind = TypeKind::kBigInt}};
    for (const int64_t bound : {1, 0}) {
      Expr& arg = none.args.emplace_back();
      arg.type = none.result;
      arg.constant = Value::of_int(bound);
    }
    return none;
  }
  if (const JsonRows* json = json_rows(name)) {
    if (json->second != nullptr) {
      refuse_as(sqlstate::kNotSupported, where,
                "{}() is supported in FROM alone; write SELECT * FROM {}(...)", name, name);
    }
    return bind_json_rows(json->list, json->is_text, name, args, where);
  }
  // These are unnest() of a function that gives an array.
  if (name == "regexp_split_to_table" || name == "string_to_table") {
    syntax::Expr array;
    array.kind = syntax::ExprKind::kCall;
    array.text = name == "string_to_table" ? "string_to_array" : "regexp_split_to_array";
    array.where = where;
    for (const syntax::Expr& arg : args) array.args.push_back(arg);
    return bind_set_function("unnest", {&array, 1}, where);
  }
  if (name == "regexp_matches" && (args.size() == 2 || args.size() == 3)) {
    FromStep::SetFunction matches{Kind::kMatches, {}, array_type_of(text_type())};
    binder_.bound_.makes_rows = true;
    for (const syntax::Expr& arg : args) matches.args.push_back(binder_.finish(convert_to_text(bind(arg))));
    return matches;
  }
  const bool is_series = name == "generate_series";
  const bool is_expanded = name == syntax::kExpandArray;
  if (!is_set_function(name) || args.size() < (name == "unnest" || is_expanded ? 1 : 2) ||
      args.size() > (is_series     ? 3
                     : is_expanded ? 1
                                   : 2)) {
    refuse_as(sqlstate::kUndefinedFunction, where,
              "function {}() does not exist among those that give rows; generate_series(from, to [, step]), "
              "unnest(array) and generate_subscripts(array, 1) do",
              name);
  }
  FromStep::SetFunction function{Kind::kSeries, {}, Type{.kind = TypeKind::kInt}};
  binder_.bound_.makes_rows = true;
  if (!is_series) {
    function.kind = is_expanded ? Kind::kExpanded : name == "unnest" ? Kind::kElements : Kind::kSubscripts;
    Expr array = bind(args[0]);
    if (!is_unknown(array) && !array.type.is_string())
      refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist", name,
                message_name(array.type));
    if (is_expanded) {
      if (array.type.elements != TypeKind::kSmallInt && array.type.elements != TypeKind::kInt &&
          array.type.elements != TypeKind::kBigInt)
        refuse_as(sqlstate::kNotSupported, where, "_pg_expandarray() is supported of integers alone");
      function.result = kExpandedType;
    }
    if (function.kind == Kind::kElements) function.result = text_type();
    if (function.kind == Kind::kElements && array.type.elements != TypeKind::kNull)
      function.result = element_of(array.type);
    // A parameter that is an array keeps its type: clients are told of it as it stands here.
    if (array.type.elements == TypeKind::kNull) array = convert_explicitly(std::move(array), text_type());
    function.args.push_back(binder_.finish(std::move(array)));
    if (function.kind == Kind::kSubscripts)
      function.args.push_back(binder_.finish(convert_explicitly(bind(args[1]), function.result)));
    return function;
  }
  std::vector<Expr> bounds;
  for (const syntax::Expr& arg : args) bounds.push_back(bind(arg));
  if (is_series_of_times(bounds)) return bind_series_of_times(std::move(bounds));
  const auto is_fraction = [](const Expr& bound) {
    return bound.type.kind == TypeKind::kNumeric || bound.type.kind == TypeKind::kDecimal;
  };
  if (std::ranges::any_of(bounds, is_fraction)) {
    function.kind = Kind::kNumbers;
    function.result = kDecimalType;
    for (Expr& bound : bounds) {
      if (!is_unknown(bound) && !bound.type.is_exact()) {
        refuse_as(sqlstate::kUndefinedFunction, where,
                  "function generate_series() of numeric and {} does not exist", to_string(bound.type));
      }
      bound = is_unknown(bound) ? convert_explicitly(std::move(bound), kDecimalType)
                                : with_own_digits(std::move(bound));
      function.args.push_back(binder_.finish(std::move(bound)));
    }
    return function;
  }
  for (Expr& bound : bounds) {
    if (is_unknown(bound)) bound = convert_explicitly(std::move(bound), function.result);
    if (!bound.type.is_integer())
      refuse_as(sqlstate::kNotSupported, bound.where,
                "generate_series() of {} is not supported; use integers", to_string(bound.type));
    if (bound.type.kind == TypeKind::kBigInt) function.result = bound.type;
    function.args.push_back(std::move(bound));
  }
  for (Expr& arg : function.args) arg = binder_.finish(convert(std::move(arg), function.result));
  return function;
}

// generate_series() of two times and an interval.
FromStep::SetFunction SelectBinder::bind_series_of_times(std::vector<Expr> args) {
  constexpr Type kStep{.kind = TypeKind::kInterval};
  FromStep::SetFunction function{FromStep::SetFunction::Kind::kTimes, {}, Type{.kind = TypeKind::kTimestamp}};
  bool is_plain = false;
  for (size_t i = 0; i < 2; ++i) {
    const Type& type = args[i].type;
    function.result.is_zoned |= type.is_zoned;
    is_plain |= type.kind == TypeKind::kTimestamp && !type.is_zoned;
  }
  // What is no timestamp becomes a moment: of a date, that at which it begins.
  function.result.is_zoned |= !is_plain;
  for (size_t i = 0; i < args.size(); ++i) {
    Expr& arg = args[i];
    const bool fits = is_unknown(arg) || (i < 2 ? arg.type.is_time() : arg.type.kind == TypeKind::kInterval);
    if (!fits) {
      refuse_as(sqlstate::kUndefinedFunction, arg.where,
                "generate_series() of times takes two of them, and an interval");
    }
    arg = binder_.finish(convert_explicitly(std::move(arg), i < 2 ? function.result : kStep));
    function.args.push_back(std::move(arg));
  }
  return function;
}

// A function that gives one value is a table of one row in FROM: (SELECT f(...) AS name).
std::optional<syntax::Query> SelectBinder::query_of_function(const FromItem& item) const {
  const std::string& name = item.name.text;
  const bool is_provided_table =
      binder_.provider_ != nullptr && binder_.provider_->find(item.schema, name + "()").has_value();
  if (item.with_ordinality || is_set_function(name) || is_provided_table) return std::nullopt;
  syntax::Query query;
  query.where = query.first.where = item.where;
  syntax::SelectCore& core = query.first.select.emplace();
  core.where = item.where;
  syntax::SelectItem& value = core.items.emplace_back();
  value.expr.kind = syntax::ExprKind::kCall;
  value.expr.where = item.name.where;
  value.expr.text = name;
  value.expr.args = item.args;
  value.alias = item.alias.empty() ? item.name : item.alias;
  return query;
}

// Binds the query of a function that returns rows in the place of its call. The query finds the arguments as
// columns of a scope around it.
bool SelectBinder::bind_rows_of_routine(const FromItem& item, FromStep& step) {
  Names& names = binder_.names_;
  const syntax::Procedure* routine =
      is_set_function(item.name.text) ? nullptr : names.find_routine(item.name.text);
  if (routine == nullptr || !routine->returns_rows) return false;
  if (item.with_ordinality) {
    refuse_as(sqlstate::kNotSupported, item.where,
              "WITH ORDINALITY is not supported of {}(); use row_number()", item.name.text);
  }
  RowScope parameters(names, nullptr, false);
  const std::vector<const syntax::Expr*> given = arguments_of(*routine, item.args, item.name.where);
  for (size_t i = 0; i < given.size(); ++i) {
    const syntax::Parameter& parameter = routine->parameters[i];
    if (parameter.out) continue;
    const Type type = names.read_parameter_type(parameter.type);
    if (type.is_array) {
      refuse_as(sqlstate::kNotSupported, item.where,
                "function {} has parameters that are arrays, and cannot be called here", item.name.text);
    }
    Expr value = argument_for(bind(*given[i]), type, i + 1, *routine);
    use_slots(value);
    // The query may name the argument by the parameter's name, or as $n.
    for (const std::string& name : {parameter.name.text, "$" + std::to_string(i + 1)}) {
      if (!name.empty()) parameters.add({.source = item.name.text, .name = name, .expr = value});
    }
  }
  const Names::InRoutine alone(names, item.name.text, item.where);
  names.open_block();
  const std::vector<QueryBinder::CommonTable> all = std::exchange(binder_.common_tables_, {});
  step.source = FromStep::Source::kQuery;
  QueryBinder::Inputs captured;
  step.query = binder_.bind_query(query_of_rows(*routine, names), &parameters, true, &captured);
  binder_.common_tables_ = all;
  step.inputs = std::move(captured);
  step.is_lateral = !step.inputs.empty();
  const bool is_one = step.query->columns.size() == 1 && routine->row_columns.size() == 1 &&
                      routine->row_columns[0].name.text == routine->name.text;
  for (Column& column : step.query->columns) column.origin.reset();
  std::vector<Column> columns = step.query->columns;
  for (Column& column : columns) column.name = bare_name(column.name);
  // Where the function returns one value a row, its column has the name that FROM gives the function.
  if (is_one && !item.alias.empty()) columns[0].name = item.alias.text;
  add_columns(item, step, columns);
  return true;
}

void SelectBinder::bind_function_table(const FromItem& item, FromStep& step) {
  if (!item.with_ordinality && binder_.provider_ != nullptr) {
    const auto provided = binder_.provider_->find(item.schema, item.name.text + "()");
    // One that takes arguments has no rows for any.
    if (provided && (item.args.empty() || binder_.provider_->is_always_empty(*provided))) {
      step.source = FromStep::Source::kProvided;
      step.provided = *provided;
      const std::span<const Column> columns = binder_.provider_->columns(*provided);
      return add_columns(item, step, {columns.begin(), columns.end()});
    }
  }
  step.source = FromStep::Source::kSets;
  // unnest() of several arrays is as many functions side by side.
  const bool are_several = item.name.text == "unnest" && item.args.size() > 1;
  const JsonRows* const json = json_rows(item.name.text);
  const bool has_two = json != nullptr && json->second != nullptr;
  const size_t count = are_several ? item.args.size() : has_two ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    const std::span<const syntax::Expr> args(item.args);
    if (has_two && args.empty())
      refuse_as(sqlstate::kUndefinedFunction, item.name.where, "function {}() does not exist",
                item.name.text);
    if (has_two) {
      const bool is_text = i == 0 || item.name.text.ends_with("_text");
      step.sets.push_back(
          bind_json_rows(i == 0 ? json->list : json->second, is_text, item.name.text, args, item.name.where));
    } else {
      step.sets.push_back(
          bind_set_function(item.name.text, are_several ? args.subspan(i, 1) : args, item.name.where));
    }
    for (Expr& arg : step.sets.back().args) {
      step.is_lateral |= names_slot(arg);
      use_slots(arg);
    }
  }
  const std::string& name = item.alias.empty() ? item.name.text : item.alias.text;
  std::vector<Column> columns = {{name, step.sets[0].result}};
  for (size_t i = 1; i < count; ++i) columns.push_back({item.name.text, step.sets[i].result});
  if (are_several) columns[0].name = item.name.text;
  const bool is_named_value =
      json != nullptr && !has_two && item.name.text.find("_elements") != std::string::npos;
  if (has_two) {
    columns[0].name = "key";
    columns[1].name = "value";
  }
  if (is_named_value) columns[0].name = "value";
  step.with_ordinality = item.with_ordinality;
  if (item.with_ordinality) columns.push_back({"ordinality", Type{.kind = TypeKind::kBigInt}});
  add_columns(item, step, columns);
  // The table's name alone means its only column, where that has another one.
  if (count == 1 && !item.with_ordinality && scope_.entries().back().name != step.name) {
    scope_.add({.source = step.name,
                .name = step.name,
                .expr = output_column(step.slots.begin, columns[0].type, item.where),
                .is_system = true});
  }
}

}  // namespace mneme::query
