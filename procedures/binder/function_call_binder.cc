// Functions of a user's in expressions: which are one themselves, and stand in the place of a call.
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "engine/schema/text_form.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/value_text.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;

bool converts_implicitly(const Type& from, const Type& to) {
  if (from.is_string() || to.is_string()) return from.is_string() && to.is_string();
  if (from.kind == TypeKind::kDate && to.kind == TypeKind::kTimestamp) return true;
  if (from.kind == TypeKind::kTime && to.kind == TypeKind::kInterval) return true;
  // What a clock shows becomes a moment, and not the other way round.
  if (from.is_zoned && !to.is_zoned) return false;
  if (!from.is_number() || !to.is_number()) return from.kind == to.kind;
  const auto width = [](const Type& type) {
    switch (type.kind) {
      case TypeKind::kSmallInt:
        return 0;
      case TypeKind::kInt:
        return 1;
      case TypeKind::kBigInt:
        return 2;
      case TypeKind::kNumeric:
      case TypeKind::kDecimal:
        return 3;
      case TypeKind::kReal:
        return 4;
      default:
        return 5;
    }
  };
  return width(from) <= width(to);
}

namespace {

bool looks_at_rows(const syntax::Expr& expr) {
  return expr.query != nullptr || std::ranges::any_of(expr.args, looks_at_rows);
}

bool names_parameter(const syntax::Expr& expr, const std::string& name, const std::string& number) {
  if (expr.kind == syntax::ExprKind::kReference && expr.qualifier.empty() && expr.text == name) return true;
  if (expr.kind == syntax::ExprKind::kParameter && expr.text == number) return true;
  return std::ranges::any_of(expr.args,
                             [&](const syntax::Expr& arg) { return names_parameter(arg, name, number); });
}

// Whether the expression evaluates the parameter whatever the values are.
bool always_evaluates(const syntax::Expr& expr, const std::string& name, const std::string& number) {
  using Kind = syntax::ExprKind;
  size_t always = expr.args.size();
  const bool is_and = expr.kind == Kind::kBinary && (expr.op == ir::Op::kAnd || expr.op == ir::Op::kOr);
  if (is_and || expr.kind == Kind::kCase || (expr.kind == Kind::kCall && expr.text == "coalesce")) always = 1;
  if (expr.kind == Kind::kInList || expr.kind == Kind::kBetween) always = 2;
  if (expr.kind == Kind::kCall && !is_own_function(expr.text)) always = 0;
  if (expr.args.empty()) return names_parameter(expr, name, number);
  return std::ranges::any_of(std::span(expr.args).first(std::min(always, expr.args.size())),
                             [&](const syntax::Expr& arg) { return always_evaluates(arg, name, number); });
}

// Whether it is another value each time.
bool is_volatile(const Expr& whole) {
  bool found = false;
  ir::walk(whole, [&](const Expr& expr) {
    found |= expr.function == Function::kNextValue || expr.function == Function::kCurrentValue ||
             expr.function == Function::kSetValue;
  });
  return found;
}

// Whether the expression neither fails nor does anything, however often it is evaluated.
bool is_plain(const Expr& expr) {
  if (expr.kind == ExprKind::kConstant || expr.kind == ExprKind::kVariable || expr.kind == ExprKind::kColumn)
    return true;
  return expr.kind == ExprKind::kCast && !expr.type.is_string() && expr.args[0].type.is_number() &&
         expr.args[0].type.kind < expr.type.kind && is_plain(expr.args[0]);
}

// What a session's query knows, but for its columns, which a function does not see.
class NamesInFunction final : public QueryNames {
 public:
  explicit NamesInFunction(QueryNames& outside) : outside_(outside) {}

