// Expressions of the syntax tree.
#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/column_names.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using ir::Op;
using syntax::Expr;
using syntax::ExprKind;

namespace {

// Strings on lines of their own are one string.
std::string read_strings(const std::vector<antlr4::tree::TerminalNode*>& parts) {
  std::string text = read_string(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string before = parts[i - 1]->getText();
    const auto lines = static_cast<size_t>(std::ranges::count(before, '\n'));
    if (parts[i]->getSymbol()->getLine() == parts[i - 1]->getSymbol()->getLine() + lines) {
      refuse(location(parts[i]->getSymbol()),
             "syntax error at or near \"{}\": strings are joined where each stands on a line of its own",
             parts[i]->getText());
    }
    text += read_string(parts[i]);
  }
  return text;
}

Expr read_literal(MnemeParser::LiteralContext* context) {
  const auto where = location(context);
  if (context->NULL_()) return syntax::make_expression(ExprKind::kNull, where);
  Expr expr = syntax::make_expression(ExprKind::kBoolean, where);
  expr.text = context->getText();
  if (context->INTEGER()) {
    expr.kind = ExprKind::kInteger;
  } else if (context->DECIMAL()) {
    expr.kind = ExprKind::kDecimal;
  } else if (context->EXPONENT()) {
    expr.kind = ExprKind::kDecimal;
    expr.text = without_exponent(context->getText(), where);
  } else if (!context->STRING().empty()) {
    expr.kind = ExprKind::kString;
    expr.text = read_strings(context->STRING());
  } else if (context->ESCAPED_STRING()) {
    expr.kind = ExprKind::kString;
    expr.text = read_escaped_string(context->ESCAPED_STRING());
  } else {
    expr.text = context->TRUE_() ? "true" : "false";
  }
  return expr;
}

Expr read_case(MnemeParser::CaseExpressionContext* context) {
  Expr expr = syntax::make_expression(ExprKind::kCase, location(context));
  if (context->subject) {
    expr.has_subject = true;
    expr.args.push_back(read_expression(context->subject));
  }
  for (auto* branch : context->whenBranch()) {
    expr.args.push_back(read_expression(branch->expression(0)));
    expr.args.push_back(read_expression(branch->expression(1)));
  }
  if (context->otherwise) {
    expr.has_else = true;
    expr.args.push_back(read_expression(context->otherwise));
  }
  return expr;
}

// INTERVAL '1' YEAR, and with several fields: which of them a number alone counts, and which are kept.
Expr read_interval(MnemeParser::TypedLiteralContext* literal, const std::string& text) {
  const auto where = location(literal);
  const std::string first = lowered(literal->IDENTIFIER(0)->getText());
  const std::string last = lowered(literal->IDENTIFIER().back()->getText());
  const bool is_plain = text.find_first_not_of("0123456789+-. ") == std::string::npos;
  const bool is_one = is_plain && text.find_first_of(". ") == std::string::npos && text.rfind('-') == 0;
  const bool is_number =
      is_plain && !text.empty() && (is_one || text.find_first_of("-. ") == std::string::npos);
  Expr value = syntax::make_expression(ExprKind::kString, where);
  Expr expr = syntax::make_expression(ExprKind::kCast, where);
  expr.type.base = "interval";
  expr.type.where = where;
  if (!literal->modifiers().empty() || (first != last && !(first == "year" && last == "month")) ||
      (first == last && !is_number)) {
    refuse_as(sqlstate::kNotSupported, where,
              "INTERVAL with fields is supported of a whole number of one field, and of YEAR TO MONTH; write "
              "the units inside of the quotes, as INTERVAL '1 day 02:00'");
  }
  value.text = is_number ? text + " " + last : text;
  expr.args.push_back(std::move(value));
  return expr;
}

}  // namespace

