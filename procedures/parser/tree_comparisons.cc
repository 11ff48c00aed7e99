// Comparisons and conditions of the syntax tree.
#include <utility>

#include "base/utf8.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/element_query.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using ir::Op;
using syntax::Expr;
using syntax::ExprKind;

namespace {

// Rows compare a column at a time, from the left.
Expr compare_rows(Op op, const Expr& left, const Expr& right) {
  if (left.args.size() != right.args.size())
    refuse(left.where, "unequal number of entries in row expressions");
  const bool equality = op == Op::kEqual || op == Op::kNotEqual;
  if (equality) {
    std::vector<Expr> parts;
    for (size_t i = 0; i < left.args.size(); ++i)
      parts.push_back(syntax::make_binary(op, left.args[i], right.args[i]));
    return syntax::join(op == Op::kEqual ? Op::kAnd : Op::kOr, parts);
  }
  const Op strict = op == Op::kLessEqual ? Op::kLess : op == Op::kGreaterEqual ? Op::kGreater : op;
  size_t i = left.args.size() - 1;
  Expr result = syntax::make_binary(op, left.args[i], right.args[i]);
  while (i-- > 0) {
    Expr both[] = {syntax::make_binary(Op::kEqual, left.args[i], right.args[i]), std::move(result)};
    Expr either[] = {syntax::make_binary(strict, left.args[i], right.args[i]), syntax::join(Op::kAnd, both)};
    result = syntax::join(Op::kOr, either);
  }
  return result;
}

Expr make_comparison(Op op, Expr left, Expr right) {
  const bool left_row = left.kind == ExprKind::kRow;
  const bool right_row = right.kind == ExprKind::kRow;
  if (left_row && right_row) return compare_rows(op, left, right);
  if (left_row && right.kind == ExprKind::kScalarQuery) {
    Expr compared = syntax::make_expression(ExprKind::kRowQuery, left.where);
    compared.op = op;
    compared.query = std::move(right.query);
    compared.args.push_back(std::move(left));
    return compared;
  }
  return syntax::make_binary(op, std::move(left), std::move(right));
}

// What SIMILAR TO compares with, as a regular expression of the whole text.
std::string regular_expression_of(const std::string& pattern, const std::string& escape) {
  std::string text = "^(?:";
  bool in_brackets = false;
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (!escape.empty() && pattern.compare(at, escape.size(), escape) == 0) {
      at += escape.size();
      text.push_back('\\');
      if (at < pattern.size()) text.push_back(pattern[at]);
    } else if (in_brackets) {
      if (c == '\\') text.push_back('\\');
      text.push_back(c);
      in_brackets = c != ']';
    } else if (c == '[') {
      text.push_back(c);
      in_brackets = true;
    } else if (c == '%') {
      text += ".*";
    } else if (c == '_') {
      text.push_back('.');
    } else if (c == '(') {
      text += "(?:";
    } else {
      if (c == '\\' || c == '.' || c == '^' || c == '$') text.push_back('\\');
      text.push_back(c);
    }
  }
  return text + ")$";
}

Expr read_similar(MnemeParser::MembershipContext* context, Expr left) {
  expect_word(context->IDENTIFIER(), {"similar"});
  Expr pattern = read_concatenation(context->concatenation(1));
  if (pattern.kind != ExprKind::kString) {
    refuse_as(sqlstate::kNotSupported, pattern.where,
              "SIMILAR TO is supported with a pattern that is a literal alone; use ~");
  }
  std::string escape = "\\";
  if (context->STRING()) escape = read_string(context->STRING());
  if (count_characters(escape) > 1) {
    refuse_as(sqlstate::kInvalidEscapeSequence, location(context->STRING()->getSymbol()),
              "invalid escape string: it is empty or one character");
  }
  pattern.text = regular_expression_of(pattern.text, escape);
  Expr match = syntax::make_expression(ExprKind::kMatches, left.where);
  match.negated = context->NOT() != nullptr;
  match.args.push_back(std::move(left));
  match.args.push_back(std::move(pattern));
  return match;
}

