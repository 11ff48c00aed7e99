// Scalar functions: which there are, the types they take and what comes out, as in PostgreSQL's catalog.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "procedures/binder/conversion.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/binder/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/time_functions.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;
using nodes::kBoolean;
using nodes::make;

namespace {

constexpr Type kIntResult{.kind = TypeKind::kInt};
constexpr Type kDouble{.kind = TypeKind::kDouble};

enum class Shape {
  kResults,   // all arguments and the result have one type
  kNullIf,    // two that compare; the first one's type
  kNumber,    // abs: the argument's type
  kRounding,  // sign, floor, ceil: numeric or double
  kDigits,    // round, trunc: the same, or numeric with a constant number of digits
  kModulo,
  kDoubles,  // all double precision
  kText,     // strings, then integers, as `strings` says
  kHex,      // to_hex: int or bigint
  kExtract,  // extract, date_part: a unit and a time
  kTruncateTime,
  kConcat,
};

struct Signature {
  Function function;
  Shape shape;
  size_t least;  // arguments
  size_t most;
  // kText: the first `strings` arguments are strings and the others integers, except that the last one of
  // lpad, rpad is a string again.
  size_t strings = 0;
  TypeKind result = TypeKind::kVarchar;  // kText's
};

constexpr size_t kMany = 100;

const std::map<std::string_view, Signature> kFunctions = {
    {"coalesce", {Function::kCoalesce, Shape::kResults, 1, kMany}},
    {"greatest", {Function::kGreatest, Shape::kResults, 1, kMany}},
    {"least", {Function::kLeast, Shape::kResults, 1, kMany}},
    {"nullif", {Function::kNullIf, Shape::kNullIf, 2, 2}},
    {"abs", {Function::kAbs, Shape::kNumber, 1, 1}},
    {"sign", {Function::kSign, Shape::kRounding, 1, 1}},
    {"floor", {Function::kFloor, Shape::kRounding, 1, 1}},
    {"ceil", {Function::kCeil, Shape::kRounding, 1, 1}},
    {"ceiling", {Function::kCeil, Shape::kRounding, 1, 1}},
    {"round", {Function::kRound, Shape::kDigits, 1, 2}},
    {"trunc", {Function::kTrunc, Shape::kDigits, 1, 2}},
    {"mod", {Function::kMod, Shape::kModulo, 2, 2}},
    {"sqrt", {Function::kSqrt, Shape::kDoubles, 1, 1}},
    {"power", {Function::kPower, Shape::kDoubles, 2, 2}},
    {"length", {Function::kLength, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"char_length", {Function::kLength, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"character_length", {Function::kLength, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"octet_length", {Function::kOctetLength, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"bit_length", {Function::kBitLength, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"lower", {Function::kLower, Shape::kText, 1, 1, 1}},
    {"upper", {Function::kUpper, Shape::kText, 1, 1, 1}},
    {"substring", {Function::kSubstring, Shape::kText, 2, 3, 1}},
    {"substr", {Function::kSubstring, Shape::kText, 2, 3, 1}},
    {"left", {Function::kLeft, Shape::kText, 2, 2, 1}},
    {"right", {Function::kRight, Shape::kText, 2, 2, 1}},
    {"btrim", {Function::kTrim, Shape::kText, 1, 2, 2}},
    {"trim", {Function::kTrim, Shape::kText, 1, 2, 2}},
    {"ltrim", {Function::kLtrim, Shape::kText, 1, 2, 2}},
    {"rtrim", {Function::kRtrim, Shape::kText, 1, 2, 2}},
    {"lpad", {Function::kLpad, Shape::kText, 2, 3, 1}},
    {"rpad", {Function::kRpad, Shape::kText, 2, 3, 1}},
    {"replace", {Function::kReplace, Shape::kText, 3, 3, 3}},
    {"strpos", {Function::kPosition, Shape::kText, 2, 2, 2, TypeKind::kInt}},
    {"repeat", {Function::kRepeat, Shape::kText, 2, 2, 1}},
    {"reverse", {Function::kReverse, Shape::kText, 1, 1, 1}},
    {"initcap", {Function::kInitcap, Shape::kText, 1, 1, 1}},
    {"split_part", {Function::kSplitPart, Shape::kText, 3, 3, 2}},
    {"translate", {Function::kTranslate, Shape::kText, 3, 3, 3}},
    {"starts_with", {Function::kStartsWith, Shape::kText, 2, 2, 2, TypeKind::kBoolean}},
    {"ascii", {Function::kAscii, Shape::kText, 1, 1, 1, TypeKind::kInt}},
    {"chr", {Function::kChr, Shape::kText, 1, 1, 0}},
    {"to_hex", {Function::kToHex, Shape::kHex, 1, 1}},
    {"exp", {Function::kExp, Shape::kDoubles, 1, 1}},
    {"ln", {Function::kLn, Shape::kDoubles, 1, 1}},
    {"log", {Function::kLog, Shape::kDoubles, 1, 1}},
    {"log10", {Function::kLog, Shape::kDoubles, 1, 1}},
    {"pow", {Function::kPower, Shape::kDoubles, 2, 2}},
    {"extract", {Function::kExtract, Shape::kExtract, 2, 2}},
    {"date_part", {Function::kExtract, Shape::kExtract, 2, 2}},
    {"date_trunc", {Function::kTruncateTime, Shape::kTruncateTime, 2, 2}},
    {"concat", {Function::kConcatFunction, Shape::kConcat, 1, kMany}},
};

const std::map<std::string_view, std::string_view> kAdvice = {
    {"clock_timestamp", kTimeAdvice},
    {"timeofday", kTimeAdvice},
    {"random", "a replayed call must draw the same number; pass the random number as an argument"},
    {"setseed", "a replayed call must draw the same number; pass the random number as an argument"},
    {"gen_random_uuid", "a replayed call must draw the same value; pass the value as an argument"},
    {"nextval", "draw numbers from a row of a table with UPDATE ... RETURNING ... INTO"},
    {"array_append", "it is accepted as the whole right side of an assignment: a := array_append(a, x)"},
    {"array_length", "use cardinality(a), which is 0 for an empty array"},
    {"array_upper", "use cardinality(a)"},
    {"array_agg", "use a FOR loop over the rows and array_append()"},
    {"unnest", "use FOR i IN 1..cardinality(a) LOOP"},
    {"exists", "use PERFORM 1 FROM ... WHERE ..., then IF FOUND"},
    {"to_char", "format values outside of the procedure"},
    {"format", "use || or concat()"},
    {"row_number", "use a counter in a FOR loop"},
};

Expr make_call(Function function, const Type& type, std::vector<Expr> args, ir::SourceLocation where) {
  Expr call;
  call.kind = ExprKind::kFunction;
  call.function = function;
  call.type = type;
  call.args = std::move(args);
  call.where = where;
  return call;
}

Expr to_number(Expr arg, std::string_view name) {
  if (is_unknown(arg)) return convert_for_assignment(std::move(arg), kDouble, name);
  if (!arg.type.is_number()) refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() is for numbers", name);
  return arg;
}

Expr to_text(Expr arg, std::string_view name) {
  if (!is_unknown(arg) && !arg.type.is_string()) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() takes a string here; cast the {} to text", name,
              to_string(arg.type));
  }
  return convert_to_text(std::move(arg));
}

// octet_length() and bit_length() count the blanks that fill a char(n), which are not kept.
Expr to_filled_text(Expr arg, std::string_view name) {
  if (arg.type.kind != TypeKind::kChar || is_unknown(arg)) return to_text(std::move(arg), name);
  const ir::SourceLocation where = arg.where;
  const Type type = arg.type;
  if (type.length == 0 || arg.text_varies) {
    refuse_as(
        sqlstate::kNotSupported, where,
        "{}() of a char(n) whose n depends on the value is not supported; cast it to text, or to char(n)",
        name);
  }
  Expr width;
  width.type = kIntResult;
  width.constant = Value::of_int(type.length);
  width.where = where;
  std::vector<Expr> args;
  args.push_back(to_text(std::move(arg), name));
  args.push_back(std::move(width));
  return make_call(Function::kRpad, text_type(), std::move(args), where);
}

Expr to_int(Expr arg, std::string_view name) {
  if (!is_unknown(arg) && arg.type.kind != TypeKind::kInt && arg.type.kind != TypeKind::kSmallInt) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() takes an int here; cast the {} to int", name,
              to_string(arg.type));
  }
  return convert_for_assignment(std::move(arg), kIntResult, name);
}

// Integers have no sign(), floor(), round(), ... of their own: PostgreSQL makes them double precision.
Expr bind_rounding(const Signature& signature, std::string_view name, std::vector<Expr> args,
                   ir::SourceLocation where, bool own_digits) {
  if (is_unknown(args[0]) && signature.function == Function::kTrunc) {
    refuse(where, "trunc() of a quoted number is ambiguous to PostgreSQL; write it without quotes");
  }
  args[0] = to_number(std::move(args[0]), name);
  if (args.size() == 1) {
    if (args[0].type.kind == TypeKind::kDecimal) {
      const Type type = args[0].type;
      return make_call(signature.function, type, std::move(args), where);
    }
    if (args[0].type.kind != TypeKind::kNumeric) args[0] = convert(std::move(args[0]), kDouble);
    const Type type = args[0].type.kind == TypeKind::kNumeric ? numeric_type(0) : kDouble;
    return make_call(signature.function, type, std::move(args), where);
  }
  if (args[0].type.is_floating()) {
    refuse_as(sqlstate::kUndefinedFunction, where,
              "{}() of double precision takes no number of digits; cast to numeric(p,s) first", name);
  }
  if (own_digits) {
    args[0] = with_own_digits(std::move(args[0]));
    args[1] = to_int(std::move(args[1]), name);
    const Type type = args[0].type;
    return make_call(signature.function, type, std::move(args), where);
  }
  if (args[0].type.is_integer()) args[0] = convert(std::move(args[0]), numeric_type(0));
  const Expr& digits = args[1];
  const bool constant = digits.kind == ExprKind::kConstant && digits.type.kind == TypeKind::kInt &&
                        digits.constant.as_int() <= kMaxNumericPrecision;
  if (!constant)
    refuse(digits.where, "the number of digits that {}() keeps must be written as a number from 0 to {}",
           name, kMaxNumericPrecision);
  const Type type = numeric_type(static_cast<uint32_t>(digits.constant.as_int()));
  return make_call(signature.function, type, std::move(args), where);
}

Expr bind_text_function(const Signature& signature, std::string_view name, std::vector<Expr> args,
                        ir::SourceLocation where) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (name == "substring" && i > 0 && is_unknown(args[i])) {
      refuse(args[i].where,
             "substring() with a quoted string here takes it for a pattern in PostgreSQL; write a number");
    }
    const bool padding =
        (signature.function == Function::kLpad || signature.function == Function::kRpad) && i == 2;
    if (signature.function == Function::kOctetLength || signature.function == Function::kBitLength) {
      args[i] = to_filled_text(std::move(args[i]), name);
      continue;
    }
    args[i] = i < signature.strings || padding ? to_text(std::move(args[i]), name)
                                               : to_int(std::move(args[i]), name);
  }
  const Type type = signature.result == TypeKind::kVarchar ? text_type() : Type{.kind = signature.result};
  return make_call(signature.function, type, std::move(args), where);
}

