// ExpressionBinder's casts, comparisons, lists, arrays and patterns: =, IN, = ANY, subscripts, LIKE.
#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "engine/schema/array_form.h"
#include "engine/schema/text_form.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/element_query.h"
#include "procedures/typing/constant_folding.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/array_text.h"
#include "procedures/values/decimal.h"
#include "procedures/values/type_oids.h"
#include "procedures/values/value_text.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Op;
using nodes::kBoolean;
using nodes::kInt;
using nodes::make;

VariableId ExpressionBinder::bind_array(const syntax::Expr& expr, std::string_view construct) {
  if (expr.kind == syntax::ExprKind::kParameter) {
    const VariableId parameter = names_.parameter(expr);
    if (names_.type_of(parameter).is_array) return parameter;
    refuse(expr.where, "{} needs an array here, and ${} is none", construct, expr.text);
  }
  const Declared* declared =
      expr.kind == syntax::ExprKind::kReference && expr.qualifier.empty() ? names_.find(expr.text) : nullptr;
  if (!declared || !declared->variable.valid() || !names_.type_of(declared->variable).is_array) {
    refuse_as(sqlstate::kNotSupported, expr.where, "{} needs an array variable here", construct);
  }
  if (find_column(sources_, "", expr.text, expr.where)) {
    refuse(expr.where, "{} is a variable and a column; rename the variable", expr.text);
  }
  return declared->variable;
}

// Arrays are texts, whose order is another one than the arrays', and numerics are written in several ways: a
// query compares keys, which have the arrays' order.
void ExpressionBinder::compare_arrays(Op op, Expr& left, Expr& right, ir::SourceLocation where) {
  const auto is_array = [](const Expr& side) { return side.type.elements != TypeKind::kNull; };
  if (!is_array(left) || !is_array(right)) return;
  const bool is_equality =
      op == Op::kEqual || op == Op::kNotEqual || op == Op::kIsDistinct || op == Op::kIsNotDistinct;
  if (is_equality && left.type.elements != TypeKind::kDecimal && has_array_key(left.type)) return;
  if (query_ == nullptr || !has_array_key(left.type)) {
    refuse_as(sqlstate::kNotSupported, where,
              "arrays are compared of integers, numerics, texts, booleans and times alone, and in queries");
  }
  for (Expr* side : {&left, &right}) {
    std::vector<Expr> args;
    args.push_back(std::move(*side));
    *side = *query_->bind_form_call("mneme_array_key", args, where);
  }
}

// Whether the text is digits, perhaps with a sign before them and a point among them.
static bool is_plain_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  return std::ranges::count(text, '.') <= 1 && std::ranges::any_of(text, is_ascii_digit) &&
         std::ranges::all_of(text, [](char c) { return c == '.' || is_ascii_digit(c); });
}

// 'now', 'today', 'tomorrow' and 'yesterday', cast to a date or a timestamp, ask for the time.
static std::optional<syntax::Expr> moment_of_word(const syntax::Expr& cast) {
  const bool is_written = cast.args[0].kind == syntax::ExprKind::kString && !cast.type.is_array;
  const std::string& type = cast.type.base;
  const bool has_day = type == "date" || type.starts_with("timestamp");
  if (!is_written || !has_day) return std::nullopt;
  std::string word = cast.args[0].text;
  std::ranges::transform(word, word.begin(), ascii_lower);
  const bool is_now = word == "now";
  if (!is_now && word != "today" && word != "tomorrow" && word != "yesterday") return std::nullopt;
  syntax::Expr moment = cast;
  const bool is_clock = is_now && type != "date";
  moment.args[0] = syntax::reference("", is_clock ? "localtimestamp" : "current_date", cast.where);
  if (!is_now && word != "today") {
    syntax::Expr one = syntax::make_expression(syntax::ExprKind::kInteger, cast.where);
    one.text = "1";
    moment.args[0] = syntax::make_binary(word == "tomorrow" ? Op::kAdd : Op::kSubtract,
                                         std::move(moment.args[0]), std::move(one));
  }
  return moment;
}

