// Expressions of the syntax tree.
#include <algorithm>

#include "base/ascii.h"
#include "base/utf8.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using ir::Op;
using syntax::Expr;
using syntax::ExprKind;

namespace {

Expr make_syntax(ExprKind kind, syntax::SourceLocation where) {
  Expr expr;
  expr.kind = kind;
  expr.where = where;
  return expr;
}

Expr make_syntax_unary(Op op, Expr arg, syntax::SourceLocation where) {
  Expr expr = make_syntax(ExprKind::kUnary, where);
  expr.op = op;
  expr.args.push_back(std::move(arg));
  return expr;
}

Expr make_syntax_binary(Op op, Expr left, Expr right) {
  Expr expr = make_syntax(ExprKind::kBinary, left.where);
  expr.op = op;
  expr.args.push_back(std::move(left));
  expr.args.push_back(std::move(right));
  return expr;
}

Expr make_syntax_call(std::string name, std::vector<Expr> args, syntax::SourceLocation where) {
  Expr expr = make_syntax(ExprKind::kCall, where);
  expr.text = std::move(name);
  expr.args = std::move(args);
  return expr;
}

Expr read_literal(MnemeParser::LiteralContext* context) {
  const auto where = location(context);
  if (context->NULL_()) return make_syntax(ExprKind::kNull, where);
  Expr expr = make_syntax(ExprKind::kBoolean, where);
  expr.text = context->getText();
  if (context->INTEGER()) {
    expr.kind = ExprKind::kInteger;
  } else if (context->DECIMAL()) {
    expr.kind = ExprKind::kDecimal;
  } else if (context->EXPONENT()) {
    expr.kind = ExprKind::kDecimal;
    expr.text = without_exponent(context->getText(), where);
  } else if (context->STRING()) {
    expr.kind = ExprKind::kString;
    expr.text = read_string(context->STRING());
  } else if (context->ESCAPED_STRING()) {
    expr.kind = ExprKind::kString;
    expr.text = read_escaped_string(context->ESCAPED_STRING());
  } else {
    expr.text = context->TRUE_() ? "true" : "false";
  }
  return expr;
}

Expr read_case(MnemeParser::CaseExpressionContext* context) {
  Expr expr = make_syntax(ExprKind::kCase, location(context));
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

Expr read_concatenation(MnemeParser::ConcatenationContext* context);

Expr read_call(MnemeParser::CallContext* context) {
  Expr expr = make_syntax(ExprKind::kCall, location(context));
  expr.text = lowered(context->functionName()->getText());
  const std::string schema = context->name() ? lowered(context->name()->getText()) : "pg_catalog";
  if (schema == "information_schema" && expr.text == "_pg_expandarray") {
    expr.column_name = expr.text;
    expr.text = syntax::kExpandArray;
  } else if (schema == "public") {
    expr.qualifier = schema;
  } else if (schema != "pg_catalog") {
    refuse_as(sqlstate::kUndefinedFunction, location(context), "function {}.{} does not exist",
              context->name()->getText(), expr.text);
  }
  expr.star = context->STAR() != nullptr;
  expr.distinct = context->DISTINCT() != nullptr;
  auto args = context->expression();
  if (context->WHERE()) {
    if (lowered(context->IDENTIFIER()->getText()) != "filter") {
      refuse(location(context->IDENTIFIER()->getSymbol()), "\"{}\" is not understood here",
             context->IDENTIFIER()->getText());
    }
    expr.filter = std::make_shared<const Expr>(read_expression(args.back()));
    args.pop_back();
  }
  for (auto* arg : args) expr.args.push_back(read_expression(arg));
  if (context->ORDER()) {
    std::vector<syntax::OrderItem> order;
    for (auto* item : context->orderItem()) order.push_back(read_order_item(item));
    expr.order = std::make_shared<const std::vector<syntax::OrderItem>>(std::move(order));
  }
  if (context->over()) expr.window = std::make_shared<const syntax::Window>(read_window(context->over()));
  return expr;
}

// extract(unit FROM time) is a call with the unit as a quoted word.
Expr read_extract(MnemeParser::SubstringCallContext& call, syntax::SourceLocation where) {
  Expr unit = read_expression(call.expression(0));
  if (unit.kind == ExprKind::kReference && unit.qualifier.empty()) unit.kind = ExprKind::kString;
  std::vector<Expr> args;
  args.push_back(std::move(unit));
  args.push_back(read_expression(call.expression(1)));
  return make_syntax_call("extract", std::move(args), where);
}

bool is_side(const std::string& word) {
  return word == "both" || word == "leading" || word == "trailing";
}

// trim([side] [characters] FROM text) is btrim, ltrim or rtrim(text[, characters]).
Expr make_trim(const std::string& side, std::optional<Expr> characters, Expr text,
               syntax::SourceLocation where) {
  std::vector<Expr> args;
  args.push_back(std::move(text));
  if (characters) args.push_back(*std::move(characters));
  return make_syntax_call(side == "leading"    ? "ltrim"
                          : side == "trailing" ? "rtrim"
                                               : "trim",
                          std::move(args), where);
}

// The grammar reads a quoted string behind BOTH, LEADING or TRAILING as a literal of a type of that name.
Expr read_trim(MnemeParser::SubstringCallContext& call, syntax::SourceLocation where) {
  Expr text = read_expression(call.expression(1));
  const std::string word = lowered(call.expression(0)->getText());
  if (is_side(word)) return make_trim(word, std::nullopt, std::move(text), where);
  Expr first = read_expression(call.expression(0));
  if (first.kind == ExprKind::kCast && is_side(first.type.base))
    return make_trim(first.type.base, std::move(first.args[0]), std::move(text), where);
  return make_trim("both", std::move(first), std::move(text), where);
}

}  // namespace

Expr read_primary(MnemeParser::PrimaryContext* context) {
  const auto where = location(context);
  if (auto* literal = dynamic_cast<MnemeParser::LiteralContext*>(context)) return read_literal(literal);
  if (auto* cases = dynamic_cast<MnemeParser::CaseExpressionContext*>(context)) return read_case(cases);
  if (auto* call = dynamic_cast<MnemeParser::CallContext*>(context)) return read_call(call);
  if (auto* inner = dynamic_cast<MnemeParser::ParenthesisContext*>(context)) {
    Expr value = make_syntax(ExprKind::kRow, where);
    if (inner->expression().size() == 1) {
      value = read_expression(inner->expression(0));
    } else {
      for (auto* part : inner->expression()) value.args.push_back(read_expression(part));
    }
    for (auto* name : inner->name()) {
      Expr field = make_syntax(ExprKind::kField, where);
      field.text = read_name(name).text;
      field.args.push_back(std::move(value));
      value = std::move(field);
    }
    return value;
  }
  if (auto* scalar = dynamic_cast<MnemeParser::ScalarQueryContext*>(context)) {
    Expr expr = make_syntax(ExprKind::kScalarQuery, where);
    expr.query = read_query(scalar->nestedQuery());
    return expr;
  }
  if (auto* exists = dynamic_cast<MnemeParser::ExistsQueryContext*>(context)) {
    Expr expr = make_syntax(ExprKind::kExists, where);
    expr.query = read_query(exists->nestedQuery());
    return expr;
  }
  if (auto* cast = dynamic_cast<MnemeParser::CastExpressionContext*>(context)) {
    Expr expr = make_syntax(ExprKind::kCast, where);
    expr.type = read_type(cast->typeName());
    expr.args.push_back(read_expression(cast->expression()));
    return expr;
  }
  if (auto* literal = dynamic_cast<MnemeParser::TypedLiteralContext*>(context)) {
    const std::string type = literal->TIMESTAMP() ? "timestamp"
                             : literal->DOUBLE_() ? "double precision"
                                                  : lowered(literal->name()->getText());
    if (type == "timestamp") {
      Expr expr = make_syntax(ExprKind::kTimestamp, where);
      expr.text = read_string(literal->STRING());
      return expr;
    }
    Expr text = make_syntax(ExprKind::kString, where);
    text.text = read_string(literal->STRING());
    Expr expr = make_syntax(ExprKind::kCast, where);
    expr.type.base = type;
    if (literal->modifiers()) expr.type.modifiers = read_modifiers(literal->modifiers());
    expr.type.where = where;
    expr.args.push_back(std::move(text));
    return expr;
  }
  if (auto* parameter = dynamic_cast<MnemeParser::ParameterValueContext*>(context)) {
    Expr expr = make_syntax(ExprKind::kParameter, where);
    expr.text = parameter->getText().substr(1);
    return expr;
  }
  if (auto* array = dynamic_cast<MnemeParser::ArrayValueContext*>(context)) {
    if (array->expression().empty()) return make_syntax(ExprKind::kEmptyArray, where);
    Expr expr = make_syntax(ExprKind::kArray, where);
    for (auto* element : array->expression()) expr.args.push_back(read_expression(element));
    return expr;
  }
  if (auto* array = dynamic_cast<MnemeParser::ArrayQueryContext*>(context)) {
    Expr expr = make_syntax(ExprKind::kArrayQuery, where);
    expr.query = read_query(array->nestedQuery());
    return expr;
  }
  if (auto* position = dynamic_cast<MnemeParser::PositionCallContext*>(context)) {
    if (lowered(position->name()->getText()) != "position") {
      refuse(where, "IN inside the arguments of {}() is not understood; only position(a IN b) is written so",
             position->name()->getText());
    }
    std::vector<Expr> args;  // position(sought IN text) is strpos(text, sought)
    args.push_back(read_concatenation(position->concatenation(1)));
    args.push_back(read_concatenation(position->concatenation(0)));
    Expr call = make_syntax_call("strpos", std::move(args), where);
    call.column_name = "position";
    return call;
  }
  if (auto* trim = dynamic_cast<MnemeParser::TrimCallContext*>(context)) {
    if (lowered(trim->name()->getText()) != "trim")
      refuse(where, "FROM inside the arguments of {}() is not understood", trim->name()->getText());
    expect_word(trim->IDENTIFIER(), {"both", "leading", "trailing"});
    return make_trim(lowered(trim->IDENTIFIER()->getText()), read_expression(trim->expression(0)),
                     read_expression(trim->expression(1)), where);
  }
  if (auto* substring = dynamic_cast<MnemeParser::SubstringCallContext*>(context)) {
    if (lowered(substring->name()->getText()) == "extract" && substring->expression().size() == 2)
      return read_extract(*substring, where);
    if (lowered(substring->name()->getText()) == "trim" && substring->expression().size() == 2)
      return read_trim(*substring, where);
    if (lowered(substring->name()->getText()) != "substring") {
      refuse_as(
          sqlstate::kNotSupported, where,
          "FROM inside the arguments of {}() is not supported; only substring(a FROM b FOR c) is written so",
          substring->name()->getText());
    }
    std::vector<Expr> args;
    for (auto* arg : substring->expression()) args.push_back(read_expression(arg));
    return make_syntax_call("substring", std::move(args), where);
  }
  auto* reference = dynamic_cast<MnemeParser::ReferenceContext*>(context);
  CHECK(reference != nullptr);
  Expr expr = make_syntax(ExprKind::kReference, where);
  // The binder has advice of its own for words that stand for a call without parentheses, so reserved words
  // pass here.
  const auto text = [](MnemeParser::NameContext* name) {
    return name->IDENTIFIER() && is_function_without_parentheses(lowered(name->getText()))
               ? lowered(name->getText())
               : read_name(name).text;
  };
  expr.text = text(reference->name().back());
  const auto names = reference->name();
  // The schema says nothing more.
  if (names.size() >= 2) expr.qualifier = read_name(names[names.size() - 2]).text;
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

Expr read_cast(MnemeParser::CastContext* context) {
  Expr expr = read_primary(context->primary());
  size_t next_type = 0;
  size_t next_subscript = 0;
  for (size_t i = 1; i < context->children.size(); ++i) {
    const std::string token = context->children[i]->getText();
    if (lowered(token) == "collate") check_collation(context, i);
    if (token != "::" && token != "[") continue;
    if (token == "[") check_subscript(context, i);
    Expr outer = make_syntax(token == "::" ? ExprKind::kCast : ExprKind::kSubscript, expr.where);
    outer.args.push_back(std::move(expr));
    if (token == "::") {
      outer.type = read_type(context->typeName(next_type++));
    } else {
      outer.args.push_back(read_expression(context->expression(next_subscript++)));
    }
    expr = std::move(outer);
  }
  return expr;
}

Expr read_signed(MnemeParser::SignedTermContext* context) {
  if (context->cast()) return read_cast(context->cast());
  Expr arg = read_signed(context->signedTerm());
  return make_syntax_unary(context->MINUS() ? Op::kNegate : Op::kAdd, std::move(arg), location(context));
}

Op arithmetic(const std::string& text) {
  if (text == "+") return Op::kAdd;
  if (text == "-") return Op::kSubtract;
  if (text == "*") return Op::kMultiply;
  return text == "/" ? Op::kDivide : Op::kModulo;
}

Expr read_product(MnemeParser::ProductContext* context) {
  const auto factors = context->signedTerm();
  Expr expr = read_signed(factors[0]);
  for (size_t i = 1; i < factors.size(); ++i) {
    expr = make_syntax_binary(arithmetic(context->children[2 * i - 1]->getText()), std::move(expr),
                              read_signed(factors[i]));
  }
  return expr;
}

Expr read_sum(MnemeParser::SumContext* context) {
  const auto summands = context->product();
  Expr expr = read_product(summands[0]);
  for (size_t i = 1; i < summands.size(); ++i) {
    expr = make_syntax_binary(arithmetic(context->children[2 * i - 1]->getText()), std::move(expr),
                              read_product(summands[i]));
  }
  return expr;
}

Expr read_bit_term(MnemeParser::BitTermContext* context) {
  Expr expr = read_sum(context->sum());
  for (size_t i = 0; i < context->MATCHES().size(); ++i) {
    Expr complement = make_syntax(ExprKind::kBits, location(context));
    complement.text = "~";
    complement.args.push_back(std::move(expr));
    expr = std::move(complement);
  }
  return expr;
}

Expr read_concatenation(MnemeParser::ConcatenationContext* context) {
  const auto parts = context->bitTerm();
  Expr expr = read_bit_term(parts[0]);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string text = context->children[2 * i - 1]->getText();
    expr =
        make_syntax_binary(text == "||" ? Op::kConcat : Op::kNone, std::move(expr), read_bit_term(parts[i]));
    if (text == "||") continue;
    expr.kind = ExprKind::kBits;
    expr.text = text;
  }
  return expr;
}

// Rows compare a column at a time, from the left.
Expr compare_rows(Op op, const Expr& left, const Expr& right) {
  if (left.args.size() != right.args.size())
    refuse(left.where, "unequal number of entries in row expressions");
  const bool equality = op == Op::kEqual || op == Op::kNotEqual;
  if (equality) {
    std::vector<Expr> parts;
    for (size_t i = 0; i < left.args.size(); ++i)
      parts.push_back(make_syntax_binary(op, left.args[i], right.args[i]));
    return syntax::join(op == Op::kEqual ? Op::kAnd : Op::kOr, parts);
  }
  const Op strict = op == Op::kLessEqual ? Op::kLess : op == Op::kGreaterEqual ? Op::kGreater : op;
  size_t i = left.args.size() - 1;
  Expr result = make_syntax_binary(op, left.args[i], right.args[i]);
  while (i-- > 0) {
    Expr both[] = {make_syntax_binary(Op::kEqual, left.args[i], right.args[i]), std::move(result)};
    Expr either[] = {make_syntax_binary(strict, left.args[i], right.args[i]), syntax::join(Op::kAnd, both)};
    result = syntax::join(Op::kOr, either);
  }
  return result;
}

Expr make_comparison(Op op, Expr left, Expr right) {
  const bool left_row = left.kind == ExprKind::kRow;
  const bool right_row = right.kind == ExprKind::kRow;
  if (left_row && right_row) return compare_rows(op, left, right);
  return make_syntax_binary(op, std::move(left), std::move(right));
}

Expr read_membership(MnemeParser::MembershipContext* context) {
  Expr left = read_concatenation(context->concatenation(0));
  if (context->LIKE() || context->ILIKE()) {
    Expr like = make_syntax(ExprKind::kLike, left.where);
    like.negated = context->NOT() != nullptr;
    like.ignores_case = context->ILIKE() != nullptr;
    like.text = "\\";
    if (context->STRING()) like.text = read_string(context->STRING());
    if (count_characters(like.text) > 1) {
      refuse_as(sqlstate::kInvalidEscapeSequence, location(context->STRING()->getSymbol()),
                "invalid escape string: it is empty or one character");
    }
    like.args.push_back(std::move(left));
    like.args.push_back(read_concatenation(context->concatenation(1)));
    return like;
  }
  if (auto* op = context->matchOperator()) {
    Expr match =
        make_syntax(op->LIKES() || op->NOT_LIKES() ? ExprKind::kLike : ExprKind::kMatches, left.where);
    if (op->IDENTIFIER() && lowered(op->IDENTIFIER()->getText()) != "operator")
      refuse(location(op), "\"{}\" is not understood here", op->IDENTIFIER()->getText());
    match.negated = op->NOT_MATCHES() || op->NOT_MATCHES_ANY_CASE() || op->NOT_LIKES();
    match.ignores_case = op->MATCHES_ANY_CASE() || op->NOT_MATCHES_ANY_CASE();
    match.text = "\\";
    Expr right = read_concatenation(context->concatenation(1));
    if (op->EQUAL()) return make_comparison(Op::kEqual, std::move(left), std::move(right));
    match.args.push_back(std::move(left));
    match.args.push_back(std::move(right));
    return match;
  }
  if (context->nestedQuery()) {
    Expr in = make_syntax(ExprKind::kInQuery, left.where);
    in.negated = context->NOT() != nullptr;
    in.args.push_back(std::move(left));
    in.query = read_query(context->nestedQuery());
    return in;
  }
  if (!context->BETWEEN() && !context->IN_()) return left;
  if (context->IN_() && left.kind == ExprKind::kRow) {
    std::vector<Expr> parts;
    for (auto* item : context->expression()) {
      const Expr row = read_expression(item);
      if (row.kind != ExprKind::kRow) refuse(row.where, "a row is compared with rows; write (a, b)");
      parts.push_back(compare_rows(Op::kEqual, left, row));
    }
    Expr any = syntax::join(Op::kOr, parts);
    return context->NOT() ? make_syntax_unary(Op::kNot, std::move(any), left.where) : std::move(any);
  }
  Expr expr = make_syntax(context->BETWEEN() ? ExprKind::kBetween : ExprKind::kInList, left.where);
  expr.negated = context->NOT() != nullptr;
  expr.args.push_back(std::move(left));
  for (size_t i = 1; i < context->concatenation().size(); ++i) {
    expr.args.push_back(read_concatenation(context->concatenation(i)));
  }
  for (auto* item : context->expression()) expr.args.push_back(read_expression(item));
  return expr;
}

Expr read_comparison(MnemeParser::ComparisonContext* context) {
  Expr left = read_membership(context->membership(0));
  auto* op_context = context->compareOperator();
  if (!op_context) return left;
  const Op op = op_context->EQUAL()        ? Op::kEqual
                : op_context->NOT_EQUAL()  ? Op::kNotEqual
                : op_context->LESS()       ? Op::kLess
                : op_context->LESS_EQUAL() ? Op::kLessEqual
                : op_context->GREATER()    ? Op::kGreater
                                           : Op::kGreaterEqual;
  if (context->membership().size() == 2)
    return make_comparison(op, std::move(left), read_membership(context->membership(1)));
  if (context->nestedQuery()) {
    Expr query = make_syntax(context->ALL() ? ExprKind::kAllQuery : ExprKind::kAnyQuery, left.where);
    query.op = op;
    query.args.push_back(std::move(left));
    query.query = read_query(context->nestedQuery());
    return query;
  }
  Expr any = make_syntax_binary(op, std::move(left), read_expression(context->expression()));
  any.kind = ExprKind::kAny;
  any.is_all = context->ALL() != nullptr;
  return any;
}

Expr read_test(MnemeParser::TestContext* context) {
  Expr expr = read_comparison(context->comparison());
  for (auto* test : context->isTest()) {
    const bool negated = test->NOT() != nullptr;
    if (test->DISTINCT()) {
      // PostgreSQL's IS is not associative, and here it would have to choose a side.
      if (test != context->isTest().back()) {
        refuse(location(test),
               "PostgreSQL takes no IS after IS DISTINCT FROM; put the comparison in parentheses");
      }
      expr = make_syntax_binary(negated ? Op::kIsNotDistinct : Op::kIsDistinct, std::move(expr),
                                read_comparison(test->comparison()));
      continue;
    }
    if (test->IDENTIFIER() && lowered(test->IDENTIFIER()->getText()) != "unknown") {
      refuse(location(test->IDENTIFIER()->getSymbol()), "\"{}\" is not understood here",
             test->IDENTIFIER()->getText());
    }
    const Op op = test->NULL_() || test->IDENTIFIER() ? (negated ? Op::kIsNotNull : Op::kIsNull)
                  : test->TRUE_()                     ? (negated ? Op::kIsNotTrue : Op::kIsTrue)
                                                      : (negated ? Op::kIsNotFalse : Op::kIsFalse);
    const auto where = expr.where;
    expr = make_syntax_unary(op, std::move(expr), where);
  }
  return expr;
}

Expr read_negation(MnemeParser::NegationContext* context) {
  if (context->test()) return read_test(context->test());
  return make_syntax_unary(Op::kNot, read_negation(context->negation()), location(context));
}

Expr read_conjunction(MnemeParser::ConjunctionContext* context) {
  std::vector<Expr> parts;
  for (auto* part : context->negation()) parts.push_back(read_negation(part));
  return syntax::join(Op::kAnd, parts);
}

}  // namespace

Expr read_default(MnemeParser::ConcatenationContext* context) {
  return read_concatenation(context);
}

Expr read_expression(MnemeParser::ExpressionContext* context) {
  std::vector<Expr> parts;
  for (auto* part : context->conjunction()) parts.push_back(read_conjunction(part));
  return syntax::join(Op::kOr, parts);
}

}  // namespace mneme