std::string_view name_of_time(const Type& type) {
  return type.kind == TypeKind::kDate ? "date" : "timestamp without time zone";
}

TimeUnit read_unit(const Expr& unit, std::string_view name, const Type& time) {
  if (!is_unknown(unit) || unit.kind != ExprKind::kConstant || unit.constant.is_null()) {
    refuse_as(sqlstate::kNotSupported, unit.where, "the unit of {}() must be written as a quoted word", name);
  }
  const std::string_view word = unit.constant.as_text();
  const std::optional<TimeUnit> read = time_unit(word);
  if (!read) {
    refuse_as(sqlstate::kInvalidParameter, unit.where, "unit \"{}\" not recognized for type {}", word,
              name_of_time(time));
  }
  return *read;
}

Expr unit_constant(TimeUnit unit, ir::SourceLocation where) {
  Expr constant;
  constant.type = kIntResult;
  constant.constant = Value::of_int(static_cast<int64_t>(unit));
  constant.where = where;
  return constant;
}

Expr to_time(Expr arg, std::string_view name) {
  if (is_unknown(arg)) {
    refuse_as(sqlstate::kNotUnique, arg.where,
              "function {}(unknown, unknown) is not unique; cast to timestamp", name);
  }
  if (!arg.type.is_time()) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "function {}(unknown, {}) does not exist", name,
              to_string(arg.type));
  }
  return arg;
}