Expr ExpressionBinder::bind_cast(const syntax::Expr& expr) {
  if (!expr.type.table.empty()) {
    refuse(expr.type.table.where,
           "PostgreSQL knows %TYPE in declarations, and not in a cast; write the type's name");
  }
  if (const std::optional<syntax::Expr> moment = moment_of_word(expr)) return bind(*moment);
  if (query_ != nullptr) {
    if (std::optional<Expr> cast = query_->bind_catalog_cast(expr, *this)) return *std::move(cast);
  }
  const bool is_numeric =
      expr.type.base == "numeric" || expr.type.base == "decimal" || expr.type.base == "dec";
  if (query_ != nullptr && is_numeric && expr.type.modifiers.empty() && !expr.type.is_array) {
    Expr number = bind(expr.args[0]);
    if (is_form(number.type, TextForm::kJsonb)) number = scalar_of_json(std::move(number), kDecimalType);
    return convert_explicitly(std::move(number), kDecimalType);
  }
  if (is_numeric && expr.type.modifiers.empty() && !expr.type.is_array) {
    // A literal has as many digits as are written.
    syntax::Expr literal = expr.args[0];
    const bool is_negative = literal.text.starts_with('-');
    if (literal.kind == syntax::ExprKind::kString && is_plain_number(literal.text)) {
      literal.kind = syntax::ExprKind::kDecimal;
      if (is_negative) literal.text.erase(0, 1);
    }
    if (literal.kind == syntax::ExprKind::kDecimal) {
      Expr number = bind(literal);
      if (is_negative) number.constant = Value::of_numeric(-number.constant.as_numeric());
      return number;
    }
  }
  const Type target = names_.read_type(expr.type);
  if (target.is_array)
    refuse_as(sqlstate::kNotSupported, expr.where,
              "casts to arrays are not supported; declare a variable of type {}", to_string(target));
  // A number may have more digits than a numeric has here.
  const bool is_number = target.is_floating() && expr.args[0].kind == syntax::ExprKind::kDecimal;
  syntax::Expr literal;
  if (is_number) {
    literal = expr.args[0];
    literal.kind = syntax::ExprKind::kString;
  }
  Expr arg = bind(is_number ? literal : expr.args[0]);
  if (query_ != nullptr && target.is_string()) arg = with_own_digits_if_numeric(std::move(arg));
  const bool is_scalar = target.is_number() || target.kind == TypeKind::kBoolean;
  if (is_form(arg.type, TextForm::kJsonb) && is_scalar) arg = scalar_of_json(std::move(arg), target);
  return convert_explicitly(std::move(arg), target);
}

Expr ExpressionBinder::spell_array(Expr literal, const Type& element) {
  const std::optional<ArrayElements> elements = array_elements(literal.constant.as_text());
  if (!elements) {
    refuse_as(sqlstate::kInvalidText, literal.where, "malformed array literal: \"{}\"",
              literal.constant.as_text());
  }
  fmt::memory_buffer text;
  text.push_back('{');
  for (const std::optional<std::string>& spelled : *elements) {
    if (text.size() > 1) text.push_back(',');
    if (!spelled) {
      text.append(std::string_view("NULL"));
      continue;
    }
    Expr value = make(ExprKind::kConstant, Type{}, literal.where);
    value.constant = Value::of_text(*spelled);
    value = convert_explicitly(std::move(value), element);
    ConstantFolder folder(strings_);
    folder.fold_alone(value);
    CHECK(value.kind == ExprKind::kConstant);
    fmt::memory_buffer printed;
    print_value(element, value.constant, printed);
    append_array_element({printed.data(), printed.size()}, text);
  }
  text.push_back('}');
  literal.constant = Value::of_text(strings_.emplace_back(fmt::to_string(text)));
  literal.type = array_type_of(element);
  return literal;
}

