// ExpressionBinder's times: extract(), date_trunc(), arithmetic with dates, and intervals.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/times/time_functions.h"
#include "procedures/typing/conversion.h"

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
constexpr Type kInterval{.kind = TypeKind::kInterval};

constexpr Type kDaytime{.kind = TypeKind::kTime};

bool is_clock_type(const Expr& expr) {
  return expr.type.kind == TypeKind::kTime;
}

bool is_interval_type(const Expr& expr) {
  return expr.type.kind == TypeKind::kInterval;
}

std::string_view name_of_time(const Type& type) {
  return type.kind == TypeKind::kDate       ? "date"
         : type.kind == TypeKind::kInterval ? "interval"
         : type.kind == TypeKind::kTime     ? "time without time zone"
         : type.is_zoned                    ? "timestamp with time zone"
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
  if (!arg.type.is_time() && !is_interval_type(arg) && !is_clock_type(arg)) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "function {}(unknown, {}) does not exist", name,
              to_string(arg.type));
  }
  return arg;
}

// The time as a timestamp, a date as that at which it begins.
Expr as_timestamp(Expr time) {
  const Type type{.kind = TypeKind::kTimestamp, .is_zoned = time.type.is_zoned};
  return convert(std::move(time), type);
}

[[noreturn]] void refuse_operator(ir::Op op, const Expr& left, const Expr& right, ir::SourceLocation where) {
  const auto name = [](const Expr& side) { return is_unknown(side) ? "unknown" : to_string(side.type); };
  refuse_as(sqlstate::kUndefinedFunction, where, "operator does not exist: {} {} {}", name(left),
            op == ir::Op::kAdd        ? '+'
            : op == ir::Op::kSubtract ? '-'
            : op == ir::Op::kMultiply ? '*'
            : op == ir::Op::kDivide   ? '/'
                                      : '%',
            name(right));
}

}  // namespace