  std::optional<Expr> find_column(const std::string&, const std::string&, ir::SourceLocation) override {
    return std::nullopt;
  }
  bool is_aggregate(const std::string&) const override { return false; }
  Expr bind_aggregate(const syntax::Expr& call) override { return outside_.bind_aggregate(call); }
  Expr bind_window(const syntax::Expr& call) override { return outside_.bind_window(call); }
  Expr bind_query(const syntax::Expr& expr) override { return outside_.bind_query(expr); }
  std::optional<Expr> bind_catalog_call(const syntax::Expr& call, ExpressionBinder& binder) override {
    return outside_.bind_catalog_call(call, binder);
  }
  std::optional<Expr> bind_routine_call(const syntax::Expr& call, const syntax::Procedure& routine,
                                        std::span<const syntax::Expr* const> given,
                                        ExpressionBinder& binder) override {
    return outside_.bind_routine_call(call, routine, given, binder);
  }
  Expr bind_array(const syntax::Expr& expr, ExpressionBinder& binder) override {
    return outside_.bind_array(expr, binder);
  }
  std::optional<Expr> bind_form_call(const std::string& name, std::vector<Expr>& args,
                                     ir::SourceLocation where) override {
    return outside_.bind_form_call(name, args, where);
  }
  Expr concat_arrays(Expr left, Expr right, ir::SourceLocation where) override {
    return outside_.concat_arrays(std::move(left), std::move(right), where);
  }
  std::optional<Expr> bind_catalog_cast(const syntax::Expr& cast, ExpressionBinder& binder) override {
    return outside_.bind_catalog_cast(cast, binder);
  }

 private:
  QueryNames& outside_;
};

}  // namespace

namespace {

// What a list of statements returns, as an expression: RETURN, and IF whose branches all return.
std::optional<syntax::Expr> returned_by(std::span<const syntax::Statement> statements, bool with_branches) {
  if (statements.empty()) return std::nullopt;
  const syntax::Statement& first = statements[0];
  const auto is_alone = [](const syntax::Expr& expr) {
    return !looks_at_rows(expr) && !names_parameter(expr, "found", "");
  };
  if (first.kind == syntax::StatementKind::kReturn && first.expr && is_alone(*first.expr)) return first.expr;
  if (first.kind != syntax::StatementKind::kIf || !with_branches) return std::nullopt;
  syntax::Expr choice;
  choice.kind = syntax::ExprKind::kCase;
  choice.has_else = true;
  choice.where = first.where;
  for (const syntax::Branch& branch : first.branches) {
    std::optional<syntax::Expr> result = returned_by(branch.statements, with_branches);
    if (!result || !is_alone(branch.conditions[0])) return std::nullopt;
    choice.args.push_back(branch.conditions[0]);
    choice.args.push_back(*std::move(result));
  }
  std::optional<syntax::Expr> otherwise = first.has_else ? returned_by(first.body, with_branches)
                                                         : returned_by(statements.subspan(1), with_branches);
  if (!otherwise) return std::nullopt;
  choice.args.push_back(*std::move(otherwise));
  return choice;
}

}  // namespace

std::optional<syntax::Expr> expression_of(const syntax::Procedure& routine, bool with_branches) {
  const syntax::Block& body = routine.body;
  if (!routine.is_function || !routine.returns || routine.returns_void() || !body.declarations.empty() ||
      !body.handlers.empty())
    return std::nullopt;
  return returned_by(body.statements, with_branches);
}

Expr argument_for(Expr value, const Type& parameter, size_t number, const syntax::Procedure& routine) {
  const std::string_view word = routine.is_function ? "function" : "procedure";
  if (!is_unknown(value) && !converts_implicitly(value.type, parameter)) {
    refuse_as(sqlstate::kUndefinedFunction, value.where,
              "argument {} of {} {} is of type {}, and this is of type {}; write CAST(... AS {})", number,
              word, routine.name.text, type_name(parameter), type_name(value.type), to_string(parameter));
  }
  Type own = without_modifiers(parameter);
  if (own.kind == TypeKind::kNumeric) {
    if (value.type.kind == TypeKind::kDecimal) return value;
    const Digits digits = decimals_of(value);
    if (digits.vary) require_certain_text(value, "an argument");
    own.scale = static_cast<uint8_t>(digits.count);
  }
  const bool varies = value.text_varies;
  Expr converted = convert_for_assignment(std::move(value), own, routine.name.text);
  converted.text_varies = converted.text_varies || varies;
  return converted;
}