std::optional<Expr> ExpressionBinder::bind_array_for(const syntax::Expr& expr, const Type& target,
                                                     std::string_view what) {
  const auto literal = [&](std::string_view text) {
    Expr constant = make(ExprKind::kConstant, Type{}, expr.where);
    constant.constant = Value::of_text(strings_.emplace_back(text));
    return constant;
  };
  if (expr.kind == syntax::ExprKind::kCast && expr.type.is_array && expr.type.table.empty()) {
    const syntax::Expr& arg = expr.args[0];
    const Type element = names_.read_type(expr.type).element();
    if (arg.kind == syntax::ExprKind::kString || arg.kind == syntax::ExprKind::kEmptyArray) {
      const std::string text = arg.kind == syntax::ExprKind::kString ? arg.text : "{}";
      return convert_for_assignment(spell_array(literal(text), element), target, what);
    }
    if (arg.kind == syntax::ExprKind::kArray) {
      std::optional<Expr> array = bind_array_for(arg, array_form(names_.read_type(expr.type)), what);
      if (!array) return std::nullopt;
      return convert_for_assignment(*std::move(array), target, what);
    }
    return std::nullopt;
  }
  if (expr.kind == syntax::ExprKind::kArray) {
    const Type element = declared_element(target);
    fmt::memory_buffer text;
    text.push_back('{');
    for (const syntax::Expr& arg : expr.args) {
      // An array of quoted literals is one of texts.
      if (arg.kind == syntax::ExprKind::kString && !element.is_string()) return std::nullopt;
      Expr value = convert_for_assignment(bind(arg), element, what);
      ConstantFolder(strings_).fold_alone(value);
      if (value.kind != ExprKind::kConstant) return std::nullopt;
      if (text.size() > 1) text.push_back(',');
      if (value.constant.is_null()) {
        text.append(std::string_view("NULL"));
        continue;
      }
      fmt::memory_buffer printed;
      print_value(element, value.constant, printed);
      append_array_element({printed.data(), printed.size()}, text);
    }
    text.push_back('}');
    Expr array = literal({text.data(), text.size()});
    array.type = target;
    return array;
  }
  VariableId variable;
  if (expr.kind == syntax::ExprKind::kParameter) {
    variable = names_.parameter(expr);
  } else if (expr.kind == syntax::ExprKind::kReference && expr.qualifier.empty() &&
             !find_column(sources_, "", expr.text, expr.where)) {
    const Declared* declared = names_.find(expr.text);
    if (declared != nullptr) variable = declared->variable;
  }
  if (!variable.valid() || !names_.type_of(variable).is_array) return std::nullopt;
  return convert_for_assignment(text_of_array(variable, expr.where), target, what);
}

Expr ExpressionBinder::text_of_array(VariableId variable, ir::SourceLocation where) {
  const Type element = names_.type_of(variable).element();
  Expr text = make(ExprKind::kFunction, array_type_of(element), where);
  text.function = ir::Function::kArrayText;
  text.variable = variable;
  text.args.push_back(make(ExprKind::kConstant, element, where));
  return text;
}

void ExpressionBinder::spell_as_array(Expr& literal, const Expr& array) {
  const bool is_literal =
      is_unknown(literal) && literal.kind == ExprKind::kConstant && !literal.constant.is_null();
  if (!is_literal || array.type.elements == TypeKind::kNull || is_vector(literal.constant.as_text())) return;
  literal = spell_array(std::move(literal), element_of(array.type));
}

// The number or the boolean that the jsonb is, to be cast to the target.
Expr ExpressionBinder::scalar_of_json(Expr json, const Type& target) {
  if (query_ == nullptr) {
    refuse_as(sqlstate::kNotSupported, json.where,
              "casts of jsonb to numbers and booleans are supported in queries alone");
  }
  const ir::SourceLocation where = json.where;
  std::vector<Expr> args;
  args.push_back(std::move(json));
  Expr& name = args.emplace_back(make(ExprKind::kConstant, text_type(), where));
  name.constant = Value::of_text(strings_.emplace_back(to_string(without_modifiers(target))));
  Expr text = *query_->bind_form_call("mneme_jsonb_cast", args, where);
  if (target.kind == TypeKind::kBoolean) return text;
  return convert_explicitly(std::move(text), kDecimalType);
}

// Two jsonb may be equal and written otherwise, as 1 and 1.0.
Expr ExpressionBinder::key_of_json(Expr json) {
  if (query_ == nullptr)
    refuse_as(sqlstate::kNotSupported, json.where, "comparisons of jsonb are supported in queries alone");
  const ir::SourceLocation where = json.where;
  std::vector<Expr> args;
  args.push_back(std::move(json));
  return *query_->bind_form_call("mneme_json_key", args, where);
}