Expr bind_extract(std::string_view name, std::vector<Expr> args, ir::SourceLocation where) {
  Expr time = to_time(std::move(args[1]), name);
  const Type source = time.type;
  const TimeUnit unit = read_unit(args[0], name, source);
  if (!is_extracted(unit, source)) {
    refuse_as(sqlstate::kNotSupported, args[0].where, "unit \"{}\" not supported for type {}",
              args[0].constant.as_text(), name_of_time(source));
  }
  std::vector<Expr> parts;
  parts.push_back(std::move(time));
  parts.push_back(unit_constant(unit, args[0].where));
  Expr part =
      make_call(Function::kExtract, numeric_type(extracted_scale(unit, source)), std::move(parts), where);
  return name == "date_part" ? convert(std::move(part), kDouble) : part;
}

Expr bind_truncation(std::string_view name, std::vector<Expr> args, ir::SourceLocation where) {
  Expr time = to_time(std::move(args[1]), name);
  if (time.type.kind == TypeKind::kDate) {
    refuse_as(sqlstate::kNotSupported, where,
              "{}() of a date has a time zone in PostgreSQL, which is not supported; cast it to timestamp",
              name);
  }
  const TimeUnit unit = read_unit(args[0], name, time.type);
  if (!is_truncated(unit)) {
    refuse_as(sqlstate::kInvalidParameter, args[0].where, "unit \"{}\" not recognized for type {}",
              args[0].constant.as_text(), name_of_time(time.type));
  }
  const Type type = time.type;
  const bool text_varies = time.text_varies;
  std::vector<Expr> parts;
  parts.push_back(std::move(time));
  parts.push_back(unit_constant(unit, args[0].where));
  Expr first = make_call(Function::kTruncateTime, type, std::move(parts), where);
  first.text_varies = text_varies;
  return first;
}