void check_returns_value(const syntax::Procedure& routine, ir::SourceLocation where) {
  if (!routine.returns_rows) return;
  refuse_as(sqlstate::kNotSupported, where, "function {} returns rows: write SELECT * FROM {}(...)",
            routine.name.text, routine.name.text);
}

// The expression stands in the place of the call, and the arguments in the place of the parameters.
Expr ExpressionBinder::bind_routine(const syntax::Expr& call, const syntax::Procedure& routine) {
  const std::string& name = call.text;
  if (!routine.is_function)
    refuse_as(sqlstate::kWrongObject, call.where, "{} is a procedure; to call a procedure, use CALL", name);
  check_returns_value(routine, call.where);
  const std::optional<syntax::Expr> body = expression_of(routine, true);
  if (!body && query_ != nullptr) {
    const std::vector<const syntax::Expr*> given = arguments_of(routine, call.args, call.where);
    if (std::optional<Expr> run = query_->bind_routine_call(call, routine, given, *this))
      return *std::move(run);
  }
  if (!body) {
    refuse_as(sqlstate::kNotSupported, call.where,
              "function {} is more than an expression, and may be called here as SELECT {}(...) alone, or as "
              "variable := {}(...) in a procedure: assign what it returns first",
              name, name, name);
  }
  const std::vector<const syntax::Expr*> given = arguments_of(routine, call.args, call.where);
  std::vector<Expr> values;
  for (size_t i = 0; i < given.size(); ++i) {
    const Type type = names_.read_parameter_type(routine.parameters[i].type);
    if (type.is_array || routine.parameters[i].inout) {
      refuse_as(sqlstate::kNotSupported, call.where,
                "function {} has parameters that are arrays or results, and cannot be called here", name);
    }
    values.push_back(argument_for(bind(*given[i]), type, i + 1, routine));
    const std::string number = std::to_string(i + 1);
    const bool always =
        !routine.is_strict && always_evaluates(*body, routine.parameters[i].name.text, number);
    if ((!always && !is_plain(values.back())) || is_volatile(values.back())) {
      refuse_as(sqlstate::kNotSupported, given[i]->where,
                "function {} may not evaluate this argument, or more than once, where PostgreSQL evaluates "
                "it once; assign it "
                "to a variable, or write the function's expression",
                name);
    }
  }
  std::optional<Names::InRoutine> routine_alone(std::in_place, names_, name, call.where);
  names_.open_block();
  for (size_t i = 0; i < values.size(); ++i) {
    const syntax::Name& parameter = routine.parameters[i].name;
    if (!parameter.empty()) names_.declare_value(parameter, values[i]);
    names_.declare_value({"$" + std::to_string(i + 1), parameter.where}, values[i]);
  }
  std::optional<NamesInFunction> inside;
  if (query_ != nullptr) inside.emplace(*query_);
  ExpressionBinder binder =
      inside ? ExpressionBinder(names_, strings_, &*inside) : ExpressionBinder(names_, strings_);
  Expr result = binder.bind(*body);
  routine_alone.reset();
  Type type = result_type(routine, names_);
  const bool own_digits = result.type.kind == TypeKind::kDecimal && type.kind == TypeKind::kNumeric;
  if (type.kind == TypeKind::kNumeric && result.type.kind == TypeKind::kNumeric)
    type.scale = result.type.scale;
  const bool varies = result.text_varies;
  if (!own_digits) result = convert_for_assignment(std::move(result), type, name);
  result.text_varies = result.text_varies || varies;
  if (!routine.is_strict) return result;
  Expr choice;
  choice.kind = ExprKind::kCase;
  choice.type = result.type;
  choice.where = call.where;
  choice.text_varies = result.text_varies;
  for (const Expr& value : values) {
    Expr is_null;
    is_null.kind = ExprKind::kUnary;
    is_null.op = ir::Op::kIsNull;
    is_null.type.kind = TypeKind::kBoolean;
    is_null.where = call.where;
    is_null.args.push_back(value);
    Expr null;
    null.type = result.type;
    null.where = call.where;
    choice.args.push_back(std::move(is_null));
    choice.args.push_back(std::move(null));
  }
  if (values.empty()) return result;
  choice.args.push_back(std::move(result));
  return choice;
}

}  // namespace mneme