Expr read_primary(MnemeParser::PrimaryContext* context) {
  const auto where = location(context);
  if (auto* literal = dynamic_cast<MnemeParser::LiteralContext*>(context)) return read_literal(literal);
  if (auto* cases = dynamic_cast<MnemeParser::CaseExpressionContext*>(context)) return read_case(cases);
  if (auto* inner = dynamic_cast<MnemeParser::ParenthesisContext*>(context)) {
    Expr value = syntax::make_expression(ExprKind::kRow, where);
    if (inner->expression().size() == 1) {
      value = read_expression(inner->expression(0));
    } else {
      for (auto* part : inner->expression()) value.args.push_back(read_expression(part));
    }
    for (auto* name : inner->name()) {
      Expr field = syntax::make_expression(ExprKind::kField, where);
      field.text = read_name(name).text;
      field.args.push_back(std::move(value));
      value = std::move(field);
    }
    return value;
  }
  if (auto* scalar = dynamic_cast<MnemeParser::ScalarQueryContext*>(context)) {
    Expr expr = syntax::make_expression(ExprKind::kScalarQuery, where);
    expr.query = read_query(scalar->nestedQuery());
    return expr;
  }
  if (auto* exists = dynamic_cast<MnemeParser::ExistsQueryContext*>(context)) {
    Expr expr = syntax::make_expression(ExprKind::kExists, where);
    expr.query = read_query(exists->nestedQuery());
    return expr;
  }
  if (auto* cast = dynamic_cast<MnemeParser::CastExpressionContext*>(context)) {
    Expr expr = syntax::make_expression(ExprKind::kCast, where);
    expr.type = read_type(cast->typeName());
    expr.args.push_back(read_expression(cast->expression()));
    return expr;
  }
  if (auto* literal = dynamic_cast<MnemeParser::TypedLiteralContext*>(context)) {
    const std::string type = literal->WITH()        ? "timestamptz"
                             : literal->TIMESTAMP() ? "timestamp"
                             : literal->DOUBLE_()   ? "double precision"
                                                    : lowered(literal->name()->getText());
    if (type == "timestamp" && literal->modifiers().empty()) {
      Expr expr = syntax::make_expression(ExprKind::kTimestamp, where);
      expr.text = read_string(literal->STRING());
      return expr;
    }
    Expr text = syntax::make_expression(ExprKind::kString, where);
    text.text = read_string(literal->STRING());
    if (!literal->IDENTIFIER().empty()) return read_interval(literal, text.text);
    Expr expr = syntax::make_expression(ExprKind::kCast, where);
    expr.type.base = type;
    if (!literal->modifiers().empty()) expr.type.modifiers = read_modifiers(literal->modifiers(0));
    expr.type.where = where;
    expr.args.push_back(std::move(text));
    return expr;
  }
  if (auto* parameter = dynamic_cast<MnemeParser::ParameterValueContext*>(context)) {
    Expr expr = syntax::make_expression(ExprKind::kParameter, where);
    expr.text = parameter->getText().substr(1);
    return expr;
  }
  if (auto* array = dynamic_cast<MnemeParser::ArrayValueContext*>(context)) {
    if (array->expression().empty()) return syntax::make_expression(ExprKind::kEmptyArray, where);
    Expr expr = syntax::make_expression(ExprKind::kArray, where);
    for (auto* element : array->expression()) expr.args.push_back(read_expression(element));
    return expr;
  }
  if (auto* array = dynamic_cast<MnemeParser::ArrayQueryContext*>(context)) {
    Expr expr = syntax::make_expression(ExprKind::kArrayQuery, where);
    expr.query = read_query(array->nestedQuery());
    return expr;
  }
  if (std::optional<Expr> call = read_special_call(context)) return *std::move(call);
  auto* reference = dynamic_cast<MnemeParser::ReferenceContext*>(context);
  CHECK(reference != nullptr);
  Expr expr = syntax::make_expression(ExprKind::kReference, where);
  // The binder has advice of its own for words that stand for a call without parentheses, so reserved words
  // pass here.
  const auto text = [](MnemeParser::NameContext* name) {
    return name->IDENTIFIER() && is_function_without_parentheses(lowered(name->getText()))
               ? lowered(name->getText())
               : read_name(name).text;
  };
  expr.text = text(reference->name().back());
  const auto names = reference->name();
  // It is a call, as current_schema() is: the search path may change while a statement is kept.
  if (names.size() == 1 && expr.text == "current_schema" && names[0]->IDENTIFIER())
    expr.kind = ExprKind::kCall;
  if (names.size() >= 2) expr.qualifier = read_source({names.begin(), names.end() - 1}).text;
  return expr;
}