[[noreturn]] void refuse_operator(ir::Op op, const Expr& left, const Expr& right, ir::SourceLocation where) {
  const auto name = [](const Expr& side) { return is_unknown(side) ? "unknown" : to_string(side.type); };
  refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {} {} {}", name(left),
            op == ir::Op::kAdd        ? '+'
            : op == ir::Op::kSubtract ? '-'
            : op == ir::Op::kMultiply ? '*'
                                      : '/',
            name(right));
}

}  // namespace

// A date and a number of days, and two dates. Days are counted as bigints, so that what is no date is seen.
Expr bind_time_arithmetic(ir::Op op, Expr left, Expr right, ir::SourceLocation where) {
  constexpr Type kDays{.kind = TypeKind::kBigInt};
  constexpr Type kDate{.kind = TypeKind::kDate};
  const auto is_date = [](const Expr& side) { return side.type.kind == TypeKind::kDate; };
  const auto is_count = [](const Expr& side) {
    return side.type.kind == TypeKind::kInt || side.type.kind == TypeKind::kSmallInt;
  };
  if (op == ir::Op::kSubtract && (is_unknown(left) || is_unknown(right))) {
    Expr& unknown = is_unknown(left) ? left : right;
    const Type type = is_unknown(left) ? right.type : left.type;
    unknown = convert_explicitly(std::move(unknown), type);
  }
  if (op == ir::Op::kSubtract && left.type.is_time() && right.type.is_time() &&
      (!is_date(left) || !is_date(right))) {
    refuse_as(sqlstate::kNotSupported, where,
              "a difference of timestamps is an interval, which is not supported; subtract what "
              "extract(epoch FROM ...) gives");
  }
  if (is_unknown(left) || is_unknown(right)) {
    if (op == ir::Op::kAdd)
      refuse_as(sqlstate::kNotUnique, where, "operator is not unique: it adds a time and a quoted string");
    refuse_operator(op, left, right, where);
  }
  const bool is_difference = op == ir::Op::kSubtract && is_date(left) && is_date(right);
  const bool is_moved =
      (op == ir::Op::kAdd && ((is_date(left) && is_count(right)) || (is_count(left) && is_date(right)))) ||
      (op == ir::Op::kSubtract && is_date(left) && is_count(right));
  if (!is_difference && !is_moved) refuse_operator(op, left, right, where);
  Expr sum;
  sum.kind = ExprKind::kBinary;
  sum.op = op;
  sum.type = kDays;
  sum.where = where;
  sum.args.push_back(convert(std::move(left), kDays));
  sum.args.push_back(convert(std::move(right), kDays));
  return convert(std::move(sum), is_difference ? kIntResult : kDate);
}

