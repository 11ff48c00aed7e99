// Scalar functions: which there are, the types they take and what comes out, as in PostgreSQL's catalog.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/schema/array_form.h"
#include "engine/schema/text_form.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/written_names.h"
#include "procedures/times/time_functions.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/type_oids.h"

namespace mneme {

using ir::Expr;
using ir::ExprKind;
using ir::Function;
using ir::Op;
using nodes::kBoolean;
using nodes::kDouble;
using nodes::kInt;
using nodes::make;
using nodes::make_call;

namespace {

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
  kTimeZone,
  kInterval,
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
    {"timezone", {Function::kTruncateTime, Shape::kTimeZone, 2, 2}},
    {"age", {Function::kAge, Shape::kInterval, 1, 2}},
    {"justify_days", {Function::kJustifyDays, Shape::kInterval, 1, 1}},
    {"justify_hours", {Function::kJustifyHours, Shape::kInterval, 1, 1}},
    {"justify_interval", {Function::kJustifyInterval, Shape::kInterval, 1, 1}},
    {"make_interval", {Function::kMakeInterval, Shape::kInterval, 0, 7}},
    {"concat", {Function::kConcatFunction, Shape::kConcat, 1, kMany}},
};

const std::map<std::string_view, std::string_view> kAdvice = {
    {"clock_timestamp", kTimeAdvice},
    {"timeofday", kTimeAdvice},
    {"random", "a replayed call must draw the same number; pass the random number as an argument"},
    {"setseed", "a replayed call must draw the same number; pass the random number as an argument"},
    {"gen_random_uuid", "it is accepted where one value is computed, and not for each row"},
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

Expr to_number(Expr arg, std::string_view name) {
  if (is_unknown(arg)) return convert_for_assignment(std::move(arg), kDouble, name);
  if (!arg.type.is_number()) refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() is for numbers", name);
  return arg;
}

bool takes_bytea(std::string_view name) {
  constexpr std::string_view kNames[] = {"length", "octet_length", "bit_length", "substring", "substr",
                                         "btrim",  "ltrim",        "rtrim",      "trim",      "strpos"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

Expr to_text(Expr arg, std::string_view name) {
  if (is_form(arg.type, TextForm::kBytea) && takes_bytea(name))
    refuse_as(sqlstate::kNotSupported, arg.where, "{}() of bytea is not supported here", name);
  if (has_read_form(arg.type) || is_record(arg.type) || is_array_form(arg.type))
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "function {}({}) does not exist", name,
              message_name(arg.type));
  if (!is_unknown(arg) && !arg.type.is_string()) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() takes a string here; cast the {} to text", name,
              to_string(arg.type));
  }
  return convert_to_text(std::move(arg));
}

// octet_length() counts the blanks that fill a char(n), which are not kept.
Expr to_filled_text(Expr arg, std::string_view name) {
  if (arg.type.kind != TypeKind::kChar || is_unknown(arg)) return to_text(std::move(arg), name);
  return convert_to_output(std::move(arg), name);
}

Expr to_int(Expr arg, std::string_view name) {
  if (!is_unknown(arg) && arg.type.kind != TypeKind::kInt && arg.type.kind != TypeKind::kSmallInt) {
    refuse_as(sqlstate::kUndefinedFunction, arg.where, "{}() takes an int here; cast the {} to int", name,
              to_string(arg.type));
  }
  return convert_for_assignment(std::move(arg), kInt, name);
}

// Integers have no sign(), floor(), round(), ... of their own: PostgreSQL makes them double precision.
Expr bind_rounding(const Signature& signature, std::string_view name, std::vector<Expr> args,
                   ir::SourceLocation where, bool own_digits) {
  if (is_unknown(args[0]) && signature.function == Function::kTrunc) {
    refuse_as(sqlstate::kNotSupported, where,
              "trunc() of a quoted number is ambiguous to PostgreSQL; write it without quotes");
  }
  // Of round(x, n) there is one for numeric alone, so a literal is a numeric.
  if (is_unknown(args[0]) && args.size() == 2)
    args[0] = convert_explicitly(std::move(args[0]), Type{.kind = TypeKind::kDecimal});
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
    refuse_as(sqlstate::kNotSupported, digits.where,
              "the number of digits that {}() keeps must be written as a number from 0 to {}", name,
              kMaxNumericPrecision);
  const Type type = numeric_type(static_cast<uint32_t>(digits.constant.as_int()));
  return make_call(signature.function, type, std::move(args), where);
}

// A byte takes two characters of a bytea's text, behind \x.
Expr bind_length_of_bytea(Expr bytea, ir::SourceLocation where) {
  const auto number = [&](int64_t value) {
    Expr constant = make(ExprKind::kConstant, kInt, where);
    constant.constant = Value::of_int(value);
    return constant;
  };
  std::vector<Expr> text;
  text.push_back(std::move(bytea));
  Expr characters = make_call(Function::kOctetLength, kInt, std::move(text), where);
  Expr digits = nodes::make_binary(Op::kSubtract, kInt, std::move(characters), number(2), where);
  return nodes::make_binary(Op::kDivide, kInt, std::move(digits), number(2), where);
}

Expr bind_text_function(const Signature& signature, std::string_view name, std::vector<Expr> args,
                        ir::SourceLocation where) {
  const bool is_length = signature.function == Function::kOctetLength ||
                         (signature.function == Function::kLength && name == "length");
  if (is_length && is_form(args[0].type, TextForm::kBytea))
    return bind_length_of_bytea(std::move(args[0]), where);
  for (size_t i = 0; i < args.size(); ++i) {
    if (name == "substring" && i > 0 && is_unknown(args[i])) {
      refuse(args[i].where,
             "substring() with a quoted string here takes it for a pattern in PostgreSQL; write a number");
    }
    const bool padding =
        (signature.function == Function::kLpad || signature.function == Function::kRpad) && i == 2;
    if (signature.function == Function::kOctetLength) {
      args[i] = to_filled_text(std::move(args[i]), name);
      continue;
    }
    args[i] = i < signature.strings || padding ? to_text(std::move(args[i]), name)
                                               : to_int(std::move(args[i]), name);
  }
  const Type type = signature.result == TypeKind::kVarchar ? text_type() : Type{.kind = signature.result};
  return make_call(signature.function, type, std::move(args), where);
}

}  // namespace

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