Expr ExpressionBinder::compare(Op op, Expr left, Expr right, ir::SourceLocation where) {
  spell_as_array(left, right);
  spell_as_array(right, left);
  unify_for_comparison(left, right, where, op);
  compare_arrays(op, left, right, where);
  if (is_form(left.type, TextForm::kJsonb) && is_form(right.type, TextForm::kJsonb)) {
    left = key_of_json(std::move(left));
    right = key_of_json(std::move(right));
  }
  return nodes::make_binary(op, kBoolean, std::move(left), std::move(right), where);
}

Expr ExpressionBinder::bind_subscript(const syntax::Expr& expr) {
  if (query_ != nullptr && expr.args[0].kind != syntax::ExprKind::kParameter)
    return query_->bind_array(expr, *this);
  Expr element = make(ExprKind::kArrayElement, Type{}, expr.where);
  element.variable = bind_array(expr.args[0], "a subscript");
  element.type = names_.type_of(element.variable).element();
  element.text_varies = names_.text_varies(element.variable);
  element.args.push_back(bind_for(expr.args[1], kInt, "a subscript"));
  return element;
}

// PostgreSQL makes an array of the elements of IN that name no column, if there are two or more, and compares
// with the array first. The array's elements take the type that they and `wanted` have in common; `wanted`
// takes it, too, if it is a literal without a type.
static void arrange_array(Expr& wanted, std::vector<Expr>& elements, ir::SourceLocation where) {
  const auto in_array = [](const Expr& element) { return !has_column(element); };
  if (std::ranges::count_if(elements, in_array) < 2) return;
  const auto array_end = std::ranges::stable_partition(elements, in_array).begin();
  std::optional<Expr> typed;
  bool meet = true;
  const auto look_at = [&](const Expr& one) {
    if (is_unknown(one)) return;
    if (!typed) {
      typed = one;
    } else if (const std::optional<Type> common = common_type(typed->type, one.type)) {
      typed->type = *common;
    } else {
      meet = false;
    }
  };
  look_at(wanted);
  std::for_each(elements.begin(), array_end, look_at);
  if (!typed || !meet) return;
  const auto take_type = [&](Expr& one) {
    if (is_unknown(one)) {
      Expr other = *typed;
      unify_for_comparison(one, other, where);
    } else if (typed->type.is_floating() || typed->type.is_time() || typed->type.is_string()) {
      one = convert_explicitly(std::move(one), typed->type);
    }
  };
  if (is_unknown(wanted)) take_type(wanted);
  std::for_each(elements.begin(), array_end, take_type);
}

Expr ExpressionBinder::bind_in_list(const syntax::Expr& expr) {
  // The left side must have one type for all of the list. Where the list's types differ, it is spelled out
  // with OR, as PostgreSQL does.
  std::vector<Expr> elements;
  for (size_t i = 1; i < expr.args.size(); ++i) elements.push_back(bind(expr.args[i]));
  Expr wanted = bind(expr.args[0]);
  const bool is_literal = is_unknown(wanted);
  arrange_array(wanted, elements, expr.where);
  std::vector<Expr> comparisons;
  for (Expr& element : elements) {
    const ir::SourceLocation where = element.where;
    comparisons.push_back(
        compare(Op::kEqual, is_literal ? wanted : bind(expr.args[0]), std::move(element), where));
  }
  bool same = true;
  for (const Expr& comparison : comparisons) same &= comparison.args[0].type == comparisons[0].args[0].type;
  if (same) {
    Expr in = make(ExprKind::kInList, kBoolean, expr.where);
    in.args.push_back(std::move(comparisons[0].args[0]));
    for (Expr& comparison : comparisons) in.args.push_back(std::move(comparison.args[1]));
    return negate_if(expr.negated, std::move(in));
  }
  Expr any = ir::join(Op::kOr, comparisons);
  any.where = expr.where;
  return negate_if(expr.negated, std::move(any));
}

