// SelectBinder's windows: the calls with OVER, the windows that they name, and what the rows keep for them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;
using ir::FrameBoundKind;
using ir::FrameMode;
using WindowKind = WindowFunction::Kind;

namespace {

constexpr Type kBucketType{.kind = TypeKind::kInt};
constexpr Type kPartType{.kind = TypeKind::kDouble};

struct WindowFunctionName {
  std::string_view name;
  WindowKind kind;
  size_t least;
  size_t most;  // arguments
};

constexpr std::array<WindowFunctionName, 11> kWindowFunctions = {{
    {"row_number", WindowKind::kRowNumber, 0, 0},
    {"rank", WindowKind::kRank, 0, 0},
    {"dense_rank", WindowKind::kDenseRank, 0, 0},
    {"percent_rank", WindowKind::kPercentRank, 0, 0},
    {"cume_dist", WindowKind::kCumeDist, 0, 0},
    {"ntile", WindowKind::kNtile, 1, 1},
    {"lag", WindowKind::kLag, 1, 3},
    {"lead", WindowKind::kLead, 1, 3},
    {"first_value", WindowKind::kFirstValue, 1, 1},
    {"last_value", WindowKind::kLastValue, 1, 1},
    {"nth_value", WindowKind::kNthValue, 2, 2},
}};

const WindowFunctionName* find_window_function(std::string_view name) {
  const auto found = std::ranges::find(kWindowFunctions, name, &WindowFunctionName::name);
  return found == kWindowFunctions.end() ? nullptr : found;
}

bool same_expressions(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b, same_expression);
}

bool same_window(const WindowPlan& a, const WindowPlan& b) {
  return same_expressions(a.partition, b.partition) &&
         std::ranges::equal(a.order, b.order, [](const WindowOrder& one, const WindowOrder& other) {
           return one.descending == other.descending && one.nulls_first == other.nulls_first &&
                  same_expression(one.expr, other.expr);
         });
}

bool same_bound(const WindowFunction::Bound& a, const WindowFunction::Bound& b) {
  return a.kind == b.kind && (!a.offset || same_expression(*a.offset, *b.offset));
}

bool same_function(const WindowFunction& a, const WindowFunction& b) {
  return a.kind == b.kind && a.type == b.type && same_expressions(a.args, b.args) &&
         same_aggregate(a.aggregate, b.aggregate) && a.mode == b.mode && same_bound(a.start, b.start) &&
         same_bound(a.end, b.end) && a.exclusion == b.exclusion;
}

// PostgreSQL's grammar has these as expressions, not as functions.
bool is_syntax(std::string_view name) {
  return name == "coalesce" || name == "nullif" || name == "greatest" || name == "least";
}

std::string_view frame_word(FrameMode mode) {
  return mode == FrameMode::kRows ? "ROWS" : mode == FrameMode::kRange ? "RANGE" : "GROUPS";
}

}  // namespace

bool is_window_function(std::string_view name) {
  return find_window_function(name) != nullptr;
}

Expr SelectBinder::bind_window(const syntax::Expr& call) {
  if (in_aggregate_) {
    refuse_as(sqlstate::kGrouping, call.where,
              "aggregate function calls cannot contain window function calls");
  }
  if (in_window_) refuse_as(sqlstate::kWindowing, call.where, "window function calls cannot be nested");
  if (!allows_windows_)
    refuse_as(sqlstate::kWindowing, call.where, "window functions are not allowed in {}", clause_);
  const WindowFunctionName* named = find_window_function(call.text);
  if (named == nullptr && !is_aggregate(call.text)) {
    if (is_syntax(call.text)) refuse(call.where, "{}() is not written with OVER", call.text);
    syntax::Expr plain = call;
    plain.window.reset();
    bind(plain);  // refuses a function that there is not
    refuse_as(sqlstate::kWrongObject, call.where,
              "OVER specified, but {} is not a window function nor an aggregate function", call.text);
  }
  if (call.distinct)
    refuse_as(sqlstate::kNotSupported, call.where, "DISTINCT is not implemented for window functions");
  if (call.order) {
    refuse_as(sqlstate::kNotSupported, call.where,
              "aggregate ORDER BY is not implemented for window functions");
  }
  if (call.filter && named != nullptr) {
    refuse_as(sqlstate::kNotSupported, call.where,
              "FILTER is not implemented for non-aggregate window functions");
  }
  in_window_ = true;
  WindowFunction function;
  if (named != nullptr) {
    const size_t given = call.args.size();
    if (given < named->least || given > named->most) {
      refuse_as(sqlstate::kUndefinedFunction, call.where, "{}() takes {} to {} arguments, and here are {}",
                call.text, named->least, named->most, given);
    }
    function.kind = named->kind;
    bind_window_arguments(call, function);
  } else {
    function.kind = WindowKind::kAggregate;
    function.aggregate = bind_aggregate_parts(call);
    function.type = function.aggregate.type;
  }
  WindowParts parts = bind_window_parts(*call.window);
  in_window_ = false;
  function.mode = parts.frame.mode;
  function.start = std::move(parts.frame.start);
  function.end = std::move(parts.frame.end);
  function.exclusion = parts.frame.exclusion;
  Expr result = output_column(0, function.type, call.where);
  result.source = kWindowResults;
  add_window_function(std::move(function), parts.plan, result);
  return result;
}