// a LIKE b, or a ~ b.
Expr make_match(MnemeParser::MembershipContext* context, Expr left, Expr right) {
  auto* const op = context->matchOperator();
  const bool is_like = op == nullptr || op->LIKES() || op->NOT_LIKES();
  Expr match = syntax::make_expression(is_like ? ExprKind::kLike : ExprKind::kMatches, left.where);
  if (op != nullptr) {
    if (op->IDENTIFIER() && lowered(op->IDENTIFIER()->getText()) != "operator")
      refuse(location(op), "\"{}\" is not understood here", op->IDENTIFIER()->getText());
    match.negated = op->NOT_MATCHES() || op->NOT_MATCHES_ANY_CASE() || op->NOT_LIKES();
    match.ignores_case = op->MATCHES_ANY_CASE() || op->NOT_MATCHES_ANY_CASE();
    if (op->EQUAL()) return make_comparison(Op::kEqual, std::move(left), std::move(right));
  } else {
    match.negated = context->NOT() != nullptr;
    match.ignores_case = context->ILIKE() != nullptr;
  }
  match.text = "\\";
  match.args.push_back(std::move(left));
  match.args.push_back(std::move(right));
  return match;
}

// a LIKE ANY (ARRAY[b, c]) is a LIKE b OR a LIKE c, and ALL has AND in its place.
Expr read_match_of_several(MnemeParser::MembershipContext* context, const Expr& left) {
  Expr patterns = read_expression(context->expression(0));
  const bool is_all = context->ALL() != nullptr;
  if (patterns.kind != ExprKind::kArray) {
    if (patterns.kind == ExprKind::kString) {
      Expr cast = syntax::make_expression(ExprKind::kCast, patterns.where);
      cast.type.base = "text";
      cast.type.is_array = true;
      cast.type.where = patterns.where;
      cast.args.push_back(std::move(patterns));
      patterns = std::move(cast);
    }
    return compare_elements(std::move(patterns), is_all,
                            [&](Expr element) { return make_match(context, left, std::move(element)); });
  }
  std::vector<Expr> parts;
  for (const Expr& pattern : patterns.args) parts.push_back(make_match(context, left, pattern));
  return syntax::join(is_all ? Op::kAnd : Op::kOr, parts);
}

// (a, b) OVERLAPS (c, d)
Expr read_overlaps(Expr left, Expr right) {
  for (const Expr* side : {&left, &right}) {
    if (side->kind == ExprKind::kRow && side->args.size() == 2) continue;
    refuse_as(sqlstate::kSyntaxError, side->where,
              "wrong number of parameters on {} side of OVERLAPS expression",
              side == &left ? "left" : "right");
  }
  std::vector<Expr> ends;
  for (Expr* side : {&left, &right}) {
    for (Expr& end : side->args) ends.push_back(std::move(end));
  }
  Expr call = syntax::make_call("mneme_overlaps", std::move(ends), left.where);
  call.column_name = "overlaps";
  return call;
}

// BETWEEN SYMMETRIC takes its bounds in either order.
Expr between_symmetric(Expr between) {
  Expr swapped = between;
  std::swap(swapped.args[1], swapped.args[2]);
  Expr both[] = {std::move(between), std::move(swapped)};
  return syntax::join(both[0].negated ? Op::kAnd : Op::kOr, both);
}