namespace {

// time + interval * count
Expr bind_interval_arithmetic(Expr time, const Interval& interval, Expr count, ir::SourceLocation where) {
  constexpr Type kCount{.kind = TypeKind::kBigInt};
  if (is_unknown(time)) {
    refuse_as(sqlstate::kNotSupported, where,
              "what an interval is added to must be a timestamp or a date; cast it");
  }
  if (!time.type.is_time())
    refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {} + interval",
              to_string(time.type));
  const bool text_varies = time.text_varies;
  constexpr Type kTimestamp{.kind = TypeKind::kTimestamp};
  std::vector<Expr> args;
  args.push_back(convert(std::move(time), kTimestamp));
  for (const int64_t part : {interval.months, interval.days, interval.microseconds}) {
    Expr product;
    product.type = kCount;
    product.where = where;
    product.constant = Value::of_int(part);
    if (count.kind != ExprKind::kConstant || count.constant.is_null() || count.constant.as_int() != 1) {
      Expr factor = std::move(product);
      product = Expr();
      product.kind = ExprKind::kBinary;
      product.op = ir::Op::kMultiply;
      product.type = kCount;
      product.where = where;
      product.args.push_back(convert(count, kCount));
      product.args.push_back(std::move(factor));
    }
    args.push_back(std::move(product));
  }
  Expr moved = make_call(Function::kAddInterval, kTimestamp, std::move(args), where);
  moved.text_varies = text_varies;
  return moved;
}

bool is_interval_literal(const syntax::Expr& expr) {
  return expr.kind == syntax::ExprKind::kCast && expr.type.base == "interval" && !expr.type.is_array &&
         expr.args[0].kind == syntax::ExprKind::kString;
}

// An interval's literal, or a product with one: what a time moves by.
bool is_interval(const syntax::Expr& expr) {
  return is_interval_literal(expr) || (expr.kind == syntax::ExprKind::kBinary && expr.op == Op::kMultiply &&
                                       std::ranges::any_of(expr.args, is_interval_literal));
}

Interval read_interval(const syntax::Expr& literal, bool is_negative) {
  const std::string& text = literal.args[0].text;
  Interval interval;
  switch (parse_interval(text, interval)) {
    case IntervalSyntax::kOk:
      break;
    case IntervalSyntax::kInvalid:
      refuse_as(sqlstate::kInvalidDatetime, literal.args[0].where,
                "invalid input syntax for type interval: \"{}\"", text);
    case IntervalSyntax::kOutOfRange:
      refuse_as(sqlstate::kIntervalOverflow, literal.args[0].where,
                "interval field value out of range: \"{}\"", text);
    case IntervalSyntax::kOtherForm:
      refuse_as(sqlstate::kNotSupported, literal.args[0].where,
                "the interval \"{}\" is not supported: write numbers with units, as in '1 day 02:00:00'",
                text);
  }
  if (!is_negative) return interval;
  return {-interval.months, -interval.days, -interval.microseconds};
}

}  // namespace