void SelectBinder::bind_window_arguments(const syntax::Expr& call, WindowFunction& function) {
  std::vector<Expr>& args = function.args;
  for (const syntax::Expr& arg : call.args) args.push_back(bind(arg));
  const auto require_int = [&](size_t number) {
    if (number >= args.size()) return;
    Expr& arg = args[number];
    const bool fits =
        is_unknown(arg) || arg.type.kind == TypeKind::kInt || arg.type.kind == TypeKind::kSmallInt;
    if (!fits) {
      refuse_as(sqlstate::kUndefinedFunction, call.where,
                "function {}() does not exist for an argument of type {}; use an integer", call.text,
                to_string(arg.type));
    }
    arg = is_unknown(arg) ? convert_explicitly(std::move(arg), kBucketType)
                          : convert(std::move(arg), kBucketType);
  };
  const auto require_type = [&](const Expr& arg) {
    if (!is_unknown(arg)) return;
    refuse_as(sqlstate::kDatatypeMismatch, call.where,
              "could not determine polymorphic type because input has type unknown");
  };
  switch (function.kind) {
    case WindowKind::kAggregate:
    case WindowKind::kRowNumber:
    case WindowKind::kRank:
    case WindowKind::kDenseRank:
      function.type = kCountType;
      break;
    case WindowKind::kPercentRank:
    case WindowKind::kCumeDist:
      function.type = kPartType;
      break;
    case WindowKind::kNtile:
      require_int(0);
      function.type = kBucketType;
      break;
    case WindowKind::kLag:
    case WindowKind::kLead: {
      require_int(1);
      if (args.size() < 3) {
        require_type(args[0]);
        function.type = args[0].type;
        break;
      }
      const std::vector<Expr*> results = {&args[0], &args[2]};
      const std::string types =
          fmt::format("{}, integer, {}", to_string(args[0].type), to_string(args[2].type));
      ExpressionBinder(binder_.names_, binder_.strings_, this).give_own_digits(results);
      bool text_varies = false;
      try {
        function.type = unify_results(results, call.text, text_varies);
      } catch (const SourceError& error) {
        const bool is_mismatch =
            error.sqlstate != nullptr && std::string_view(error.sqlstate) == sqlstate::kDatatypeMismatch;
        if (!is_mismatch) throw;
        refuse_as(sqlstate::kUndefinedFunction, call.where, "function {}({}) does not exist", call.text,
                  types);
      }
      break;
    }
    case WindowKind::kFirstValue:
    case WindowKind::kLastValue:
    case WindowKind::kNthValue:
      require_type(args[0]);
      require_int(1);
      function.type = args[0].type;
      break;
  }
  for (Expr& arg : args) arg = binder_.finish(std::move(arg));
}

// Adds the function, unless there is one that gives the same, and has the result name it.
void SelectBinder::add_window_function(WindowFunction function, const WindowPlan& window, Expr& result) {
  std::vector<WindowFunction>& functions = select_->window_functions;
  auto own = std::ranges::find_if(select_->windows,
                                  [&](const WindowPlan& each) { return same_window(each, window); });
  if (own == select_->windows.end()) {
    select_->windows.push_back(window);
    own = select_->windows.end() - 1;
  }
  const auto known = std::ranges::find_if(
      own->functions, [&](uint32_t number) { return same_function(functions[number], function); });
  if (known != own->functions.end()) {
    result.column = ColumnId{*known};
    return;
  }
  result.column = ColumnId{static_cast<uint32_t>(functions.size())};
  own->functions.push_back(result.column.value);
  functions.push_back(std::move(function));
}