// a = ANY (ARRAY[b, c]) and a = ANY ('{b,c}') are a IN (b, c); <> ALL is NOT IN.
static std::optional<syntax::Expr> list_of_array(const syntax::Expr& expr) {
  const bool is_any = expr.op == Op::kEqual && !expr.is_all;
  const bool is_none = expr.op == Op::kNotEqual && expr.is_all;
  const syntax::Expr& array = expr.args[1];
  if (!is_any && !is_none) return std::nullopt;
  syntax::Expr list;
  list.kind = syntax::ExprKind::kInList;
  list.negated = is_none;
  list.where = expr.where;
  list.args.push_back(expr.args[0]);
  if (array.kind == syntax::ExprKind::kArray) {
    for (const syntax::Expr& element : array.args) list.args.push_back(element);
    return list;
  }
  if (array.kind != syntax::ExprKind::kString) return std::nullopt;
  const std::optional<ArrayElements> elements = array_elements(array.text);
  if (!elements || elements->empty()) return std::nullopt;
  for (const std::optional<std::string>& element : *elements) {
    syntax::Expr value;
    value.kind = element ? syntax::ExprKind::kString : syntax::ExprKind::kNull;
    value.text = element.value_or("");
    value.where = array.where;
    list.args.push_back(std::move(value));
  }
  return list;
}

// The arrays of the catalogs are text: what is asked of them, functions answer.
std::optional<Expr> ExpressionBinder::bind_any_of_text(const syntax::Expr& expr) {
  if (query_ == nullptr || expr.args[1].kind == syntax::ExprKind::kParameter || expr.is_all ||
      expr.op != Op::kEqual)
    return std::nullopt;
  syntax::Expr call;
  call.kind = syntax::ExprKind::kCall;
  call.text = "mneme_array_has";
  call.where = expr.where;
  call.args.push_back(expr.args[1]);
  call.args.push_back(expr.args[0]);
  return query_->bind_catalog_call(call, *this);
}

// = ANY ($1::int[]) is = ANY ($1) of a parameter that is an int[].
std::optional<syntax::Expr> ExpressionBinder::any_of_parameter(const syntax::Expr& expr) {
  const syntax::Expr& array = expr.args[1];
  const bool is_typed = array.kind == syntax::ExprKind::kCast && array.type.is_array &&
                        array.args[0].kind == syntax::ExprKind::kParameter;
  if (!is_typed || expr.op != Op::kEqual || expr.is_all) return std::nullopt;
  const bool has_own_digits = array.type.base == "numeric" && array.type.modifiers.empty();
  // Arrays of what only the catalogs have are texts.
  static constexpr std::array<std::string_view, 5> kOfCatalogs = {"oid", "xid", "cid", "name", "\"char\""};
  const std::string& base = array.type.base;
  if (base.starts_with("reg") || std::ranges::find(kOfCatalogs, base) != kOfCatalogs.end())
    return std::nullopt;
  if (has_own_digits || !array.type.table.empty()) return std::nullopt;
  const VariableId parameter = names_.parameter(array.args[0]);
  const Type wanted = names_.read_type(array.type);
  if (names_.type_of(parameter).kind == TypeKind::kNull) names_.set_parameter_type(parameter, wanted);
  const Type& given = names_.type_of(parameter);
  if (!given.is_array || given.kind != wanted.kind) return std::nullopt;
  syntax::Expr plain = expr;
  plain.args[1] = syntax::Expr(array.args[0]);
  return plain;
}

// Whether a query of the elements compares them: by another operator than =, or of types whose texts say too
// little.
bool ExpressionBinder::is_compared_by_elements(const syntax::Expr& expr) {
  if (expr.op != Op::kEqual || expr.is_all) return true;
  if (expr.args[1].kind == syntax::ExprKind::kParameter) return false;
  const TypeKind kind = bind(expr.args[1]).type.elements;
  return kind == TypeKind::kNumeric || kind == TypeKind::kDecimal || kind == TypeKind::kReal ||
         kind == TypeKind::kDouble || kind == TypeKind::kChar || kind == TypeKind::kInterval;
}

Expr ExpressionBinder::bind_any_of_elements(const syntax::Expr& expr) {
  syntax::Expr array = expr.args[1];
  const bool has_no_type = array.kind == syntax::ExprKind::kString || array.kind == syntax::ExprKind::kNull ||
                           (array.kind == syntax::ExprKind::kParameter &&
                            names_.type_of(names_.parameter(array)).kind == TypeKind::kNull);
  if (has_no_type) {
    const Expr left = bind(expr.args[0]);
    syntax::Expr cast = syntax::make_expression(syntax::ExprKind::kCast, array.where);
    cast.type = written_type(is_unknown(left) ? text_type() : left.type, array.where);
    cast.type.is_array = true;
    cast.args.push_back(std::move(array));
    array = std::move(cast);
  }
  return bind(compare_elements(std::move(array), expr.is_all, [&](syntax::Expr element) {
    return syntax::make_binary(expr.op, expr.args[0], std::move(element));
  }));
}