void check_query_function(std::string_view name, std::span<const Expr> args, ir::SourceLocation where) {
  if (kFunctions.contains(name)) return;
  // PostgreSQL's functions of types that are not here, and of what a server of it has alone.
  constexpr std::string_view kBeginnings[] = {
      "json",       "xml",        "ts_",          "to_ts",     "plainto_",   "phraseto_",
      "websearch_", "pg_",        "lo_",          "has_",      "inet_",      "txid_",
      "enum_",      "range_",     "int4range",    "int8range", "numrange",   "tsrange",
      "tstzrange",  "daterange",  "row_to_",      "regr_",     "array_to_",  "covar_",
      "sha",        "cursor_to_", "database_to_", "query_to_", "schema_to_", "table_to_"};
  constexpr std::string_view kNames[] = {"abbrev",        "acldefault",     "aclexplode",
                                         "any_value",     "area",           "array_sample",
                                         "array_shuffle", "bound_box",      "box",
                                         "broadcast",     "center",         "circle",
                                         "convert",       "convert_from",   "convert_to",
                                         "corr",          "crypt",          "decode",
                                         "diagonal",      "diameter",       "encode",
                                         "erf",           "family",         "get_bit",
                                         "get_byte",      "height",         "host",
                                         "hostmask",      "isclosed",       "isempty",
                                         "isopen",        "line",           "lower_inc",
                                         "lower_inf",     "lseg",           "macaddr8_set7bit",
                                         "masklen",       "netmask",        "network",
                                         "normalize",     "npoints",        "numnode",
                                         "parse_ident",   "path",           "pclose",
                                         "point",         "polygon",        "popen",
                                         "querytree",     "radius",         "set_bit",
                                         "set_byte",      "setseed",        "setweight",
                                         "slope",         "strip",          "timeofday",
                                         "to_regclass",   "tsquery_phrase", "tsvector_to_array",
                                         "upper_inc",     "upper_inf",      "uuid_generate_v4",
                                         "width",         "xmlagg"};
  const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
  if (std::ranges::any_of(kBeginnings, begins) || std::ranges::find(kNames, name) != std::end(kNames))
    refuse_as(sqlstate::kNotSupported, where, "{}() is not supported", name);
  std::string types;
  for (const Expr& arg : args) {
    types += types.empty() ? "" : ", ";
    types += is_unknown(arg) ? "unknown" : message_name(arg.type);
  }
  throw SourceError{
      where, fmt::format("function {}({}) does not exist", name, types), sqlstate::kUndefinedFunction,
      "No function matches the given name and argument types. You might need to add explicit type "
      "casts."};
}