std::optional<Expr> ExpressionBinder::bind_moved_time(const syntax::Expr& expr) {
  const bool is_second = (expr.op == Op::kAdd || expr.op == Op::kSubtract) && is_interval(expr.args[1]);
  if (!is_second && (expr.op != Op::kAdd || !is_interval(expr.args[0]))) return std::nullopt;
  const syntax::Expr& time = expr.args[is_second ? 0 : 1];
  const syntax::Expr& interval = expr.args[is_second ? 1 : 0];
  Expr count;
  count.type = kIntResult;
  count.where = interval.where;
  count.constant = Value::of_int(1);
  const syntax::Expr* literal = &interval;
  if (!is_interval_literal(interval)) {
    const bool is_first = is_interval_literal(interval.args[0]);
    literal = &interval.args[is_first ? 0 : 1];
    count = bind(interval.args[is_first ? 1 : 0]);
    if (is_unknown(count) || !count.type.is_integer()) {
      refuse_as(sqlstate::kNotSupported, count.where,
                "an interval is multiplied by an integer alone; cast it to int");
    }
  }
  return bind_interval_arithmetic(bind(time), read_interval(*literal, expr.op == Op::kSubtract),
                                  std::move(count), interval.where);
}

void check_function(std::string_view name, ir::SourceLocation where) {
  if (kFunctions.contains(name)) return;
  const auto advice = kAdvice.find(name);
  if (advice != kAdvice.end())
    refuse_as(sqlstate::kNotSupported, where, "{}() is not supported: {}", name, advice->second);
  std::string accepted = "cardinality";
  for (const auto& [function, signature] : kFunctions) accepted += fmt::format(", {}", function);
  refuse_as(sqlstate::kUndefinedFunction, where, "there is no function {}() here; accepted are {}", name,
            accepted);
}