namespace {

// Texts are compared byte by byte, whatever their collation.
void check_collation(MnemeParser::CastContext* context, size_t child) {
  size_t at = child + 1;
  if (at + 2 < context->children.size() && context->children[at + 1]->getText() == ".") at += 2;
  std::string name = lowered(context->children[at]->getText());
  std::erase(name, '"');
  if (name == "c" || name == "posix" || name == "default" || name == "ucs_basic") return;
  refuse_as(sqlstate::kUndefinedObject, location(context),
            "collation \"{}\" does not exist; texts compare byte "
            "by byte, as COLLATE \"C\" does",
            name);
}

// A subscript stands behind a name, a parameter, parentheses or another subscript.
void check_subscript(MnemeParser::CastContext* context, size_t i) {
  auto* before = context->children[i - 1];
  const bool is_accepted = dynamic_cast<MnemeParser::ReferenceContext*>(before) != nullptr ||
                           dynamic_cast<MnemeParser::ParameterValueContext*>(before) != nullptr ||
                           dynamic_cast<MnemeParser::ParenthesisContext*>(before) != nullptr ||
                           dynamic_cast<MnemeParser::ScalarQueryContext*>(before) != nullptr ||
                           before->getText() == "]";
  if (is_accepted) return;
  auto* bracket = dynamic_cast<antlr4::tree::TerminalNode*>(context->children[i]);
  refuse(location(bracket->getSymbol()),
         "syntax error at or near \"[\": put what has the subscript in parentheses");
}

// a[2:3] becomes mneme_array_slice(a, 2, 3). A bound that is not written is the array's own.
Expr read_subscript(MnemeParser::SubscriptContext* context, Expr array) {
  const auto where = array.where;
  if (!context->COLON()) {
    Expr element = syntax::make_expression(ExprKind::kSubscript, where);
    element.args.push_back(std::move(array));
    element.args.push_back(read_expression(context->expression(0)));
    return element;
  }
  const auto bound = [&](MnemeParser::ExpressionContext* written, const char* otherwise) {
    if (written != nullptr) return read_expression(written);
    Expr number = syntax::make_expression(ExprKind::kInteger, where);
    number.text = otherwise;
    return number;
  };
  const std::string name = column_name_of({false, {}, array, {}});
  std::vector<Expr> args;
  args.push_back(std::move(array));
  args.push_back(bound(context->lower, "1"));
  args.push_back(bound(context->upper, "2147483647"));
  Expr slice = syntax::make_call("mneme_array_slice", std::move(args), where);
  slice.column_name = name.empty() ? "?column?" : name;
  return slice;
}

Expr read_cast(MnemeParser::CastContext* context) {
  Expr expr = read_primary(context->primary());
  size_t next_type = 0;
  size_t next_subscript = 0;
  for (size_t i = 1; i < context->children.size(); ++i) {
    const std::string token = context->children[i]->getText();
    if (lowered(token) == "collate") check_collation(context, i);
    if (token != "::" && token != "[") continue;
    if (token == "[") check_subscript(context, i);
    if (token == "[") {
      expr = read_subscript(context->subscript(next_subscript++), std::move(expr));
      continue;
    }
    Expr outer = syntax::make_expression(ExprKind::kCast, expr.where);
    outer.args.push_back(std::move(expr));
    outer.type = read_type(context->typeName(next_type++));
    expr = std::move(outer);
  }
  return expr;
}

Op arithmetic(const std::string& text) {
  if (text == "+") return Op::kAdd;
  if (text == "-") return Op::kSubtract;
  if (text == "*") return Op::kMultiply;
  return text == "/" ? Op::kDivide : Op::kModulo;
}

// a AT TIME ZONE b is timezone(b, a).
Expr read_zoned(MnemeParser::ZonedTimeContext* context) {
  const auto terms = context->signedTerm();
  Expr expr = read_signed(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    expect_word(context->IDENTIFIER(i - 1), {"at"});
    const auto where = expr.where;
    std::vector<Expr> args;
    args.push_back(read_signed(terms[i]));
    args.push_back(std::move(expr));
    expr = syntax::make_call("timezone", std::move(args), where);
  }
  return expr;
}

// a ^ b is power(a, b), without its name.
Expr read_power(MnemeParser::PowerContext* context) {
  const auto terms = context->zonedTime();
  Expr expr = read_zoned(terms[0]);
  for (size_t i = 1; i < terms.size(); ++i) {
    const auto where = expr.where;
    std::vector<Expr> args;
    args.push_back(std::move(expr));
    args.push_back(read_zoned(terms[i]));
    expr = syntax::make_call("power", std::move(args), where);
    expr.column_name = "?column?";
  }
  return expr;
}

Expr read_product(MnemeParser::ProductContext* context) {
  const auto factors = context->power();
  Expr expr = read_power(factors[0]);
  for (size_t i = 1; i < factors.size(); ++i) {
    expr = syntax::make_binary(arithmetic(context->children[2 * i - 1]->getText()), std::move(expr),
                               read_power(factors[i]));
  }
  return expr;
}

Expr read_sum(MnemeParser::SumContext* context) {
  const auto summands = context->product();
  Expr expr = read_product(summands[0]);
  for (size_t i = 1; i < summands.size(); ++i) {
    expr = syntax::make_binary(arithmetic(context->children[2 * i - 1]->getText()), std::move(expr),
                               read_product(summands[i]));
  }
  return expr;
}

// The operators stand in front: ~, |/ and @.
Expr read_bit_term(MnemeParser::BitTermContext* context) {
  Expr expr = read_sum(context->sum());
  for (size_t i = context->children.size() - 1; i-- > 0;) {
    const std::string text = context->children[i]->getText();
    Expr outer = syntax::make_expression(text == "~" ? ExprKind::kBits : ExprKind::kCall, location(context));
    outer.text = text == "~" ? text : text == "@" ? "abs" : text == "|/" ? "sqrt" : "cbrt";
    if (outer.kind == ExprKind::kCall) outer.column_name = "?column?";
    outer.args.push_back(std::move(expr));
    expr = std::move(outer);
  }
  return expr;
}

}  // namespace