// Drops the functions from number `kept_functions` on.
void SelectBinder::forget_windows(size_t kept_functions) {
  select_->window_functions.resize(kept_functions);
  for (WindowPlan& window : select_->windows)
    std::erase_if(window.functions, [&](uint32_t number) { return number >= kept_functions; });
  std::erase_if(select_->windows, [](const WindowPlan& window) { return window.functions.empty(); });
}

// The windows of the WINDOW clause, each of which may extend those before it.
void SelectBinder::name_windows(const syntax::SelectCore& core) {
  for (const syntax::NamedWindow& each : core.windows) {
    const std::string& name = each.name.text;
    const bool is_known =
        std::ranges::any_of(named_windows_, [&](const auto& one) { return one.first == name; });
    if (is_known) refuse_as(sqlstate::kWindowing, each.name.where, "window \"{}\" is already defined", name);
    named_windows_.emplace_back(name, bind_window_parts(each.window));
  }
}

SelectBinder::WindowParts SelectBinder::bind_window_parts(const syntax::Window& window) {
  WindowParts parts;
  const std::string& base = window.base.text;
  if (!window.base.empty()) {
    const auto found =
        std::ranges::find_if(named_windows_, [&](const auto& one) { return one.first == base; });
    if (found == named_windows_.end())
      refuse_as(sqlstate::kUndefinedObject, window.base.where, "window \"{}\" does not exist", base);
    parts = found->second;
    if (window.is_base) return parts;
    if (!window.partition.empty()) {
      refuse_as(sqlstate::kWindowing, window.where, "cannot override PARTITION BY clause of window \"{}\"",
                base);
    }
    if (!window.order.empty() && !parts.plan.order.empty())
      refuse_as(sqlstate::kWindowing, window.where, "cannot override ORDER BY clause of window \"{}\"", base);
    if (parts.has_frame) {
      refuse_as(sqlstate::kWindowing, window.where, "cannot copy window \"{}\" because it has a frame clause",
                base);
    }
  }
  const bool allowed = std::exchange(allows_windows_, false);
  const bool nested = std::exchange(in_window_, false);
  const std::string_view clause = std::exchange(clause_, "window definitions");
  for (const syntax::Expr& expr : window.partition)
    parts.plan.partition.push_back(binder_.finish(resolve_as_text(bind_item(expr))));
  for (const syntax::OrderItem& item : window.order) {
    parts.plan.order.push_back({binder_.finish(order_key(bind_item(item.expr), item.expr.where)),
                                item.descending, item.nulls_first.value_or(item.descending)});
  }
  if (window.frame) bind_frame(*window.frame, window.where, parts);
  clause_ = clause;
  in_window_ = nested;
  allows_windows_ = allowed;
  return parts;
}

void SelectBinder::bind_frame(const syntax::WindowFrame& frame, ir::SourceLocation where,
                              WindowParts& parts) {
  const bool has_offset = frame.start.offset || frame.end.offset;
  if (frame.mode == FrameMode::kRange && has_offset && parts.plan.order.size() != 1) {
    refuse_as(sqlstate::kWindowing, where,
              "RANGE with offset PRECEDING/FOLLOWING requires exactly one ORDER BY column");
  }
  if (frame.mode == FrameMode::kGroups && parts.plan.order.empty())
    refuse_as(sqlstate::kWindowing, where, "GROUPS mode requires an ORDER BY clause");
  parts.has_frame = true;
  parts.frame.mode = frame.mode;
  parts.frame.exclusion = frame.exclusion;
  parts.frame.start = {frame.start.kind, bind_frame_offset(frame.start, frame.mode, parts)};
  parts.frame.end = {frame.end.kind, bind_frame_offset(frame.end, frame.mode, parts)};
}