Expr bind_function(const std::string& name, std::vector<Expr> args, ir::SourceLocation where,
                   bool own_digits) {
  const Signature& signature = kFunctions.at(name);
  const bool takes_numbers = signature.shape == Shape::kNumber || signature.shape == Shape::kRounding ||
                             signature.shape == Shape::kDigits || signature.shape == Shape::kModulo ||
                             signature.shape == Shape::kNullIf || signature.shape == Shape::kConcat;
  if (own_digits && takes_numbers) {
    for (Expr& arg : args) {
      if (arg.type.kind == TypeKind::kNumeric) arg = with_own_digits(std::move(arg));
    }
  }
  if (args.size() < signature.least || args.size() > signature.most) {
    const std::string most = signature.most == kMany ? " or more" : fmt::format(" to {}", signature.most);
    refuse_as(sqlstate::kUndefinedFunction, where, "{}() takes {}{} arguments, and here are {}", name,
              signature.least, signature.least == signature.most ? "" : most, args.size());
  }
  switch (signature.shape) {
    case Shape::kResults: {
      std::vector<Expr*> results;
      for (Expr& arg : args) results.push_back(&arg);
      bool text_varies = false;
      const Type type = unify_results(results, name, text_varies);
      Expr call = make_call(signature.function, type, std::move(args), where);
      call.text_varies = text_varies;
      return call;
    }
    case Shape::kNullIf: {
      const bool is_char_literal = is_unknown(args[0]) && args[1].type.kind == TypeKind::kChar;
      if (is_unknown(args[0])) args[0] = resolve_as_text(std::move(args[0]));
      if (is_char_literal) args[0] = convert(std::move(args[0]), Type{.kind = TypeKind::kChar});
      const Type type = args[0].type;
      const bool varied = args[0].text_varies || is_char_literal;
      unify_for_comparison(args[0], args[1], where);
      if (args[0].type.is_number() && !(args[0].type == type) && args[0].type.kind != TypeKind::kNumeric &&
          args[0].type.kind != TypeKind::kDecimal) {
        refuse_as(sqlstate::kNotSupported, where,
                  "nullif() of {} and a wider type is not supported; cast the second argument",
                  to_string(type));
      }
      const Type result = args[0].type;
      Expr call = make_call(signature.function, result, std::move(args), where);
      call.text_varies = varied ||
                         (result.kind == TypeKind::kNumeric &&
                          (type.kind != TypeKind::kNumeric || type.scale != result.scale)) ||
                         (result.kind == TypeKind::kChar && type.kind != TypeKind::kChar);
      return call;
    }
    case Shape::kNumber: {
      args[0] = to_number(std::move(args[0]), name);
      Type type = args[0].type;
      type.precision = 0;
      const bool text_varies = args[0].text_varies;
      Expr call = make_call(signature.function, type, std::move(args), where);
      call.text_varies = text_varies;
      return call;
    }
    case Shape::kRounding:
    case Shape::kDigits:
      return bind_rounding(signature, name, std::move(args), where, own_digits);
    case Shape::kModulo: {
      const Digits left = decimals_of(args[0]);
      const Digits right = decimals_of(args[1]);
      unify_for_arithmetic(args[0], args[1], true, where);
      if (args[0].type.is_floating())
        refuse_as(sqlstate::kUndefinedFunction, where, "mod() is not defined for {}",
                  to_string(args[0].type));
      Type type = args[0].type;
      type.precision = 0;
      Expr call = make_call(signature.function, type, std::move(args), where);
      call.text_varies = type.kind == TypeKind::kNumeric && !has_most_digits(left, right, type.scale);
      return call;
    }
    case Shape::kDoubles:
      for (const Expr& arg : args) {
        if (arg.type.kind == TypeKind::kNumeric || arg.type.kind == TypeKind::kDecimal) {
          refuse_as(
              sqlstate::kNotSupported, arg.where,
              "{}() of numeric is not supported: how many digits PostgreSQL keeps depends on the value; cast "
              "it to double precision",
              name);
        }
      }
      for (Expr& arg : args) arg = convert(to_number(std::move(arg), name), kDouble);
      return make_call(signature.function, kDouble, std::move(args), where);
    case Shape::kHex:
      if (is_unknown(args[0])) {
        refuse_as(sqlstate::kNotUnique, where, "function to_hex(unknown) is not unique; write a number");
      }
      if (!args[0].type.is_integer()) {
        refuse_as(sqlstate::kUndefinedFunction, where, "function to_hex({}) does not exist",
                  to_string(args[0].type));
      }
      if (args[0].type.kind == TypeKind::kSmallInt) args[0] = convert(std::move(args[0]), kIntResult);
      return make_call(signature.function, text_type(), std::move(args), where);
    case Shape::kExtract:
      return bind_extract(name, std::move(args), where);
    case Shape::kTruncateTime:
      return bind_truncation(name, std::move(args), where);
    case Shape::kText:
      return bind_text_function(signature, name, std::move(args), where);
    case Shape::kConcat:
      for (Expr& arg : args) {
        if (arg.type.kind == TypeKind::kBoolean) {
          refuse_as(sqlstate::kNotSupported, arg.where,
                    "concat() of a boolean is not supported; write CASE WHEN ... THEN 't' ELSE 'f' END");
        }
        if (arg.type.kind == TypeKind::kChar) {
          refuse_as(sqlstate::kNotSupported, arg.where,
                    "concat() of char(n) is not supported: it would keep the blanks that fill it; use ||");
        }
        arg = convert_to_text(std::move(arg));
      }
      return make_call(signature.function, text_type(), std::move(args), where);
  }
  CHECK(false && "no such shape");
  return {};
}

bool converts_implicitly(const Type& from, const Type& to) {
  if (from.is_string() || to.is_string()) return from.is_string() && to.is_string();
  if (from.kind == TypeKind::kDate && to.kind == TypeKind::kTimestamp) return true;
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
        return 3;
      case TypeKind::kReal:
        return 4;
      default:
        return 5;
    }
  };
  return width(from) <= width(to);
}

