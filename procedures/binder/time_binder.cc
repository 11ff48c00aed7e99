// ExpressionBinder's times: extract(), date_trunc(), arithmetic with dates, and intervals.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "procedures/binder/conversion.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/values/time_functions.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;
using nodes::kDouble;
using nodes::kInt;
using nodes::make_call;

namespace {

constexpr Type kMoment{.kind = TypeKind::kTimestamp, .is_zoned = true};

std::string_view name_of_time(const Type& type) {
  return type.kind == TypeKind::kDate ? "date"
         : type.is_zoned              ? "timestamp with time zone"
                                      : "timestamp without time zone";
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
  constant.type = kInt;
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

Expr bind_extract(std::string_view name, std::vector<Expr> args, ir::SourceLocation where) {
  Expr time = to_time(std::move(args[1]), name);
  const TimeUnit unit = read_unit(args[0], name, time.type);
  // date_part() of a date knows what a timestamp has.
  if (name == "date_part" && !is_extracted(unit, time.type))
    time = convert(std::move(time), Type{.kind = TypeKind::kTimestamp});
  const Type source = time.type;
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
  // A date becomes the moment at which it begins.
  if (time.type.kind == TypeKind::kDate) time = convert(std::move(time), kMoment);
  const TimeUnit unit = read_unit(args[0], name, time.type);
  if (!is_truncated(unit)) {
    refuse_as(sqlstate::kInvalidParameter, args[0].where, "unit \"{}\" not recognized for type {}",
              args[0].constant.as_text(), name_of_time(time.type));
  }
  const Type type{.kind = TypeKind::kTimestamp, .is_zoned = time.type.is_zoned};
  std::vector<Expr> parts;
  parts.push_back(std::move(time));
  parts.push_back(unit_constant(unit, args[0].where));
  return make_call(Function::kTruncateTime, type, std::move(parts), where);
}

Expr bind_time_zone(std::vector<Expr> args) {
  constexpr std::array<std::string_view, 9> kNames = {"utc",     "gmt",     "z",         "zulu",     "uct",
                                                      "etc/utc", "etc/gmt", "universal", "greenwich"};
  Expr& zone = args[0];
  Expr& time = args[1];
  std::string name;
  if (zone.kind == ExprKind::kConstant && !zone.constant.is_null() &&
      (is_unknown(zone) || zone.type.is_string()))
    std::ranges::transform(zone.constant.as_text(), std::back_inserter(name), ascii_lower);
  if (std::ranges::find(kNames, name) == kNames.end()) {
    refuse_as(sqlstate::kNotSupported, zone.where,
              "no time zone but UTC is supported, written as 'UTC'; move a time by an interval");
  }
  if (!is_unknown(time) && !time.type.is_time()) {
    refuse_as(sqlstate::kUndefinedFunction, time.where, "function timezone(unknown, {}) does not exist",
              to_string(time.type));
  }
  // What has no type, and a date, is a moment first.
  if (is_unknown(time) || time.type.kind == TypeKind::kDate)
    time = convert_explicitly(std::move(time), kMoment);
  const Type other{.kind = TypeKind::kTimestamp, .is_zoned = !time.type.is_zoned};
  return convert(std::move(time), other);
}

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
  return convert(std::move(sum), is_difference ? kInt : kDate);
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
  const Type type{.kind = TypeKind::kTimestamp, .is_zoned = time.type.is_zoned};
  std::vector<Expr> args;
  args.push_back(convert(std::move(time), type));
  for (const int64_t part : {interval.months, interval.days, interval.microseconds}) {
    Expr number = nodes::make(ExprKind::kConstant, kCount, where);
    number.constant = Value::of_int(part);
    args.push_back(std::move(number));
  }
  args.push_back(convert(std::move(count), kCount));
  return make_call(Function::kAddInterval, type, std::move(args), where);
}

bool is_interval_literal(const syntax::Expr& expr) {
  return expr.kind == syntax::ExprKind::kCast && expr.type.base == "interval" && !expr.type.is_array &&
         expr.type.modifiers.empty() && expr.args[0].kind == syntax::ExprKind::kString;
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
  count.type = kInt;
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

}  // namespace mneme