std::optional<Expr> SelectBinder::bind_frame_offset(const syntax::FrameBound& bound, FrameMode mode,
                                                    const WindowParts& parts) {
  if (!bound.offset) return std::nullopt;
  const bool allowed = std::exchange(allows_aggregates_, false);
  const std::string_view clause = std::exchange(clause_, mode == FrameMode::kRows    ? "window ROWS"
                                                         : mode == FrameMode::kRange ? "window RANGE"
                                                                                     : "window GROUPS");
  Expr offset = bind(*bound.offset);
  clause_ = clause;
  allows_aggregates_ = allowed;
  if (mode == FrameMode::kRange) {
    const Type& type = parts.plan.order[0].expr.type;
    const bool takes_any_number = type.kind == TypeKind::kNumeric || type.kind == TypeKind::kDecimal;
    const bool is_span = type.is_time() || type.kind == TypeKind::kInterval || type.kind == TypeKind::kTime;
    const bool fits = is_unknown(offset)   ? type.is_number() || is_span
                      : is_span            ? offset.type.kind == TypeKind::kInterval
                      : type.is_integer()  ? offset.type.is_integer()
                      : type.is_floating() ? offset.type.is_number()
                                           : takes_any_number && offset.type.is_exact();
    if (!fits) {
      refuse_as(
          sqlstate::kNotSupported, offset.where,
          "RANGE with offset PRECEDING/FOLLOWING is not supported for column type {} and offset type {}",
          message_name(type), message_name(offset.type));
    }
    if (is_span) {
      offset = convert_explicitly(std::move(offset), Type{.kind = TypeKind::kInterval});
    } else if (type.is_floating()) {
      offset = convert_explicitly(std::move(offset), kPartType);
    } else if (type.is_integer()) {
      offset = convert_explicitly(std::move(offset), kCountType);
    } else {
      if (is_unknown(offset)) offset = convert_explicitly(std::move(offset), type);
      if (offset.type.is_integer()) offset = convert_explicitly(std::move(offset), numeric_type(0));
      offset = with_own_digits(std::move(offset));
    }
  } else {
    if (!is_unknown(offset) && !offset.type.is_number()) {
      refuse_as(sqlstate::kDatatypeMismatch, offset.where, "argument of {} must be type bigint, not type {}",
                frame_word(mode), to_string(offset.type));
    }
    offset = convert_explicitly(std::move(offset), kCountType);
  }
  ir::walk(offset, [&](const Expr& part) {
    if (part.kind == ExprKind::kColumn) {
      refuse_as(sqlstate::kInvalidReference, part.where, "argument of {} must not contain variables",
                frame_word(mode));
    }
  });
  return binder_.finish(std::move(offset));
}

// Once the expressions are those of the rows that HAVING leaves: has the outputs, and the windows themselves,
// name columns of the rows that are kept.
void SelectBinder::finish_windows() {
  const auto each_expression = [&](auto&& visit) {
    for (WindowFunction& function : select_->window_functions)
      for_each_expression_of_window_function(function, visit);
    for (WindowPlan& window : select_->windows) {
      for (Expr& expr : window.partition) visit(expr);
      for (WindowOrder& order : window.order) visit(order.expr);
    }
  };
  if (select_->grouped) each_expression([&](Expr& expr) { group(expr); });
  each_expression([&](Expr& expr) { keep_columns(expr); });
  for (Expr& output : select_->outputs) keep_columns(output);
  for (SetItem& item : set_items_) {
    if (item.in_from) continue;
    for (Expr& arg : item.function.args) keep_columns(arg);
  }
}

void SelectBinder::keep_columns(Expr& expr) {
  if (is_window_result(expr)) {
    expr.source = 0;
    return;
  }
  if (is_set_result(expr)) return;
  if (expr.kind == ExprKind::kColumn || expr.kind == ExprKind::kAggregate) {
    std::vector<Expr>& kept = select_->kept;
    const auto found =
        std::ranges::find_if(kept, [&](const Expr& each) { return same_expression(each, expr); });
    const auto number = static_cast<uint32_t>(found - kept.begin());
    if (found == kept.end()) kept.push_back(expr);
    expr = output_column(static_cast<uint32_t>(select_->window_functions.size()) + number, expr.type,
                         expr.where);
    return;
  }
  for (Expr& arg : expr.args) keep_columns(arg);
}

}  // namespace mneme::query