bool is_own_function(std::string_view name) {
  constexpr std::string_view kOthers[] = {"count",       "sum",     "avg",     "min",    "max",
                                          "cardinality", "nextval", "currval", "setval", "now"};
  return kFunctions.contains(name) || kAdvice.contains(name) ||
         std::ranges::find(kOthers, name) != std::end(kOthers);
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
  Expr bind_array(const syntax::Expr& expr, ExpressionBinder& binder) override {
    return outside_.bind_array(expr, binder);
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
  Type own = parameter;
  own.precision = 0;
  own.length = 0;
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

// The expression stands in the place of the call, and the arguments in the place of the parameters.
Expr ExpressionBinder::bind_routine(const syntax::Expr& call, const syntax::Procedure& routine) {
  const std::string& name = call.text;
  if (!routine.is_function)
    refuse_as(sqlstate::kWrongObject, call.where, "{} is a procedure; to call a procedure, use CALL", name);
  const std::optional<syntax::Expr> body = expression_of(routine, true);
  if (!body) {
    refuse_as(sqlstate::kNotSupported, call.where,
              "function {} is more than an expression, and may be called here as SELECT {}(...) alone, or as "
              "variable := {}(...) in a procedure: assign what it returns first",
              name, name, name);
  }
  const std::vector<const syntax::Expr*> given = arguments_of(routine, call.args, call.where);
  std::vector<Expr> values;
  for (size_t i = 0; i < given.size(); ++i) {
    const Type type = names_.read_type(routine.parameters[i].type);
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
  Names::Blocks around = names_.enter_routine(name, call.where);
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
  names_.leave_routine(std::move(around));
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

Expr ExpressionBinder::bind_sequence(const syntax::Expr& expr) {
  if (!names_.allows_sequences() || (query_ == nullptr && !sources_.empty())) {
    refuse_as(
        sqlstate::kNotSupported, expr.where,
        "{}() is not supported in a procedure: a replayed call must draw the same number; draw it before "
        "the call, and pass it as an argument",
        expr.text);
  }
  if (expr.text == "lastval") return bind_last_value(expr);
  const size_t least = expr.text == "setval" ? 2 : 1;
  if (expr.args.size() < least || expr.args.size() > (expr.text == "setval" ? 3 : 1)) {
    refuse_as(sqlstate::kUndefinedFunction, expr.where, "{}() takes {} argument{}", expr.text, least,
              least == 1 ? "" : "s");
  }
  const syntax::Expr* name = &expr.args[0];
  while (name->kind == syntax::ExprKind::kCast) name = &name->args[0];
  if (name->kind != syntax::ExprKind::kString) {
    refuse_as(sqlstate::kNotSupported, expr.where, "{}() takes the sequence's name, in quotes", expr.text);
  }
  std::string sequence = name->text;
  if (sequence.starts_with("public.")) sequence.erase(0, 7);
  std::erase(sequence, '"');
  const TableDefinition* table = names_.find_table(sequence);
  if (table == nullptr)
    refuse_as(sqlstate::kUndefinedTable, expr.where, "relation \"{}\" does not exist", sequence);
  if (!is_sequence(*table))
    refuse_as(sqlstate::kWrongObject, expr.where, "\"{}\" is not a sequence", sequence);
  Expr call = make(ExprKind::kFunction, Type{.kind = TypeKind::kBigInt}, expr.where);
  call.function = expr.text == "nextval"   ? ir::Function::kNextValue
                  : expr.text == "currval" ? ir::Function::kCurrentValue
                                           : ir::Function::kSetValue;
  Expr number = make(ExprKind::kConstant, call.type, expr.where);
  number.constant = Value::of_int(table->id.value);
  call.args.push_back(std::move(number));
  if (expr.args.size() > 1) call.args.push_back(bind_for(expr.args[1], call.type, "setval()"));
  if (expr.args.size() > 2) call.args.push_back(bind_for(expr.args[2], kBoolean, "setval()"));
  return call;
}

Expr ExpressionBinder::bind_last_value(const syntax::Expr& expr) {
  if (!expr.args.empty()) refuse_as(sqlstate::kUndefinedFunction, expr.where, "lastval() takes no arguments");
  Expr call = make(ExprKind::kFunction, Type{.kind = TypeKind::kBigInt}, expr.where);
  call.function = ir::Function::kLastValue;
  Expr number = make(ExprKind::kConstant, call.type, expr.where);
  number.constant = Value::of_int(0);
  call.args.push_back(std::move(number));
  return call;
}

}  // namespace mneme