std::vector<syntax::Expr> in_order_of_parameters(const syntax::Expr& call) {
  std::vector<syntax::Expr> args(call.args.begin(), call.args.end());
  const auto is_named = [](const syntax::Expr& arg) { return arg.kind == syntax::ExprKind::kNamed; };
  if (std::ranges::none_of(args, is_named)) return args;
  constexpr std::pair<std::string_view, std::string_view> kParameters[] = {
      {"make_interval", "years months weeks days hours mins secs "},
      {"make_date", "year month day "},
      {"make_time", "hour min sec "},
      {"make_timestamp", "year month mday hour min sec "},
      {"make_timestamptz", "year month mday hour min sec "}};
  const auto* known =
      std::ranges::find(kParameters, call.text, &std::pair<std::string_view, std::string_view>::first);
  if (known == std::end(kParameters)) return args;
  std::vector<std::string_view> names;
  for (std::string_view rest = known->second; !rest.empty(); rest.remove_prefix(rest.find(' ') + 1))
    names.push_back(rest.substr(0, rest.find(' ')));
  std::vector<syntax::Expr> ordered(names.size());
  std::vector<char> is_given(names.size());
  size_t last = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto place =
        is_named(args[i]) ? static_cast<size_t>(std::ranges::find(names, args[i].text) - names.begin()) : i;
    if (place >= names.size() || is_given[place] != 0 ||
        (!is_named(args[i]) && i > 0 && is_named(args[i - 1])))
      refuse_as(sqlstate::kUndefinedFunction, args[i].where,
                "function {}() has no such parameter to be given", call.text);
    is_given[place] = 1;
    last = std::max(last, place + 1);
    ordered[place] = is_named(args[i]) ? args[i].args[0] : args[i];
  }
  ordered.resize(last);
  for (size_t i = 0; i < last; ++i) {
    if (is_given[i] != 0) continue;
    if (call.text != "make_interval")
      refuse_as(sqlstate::kUndefinedFunction, call.where, "{}() takes all of its arguments", call.text);
    ordered[i].kind = syntax::ExprKind::kInteger;
    ordered[i].text = "0";
    ordered[i].where = call.where;
  }
  return ordered;
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
      // A literal takes the type of the other argument.
      const bool is_plain = !is_unknown(args[1]) && !args[1].type.is_string();
      if (is_unknown(args[0]) && is_plain) unify_for_comparison(args[0], args[1], where);
      const bool is_char_literal = is_unknown(args[0]) && args[1].type.kind == TypeKind::kChar;
      if (is_unknown(args[0])) args[0] = resolve_as_text(std::move(args[0]));
      if (is_char_literal) args[0] = convert(std::move(args[0]), Type{.kind = TypeKind::kChar});
      const Type type = args[0].type;
      const bool varied = args[0].text_varies || is_char_literal;
      // PostgreSQL compares integers of two sizes, and floats of two sizes, as they are: the result has the
      // first one's type. For other pairs it has the type in which they are compared.
      const bool keeps_type =
          (type.is_integer() && args[1].type.is_integer()) || type.kind == TypeKind::kReal;
      unify_for_comparison(args[0], args[1], where);
      Type result = args[0].type;
      // Strings are compared as texts, unless one is a char(n).
      if (result.kind == TypeKind::kVarchar) result.is_text = true;
      Expr call = make_call(signature.function, result, std::move(args), where);
      if (keeps_type && result.kind != type.kind) return convert(std::move(call), type);
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
      if (args[0].type.kind == TypeKind::kSmallInt) args[0] = convert(std::move(args[0]), kInt);
      return make_call(signature.function, text_type(), std::move(args), where);
    case Shape::kExtract:
      return bind_extract(name, std::move(args), where);
    case Shape::kTruncateTime:
      return bind_truncation(name, std::move(args), where);
    case Shape::kTimeZone:
      return bind_time_zone(std::move(args));
    case Shape::kInterval:
      return bind_interval_function(signature.function, name, std::move(args), where);
    case Shape::kText:
      return bind_text_function(signature, name, std::move(args), where);
    case Shape::kConcat:
      for (Expr& arg : args) {
        arg = convert_to_output(std::move(arg), name);
      }
      return make_call(signature.function, text_type(), std::move(args), where);
  }
  CHECK(false && "no such shape");
  return {};
}

bool is_own_function(std::string_view name) {
  constexpr std::string_view kOthers[] = {"count",       "sum",     "avg",     "min",    "max",
                                          "cardinality", "nextval", "currval", "setval", "now"};
  return kFunctions.contains(name) || kAdvice.contains(name) ||
         std::ranges::find(kOthers, name) != std::end(kOthers);
}

Expr ExpressionBinder::bind_sequence(const syntax::Expr& expr) {
  if (!names_.allows_draws() || (query_ == nullptr && !sources_.empty())) {
    refuse_as(sqlstate::kNotSupported, expr.where,
              "{}() is not supported here, where it would be evaluated for rows; draw the number into a "
              "variable, or INSERT it",
              expr.text);
  }
  names_.note_draw(expr.text, expr.text == "nextval" || expr.text == "setval", expr.where);
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
  const std::string sequence = read_relation_name(name->text);
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