Expr bind_extract(std::string_view name, std::vector<Expr> args, ir::SourceLocation where) {
  Expr time = to_time(std::move(args[1]), name);
  const TimeUnit unit = read_unit(args[0], name, time.type);
  // date_part() of a date knows what a timestamp has.
  if (name == "date_part" && time.type.kind == TypeKind::kDate && !is_extracted(unit, time.type))
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
  if (is_clock_type(time)) time = convert(std::move(time), kInterval);
  // A date becomes the moment at which it begins.
  if (time.type.kind == TypeKind::kDate) time = convert(std::move(time), kMoment);
  const TimeUnit unit = read_unit(args[0], name, time.type);
  if (!is_truncated(unit)) {
    refuse_as(sqlstate::kInvalidParameter, args[0].where, "unit \"{}\" not recognized for type {}",
              args[0].constant.as_text(), name_of_time(time.type));
  }
  if (is_interval_type(time) && unit == TimeUnit::kWeek) {
    refuse_as(sqlstate::kNotSupported, args[0].where,
              "unit \"week\" not supported for type interval: months have parts of weeks");
  }
  const Type type =
      is_interval_type(time) ? kInterval : Type{.kind = TypeKind::kTimestamp, .is_zoned = time.type.is_zoned};
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

namespace {

constexpr Type kDayCount{.kind = TypeKind::kBigInt};

// A date and a number of days, and two dates. Days are counted as bigints, so that what is no date is seen.
Expr bind_date_arithmetic(Op op, Expr left, Expr right, ir::SourceLocation where) {
  constexpr Type kDate{.kind = TypeKind::kDate};
  const auto is_date = [](const Expr& side) { return side.type.kind == TypeKind::kDate; };
  const auto is_count = [](const Expr& side) {
    return side.type.kind == TypeKind::kInt || side.type.kind == TypeKind::kSmallInt;
  };
  const bool is_difference = op == Op::kSubtract && is_date(left) && is_date(right);
  const bool is_moved =
      (op == Op::kAdd && ((is_date(left) && is_count(right)) || (is_count(left) && is_date(right)))) ||
      (op == Op::kSubtract && is_date(left) && is_count(right));
  if (!is_difference && !is_moved) refuse_operator(op, left, right, where);
  Expr sum = nodes::make_binary(op, kDayCount, convert(std::move(left), kDayCount),
                                convert(std::move(right), kDayCount), where);
  return convert(std::move(sum), is_difference ? kInt : kDate);
}

// A constant interval, perhaps times an integer: procedures move times by these as machine code.
bool is_plain_interval(const Expr& interval) {
  const bool is_product = interval.kind == ExprKind::kFunction &&
                          interval.function == Function::kMultiplyInterval &&
                          interval.args[1].kind == ExprKind::kCast &&
                          (interval.args[1].args[0].type.kind == TypeKind::kInt ||
                           interval.args[1].args[0].type.kind == TypeKind::kSmallInt);
  const Expr& constant = is_product ? interval.args[0] : interval;
  return constant.kind == ExprKind::kConstant && !constant.constant.is_null();
}

// time + interval, and with kSubtract -.
Expr bind_moved_time(Op op, Expr time, Expr interval, ir::SourceLocation where) {
  if (!is_clock_type(time)) time = as_timestamp(std::move(time));
  const Type type =
      is_clock_type(time) ? kDaytime : Type{.kind = TypeKind::kTimestamp, .is_zoned = time.type.is_zoned};
  std::vector<Expr> args;
  args.push_back(std::move(time));
  if (!is_plain_interval(interval)) {
    if (op == Op::kSubtract)
      interval = nodes::make_unary(Op::kNegate, kInterval, std::move(interval), interval.where);
    args.push_back(std::move(interval));
    return make_call(Function::kMoveTime, type, std::move(args), where);
  }
  const bool is_product = interval.kind == ExprKind::kFunction;
  const Interval each = interval_of(is_product ? interval.args[0].constant : interval.constant);
  const int64_t sign = op == Op::kSubtract ? -1 : 1;
  Expr count = nodes::make(ExprKind::kConstant, kDayCount, where);
  count.constant = Value::of_int(1);
  if (is_product) count = convert(Expr(std::move(interval.args[1].args[0])), kDayCount);
  // The sign is the count's: no part of an interval lacks an opposite then.
  if (sign < 0 && count.kind == ExprKind::kConstant) {
    count.constant = Value::of_int(-count.constant.as_int());
  } else if (sign < 0) {
    count = nodes::make_unary(Op::kNegate, kDayCount, std::move(count), where);
  }
  for (const int64_t part : {int64_t{each.months}, int64_t{each.days}, each.microseconds}) {
    Expr number = nodes::make(ExprKind::kConstant, kDayCount, where);
    number.constant = Value::of_int(part);
    args.push_back(std::move(number));
  }
  args.push_back(std::move(count));
  return make_call(Function::kAddInterval, type, std::move(args), where);
}

// interval * number, number * interval and interval / number.
Expr bind_scaled_interval(Op op, Expr left, Expr right, ir::SourceLocation where) {
  const bool is_second = !is_interval_type(left);
  Expr& interval = is_second ? right : left;
  Expr& factor = is_second ? left : right;
  const bool fits = (is_unknown(factor) || factor.type.is_number()) && (op == Op::kMultiply || !is_second);
  if (!fits) refuse_operator(op, left, right, where);
  std::vector<Expr> args;
  args.push_back(std::move(interval));
  args.push_back(convert_explicitly(std::move(factor), kDouble));
  return make_call(op == Op::kMultiply ? Function::kMultiplyInterval : Function::kDivideInterval, kInterval,
                   std::move(args), where);
}

// Gives a side without a type the one that PostgreSQL's rules choose for it.
void resolve_beside_time(Op op, Expr& left, Expr& right, ir::SourceLocation where) {
  if (!is_unknown(left) && !is_unknown(right)) return;
  Expr& unknown = is_unknown(left) ? left : right;
  const Type known = is_unknown(left) ? right.type : left.type;
  if (op == Op::kSubtract || known.kind == TypeKind::kInterval) {
    unknown = convert_explicitly(std::move(unknown), known);
  } else if (op == Op::kAdd && (known.kind == TypeKind::kTimestamp || known.kind == TypeKind::kTime)) {
    unknown = convert_explicitly(std::move(unknown), kInterval);
  } else if (op == Op::kAdd) {
    refuse_as(sqlstate::kNotUnique, where, "operator is not unique: it adds a time and a quoted string");
  } else {
    refuse_operator(op, left, right, where);
  }
}

}  // namespace

Expr bind_time_arithmetic(Op op, Expr left, Expr right, ir::SourceLocation where) {
  if (op == Op::kMultiply || op == Op::kDivide) {
    if (is_clock_type(left)) left = convert(std::move(left), kInterval);
    if (is_clock_type(right)) right = convert(std::move(right), kInterval);
    if (is_interval_type(left) == is_interval_type(right)) refuse_operator(op, left, right, where);
    return bind_scaled_interval(op, std::move(left), std::move(right), where);
  }
  if (op == Op::kModulo) refuse_operator(op, left, right, where);
  resolve_beside_time(op, left, right, where);
  if (is_clock_type(left) && is_clock_type(right)) {
    if (op != Op::kSubtract) refuse_operator(op, left, right, where);
    std::vector<Expr> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    return make_call(Function::kTimeDifference, kInterval, std::move(args), where);
  }
  // Beside a timestamp or a date, a time of day is the interval since midnight.
  if (is_clock_type(left) && right.type.is_time()) left = convert(std::move(left), kInterval);
  if (is_clock_type(right) && left.type.is_time()) right = convert(std::move(right), kInterval);
  if (is_clock_type(left) && is_interval_type(right))
    return bind_moved_time(op, std::move(left), std::move(right), where);
  if (op == Op::kAdd && is_interval_type(left) && is_clock_type(right))
    return bind_moved_time(op, std::move(right), std::move(left), where);
  if (is_interval_type(left) && is_interval_type(right))
    return nodes::make_binary(op, kInterval, std::move(left), std::move(right), where);
  if (left.type.is_time() && is_interval_type(right))
    return bind_moved_time(op, std::move(left), std::move(right), where);
  if (op == Op::kAdd && is_interval_type(left) && right.type.is_time())
    return bind_moved_time(op, std::move(right), std::move(left), where);
  const bool are_dates = left.type.kind == TypeKind::kDate && right.type.kind == TypeKind::kDate;
  if (op == Op::kSubtract && left.type.is_time() && right.type.is_time() && !are_dates) {
    std::vector<Expr> args;
    args.push_back(as_timestamp(std::move(left)));
    args.push_back(as_timestamp(std::move(right)));
    return make_call(Function::kTimeDifference, kInterval, std::move(args), where);
  }
  return bind_date_arithmetic(op, std::move(left), std::move(right), where);
}

namespace {

Expr bind_age(std::vector<Expr> args, ir::SourceLocation where) {
  const auto is_plain = [](const Expr& arg) {
    return arg.type.kind == TypeKind::kTimestamp && !arg.type.is_zoned;
  };
  const Type unknown = std::ranges::any_of(args, is_plain) ? Type{.kind = TypeKind::kTimestamp} : kMoment;
  for (Expr& arg : args) {
    if (is_unknown(arg)) arg = convert_explicitly(std::move(arg), unknown);
    if (!arg.type.is_time()) {
      refuse_as(sqlstate::kUndefinedFunction, arg.where, "function age() of {} does not exist",
                to_string(arg.type));
    }
    arg = as_timestamp(std::move(arg));
  }
  return make_call(Function::kAge, kInterval, std::move(args), where);
}

// Parts that are not given are 0. All are ints, but the seconds.
Expr bind_made_interval(std::vector<Expr> args, ir::SourceLocation where) {
  constexpr size_t kParts = 7;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool is_fraction = i + 1 == kParts;
    const bool fits = is_unknown(args[i]) || args[i].type.kind == TypeKind::kInt ||
                      args[i].type.kind == TypeKind::kSmallInt || (is_fraction && args[i].type.is_number());
    if (!fits) {
      refuse_as(sqlstate::kUndefinedFunction, args[i].where,
                "make_interval() takes an int here; cast the {} to int", to_string(args[i].type));
    }
    args[i] = convert_explicitly(std::move(args[i]), is_fraction ? kDouble : kInt);
  }
  while (args.size() < kParts) {
    Expr zero = nodes::make(ExprKind::kConstant, kInt, where);
    zero.constant = Value::of_int(0);
    args.push_back(args.size() + 1 == kParts ? convert(std::move(zero), kDouble) : std::move(zero));
  }
  return make_call(Function::kMakeInterval, kInterval, std::move(args), where);
}

}  // namespace

Expr bind_interval_function(Function function, std::string_view name, std::vector<Expr> args,
                            ir::SourceLocation where) {
  if (function == Function::kAge) return bind_age(std::move(args), where);
  if (function == Function::kMakeInterval) return bind_made_interval(std::move(args), where);
  if (is_unknown(args[0])) args[0] = convert_explicitly(std::move(args[0]), kInterval);
  if (!is_interval_type(args[0])) {
    refuse_as(sqlstate::kUndefinedFunction, args[0].where, "function {}({}) does not exist", name,
              to_string(args[0].type));
  }
  return make_call(function, kInterval, std::move(args), where);
}

}  // namespace mneme