Expr read_membership(MnemeParser::MembershipContext* context) {
  Expr left = read_concatenation(context->concatenation(0));
  if (context->ANY() || context->SOME() || context->ALL()) return read_match_of_several(context, left);
  if (context->OVERLAPS())
    return read_overlaps(std::move(left), read_concatenation(context->concatenation(1)));
  if (context->TO()) return read_similar(context, std::move(left));
  if (context->LIKE() || context->ILIKE()) {
    Expr like = syntax::make_expression(ExprKind::kLike, left.where);
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
  if (context->matchOperator())
    return make_match(context, std::move(left), read_concatenation(context->concatenation(1)));
  if (context->nestedQuery()) {
    Expr in = syntax::make_expression(ExprKind::kInQuery, left.where);
    in.negated = context->NOT() != nullptr;
    in.args.push_back(std::move(left));
    in.query = read_query(context->nestedQuery());
    return in;
  }
  if (!context->BETWEEN() && !context->IN_()) return left;
  if (context->BETWEEN() && left.kind == ExprKind::kRow && !context->SYMMETRIC()) {
    Expr ends[] = {make_comparison(Op::kGreaterEqual, left, read_concatenation(context->concatenation(1))),
                   make_comparison(Op::kLessEqual, left, read_concatenation(context->concatenation(2)))};
    Expr between = syntax::join(Op::kAnd, ends);
    return context->NOT() ? syntax::make_unary(Op::kNot, std::move(between), left.where) : std::move(between);
  }
  if (context->IN_() && left.kind == ExprKind::kRow) {
    std::vector<Expr> parts;
    for (auto* item : context->expression()) {
      const Expr row = read_expression(item);
      if (row.kind != ExprKind::kRow) refuse(row.where, "a row is compared with rows; write (a, b)");
      parts.push_back(compare_rows(Op::kEqual, left, row));
    }
    Expr any = syntax::join(Op::kOr, parts);
    return context->NOT() ? syntax::make_unary(Op::kNot, std::move(any), left.where) : std::move(any);
  }
  Expr expr =
      syntax::make_expression(context->BETWEEN() ? ExprKind::kBetween : ExprKind::kInList, left.where);
  expr.negated = context->NOT() != nullptr;
  expr.args.push_back(std::move(left));
  for (size_t i = 1; i < context->concatenation().size(); ++i) {
    expr.args.push_back(read_concatenation(context->concatenation(i)));
  }
  for (auto* item : context->expression()) expr.args.push_back(read_expression(item));
  return context->SYMMETRIC() ? between_symmetric(std::move(expr)) : std::move(expr);
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
    Expr query =
        syntax::make_expression(context->ALL() ? ExprKind::kAllQuery : ExprKind::kAnyQuery, left.where);
    query.op = op;
    query.args.push_back(std::move(left));
    query.query = read_query(context->nestedQuery());
    return query;
  }
  Expr any = syntax::make_binary(op, std::move(left), read_expression(context->expression()));
  any.kind = ExprKind::kAny;
  any.is_all = context->ALL() != nullptr;
  return any;
}

Expr make_distinct(Op op, Expr left, Expr right) {
  if (left.kind != ExprKind::kRow || right.kind != ExprKind::kRow)
    return syntax::make_binary(op, std::move(left), std::move(right));
  if (left.args.size() != right.args.size())
    refuse(left.where, "unequal number of entries in row expressions");
  std::vector<Expr> parts;
  for (size_t i = 0; i < left.args.size(); ++i)
    parts.push_back(syntax::make_binary(op, left.args[i], right.args[i]));
  return syntax::join(op == Op::kIsDistinct ? Op::kOr : Op::kAnd, parts);
}

// A row is NULL if each of its values is, and is not NULL if none is.
Expr make_test(Op op, Expr value) {
  const auto where = value.where;
  if (value.kind != ExprKind::kRow || value.args.empty() || (op != Op::kIsNull && op != Op::kIsNotNull))
    return syntax::make_unary(op, std::move(value), where);
  std::vector<Expr> parts;
  for (const Expr& each : value.args) parts.push_back(syntax::make_unary(op, each, where));
  return syntax::join(Op::kAnd, parts);
}

Expr read_test(MnemeParser::TestContext* context) {
  Expr expr = read_comparison(context->comparison());
  for (auto* test : context->isTest()) {
    if (test->ISNULL() || test->NOTNULL()) {
      expr = make_test(test->ISNULL() ? Op::kIsNull : Op::kIsNotNull, std::move(expr));
      continue;
    }
    const bool negated = test->NOT() != nullptr;
    if (test->DISTINCT()) {
      // PostgreSQL's IS is not associative, and here it would have to choose a side.
      if (test != context->isTest().back()) {
        refuse(location(test),
               "PostgreSQL takes no IS after IS DISTINCT FROM; put the comparison in parentheses");
      }
      expr = make_distinct(negated ? Op::kIsNotDistinct : Op::kIsDistinct, std::move(expr),
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
    expr = make_test(op, std::move(expr));
  }
  return expr;
}

Expr read_negation(MnemeParser::NegationContext* context) {
  if (context->test()) return read_test(context->test());
  return syntax::make_unary(Op::kNot, read_negation(context->negation()), location(context));
}

}  // namespace

Expr read_conjunction(MnemeParser::ConjunctionContext* context) {
  std::vector<Expr> parts;
  for (auto* part : context->negation()) parts.push_back(read_negation(part));
  return syntax::join(Op::kAnd, parts);
}

}  // namespace mneme