Expr ExpressionBinder::bind_any(const syntax::Expr& expr) {
  if (std::optional<syntax::Expr> list = list_of_array(expr)) return bind_in_list(*list);
  if (expr.op == Op::kNotEqual && expr.is_all) {
    // x <> ALL (a) is NOT x = ANY (a).
    syntax::Expr any = expr;
    any.op = Op::kEqual;
    any.is_all = false;
    return negate_if(true, bind_any(any));
  }
  if (const std::optional<syntax::Expr> plain = any_of_parameter(expr)) return bind_any(*plain);
  if (query_ != nullptr && is_compared_by_elements(expr)) return bind_any_of_elements(expr);
  if (std::optional<Expr> call = bind_any_of_text(expr)) return *std::move(call);
  if (expr.op != Op::kEqual || expr.is_all) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "ANY is supported with = only; use a FOR loop over the array");
  }
  Expr in = make(ExprKind::kInArray, kBoolean, expr.where);
  Expr left = bind(expr.args[0]);
  if (expr.args[1].kind == syntax::ExprKind::kParameter) {
    const VariableId parameter = names_.parameter(expr.args[1]);
    if (names_.type_of(parameter).kind == TypeKind::kNull && !is_unknown(left)) {
      Type array = without_modifiers(left.type);
      array.is_array = true;
      names_.set_parameter_type(parameter, array);
    }
  }
  in.variable = bind_array(expr.args[1], "ANY");
  // The elements can't be cast, so the left side comes to them: their type must be as wide.
  Expr element = make(ExprKind::kArrayElement, names_.type_of(in.variable).element(), expr.where);
  const Type element_type = element.type;
  unify_for_comparison(left, element, expr.where);
  const bool both_integers = left.type.is_integer() && element_type.is_integer();
  if (element.kind == ExprKind::kCast && !both_integers && !element_type.is_string()) {
    refuse(expr.where,
           "the array's elements are {} and would have to be cast to {}; give the array that type",
           to_string(element_type), to_string(left.type));
  }
  in.args.push_back(std::move(left));
  return in;
}

Expr ExpressionBinder::bind_like(const syntax::Expr& expr) {
  std::vector<Expr> args;
  for (const syntax::Expr& arg : expr.args) {
    Expr text = bind(arg);
    const bool is_string = text.type.is_string() && !has_read_form(text.type) && !is_record(text.type) &&
                           text.type.elements == TypeKind::kNull;
    if (expr.kind == syntax::ExprKind::kLike && !expr.ignores_case && is_form(text.type, TextForm::kBytea))
      refuse_as(sqlstate::kNotSupported, text.where, "LIKE of bytea is not supported");
    if (!is_unknown(text) && !is_string)
      refuse_as(sqlstate::kUndefinedFunction, text.where, "LIKE compares strings, and this is of type {}",
                message_name(text.type));
    // The blanks that fill up what is compared count, as PostgreSQL's bpchar ~~ text has it.
    text = args.empty() && text.type.kind == TypeKind::kChar ? convert_to_output(std::move(text), "this text")
                                                             : convert_to_text(std::move(text));
    if (expr.ignores_case && expr.kind == syntax::ExprKind::kLike) {
      Expr lower = make(ExprKind::kFunction, text_type(), text.where);
      lower.function = ir::Function::kLower;
      lower.args.push_back(std::move(text));
      text = std::move(lower);
    }
    args.push_back(std::move(text));
  }
  const bool is_like = expr.kind == syntax::ExprKind::kLike;
  Expr escape = make(ExprKind::kConstant, text_type(), expr.where);
  strings_.push_back(is_like ? expr.text : expr.ignores_case ? "i" : "");
  escape.constant = Value::of_text(strings_.back());
  args.push_back(std::move(escape));
  Expr like = make(ExprKind::kFunction, kBoolean, expr.where);
  like.function = is_like ? ir::Function::kLike : ir::Function::kMatches;
  like.args = std::move(args);
  return negate_if(expr.negated, std::move(like));
}

}  // namespace mneme