Expr read_signed(MnemeParser::SignedTermContext* context) {
  if (context->cast()) return read_cast(context->cast());
  Expr arg = read_signed(context->signedTerm());
  return syntax::make_unary(context->MINUS() ? Op::kNegate : Op::kAdd, std::move(arg), location(context));
}

Expr read_concatenation(MnemeParser::ConcatenationContext* context) {
  const auto parts = context->bitTerm();
  Expr expr = read_bit_term(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string text = context->children[2 * i - 1]->getText();
    if (text == "^@") {
      std::vector<Expr> args;
      const auto where = expr.where;
      args.push_back(std::move(expr));
      args.push_back(read_bit_term(parts[i]));
      expr = syntax::make_call("starts_with", std::move(args), where);
      expr.column_name = "?column?";
      continue;
    }
    expr =
        syntax::make_binary(text == "||" ? Op::kConcat : Op::kNone, std::move(expr), read_bit_term(parts[i]));
    if (text == "||") continue;
    expr.kind = ExprKind::kBits;
    expr.text = text;
  }
  return expr;
}

Expr read_expression(MnemeParser::ExpressionContext* context) {
  std::vector<Expr> parts;
  for (auto* part : context->conjunction()) parts.push_back(read_conjunction(part));
  return syntax::join(Op::kOr, parts);
}

}  // namespace mneme
