// SelectBinder's calls of the provider's functions, and casts to types that only the system catalogs have.
#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <utility>

#include "base/ascii.h"
#include "procedures/binder/expression_binder.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

namespace {

// Elements are compared by their text, which says enough of these types alone.
void check_compared_elements(std::span<const Expr> args, ir::SourceLocation where) {
  for (const Expr& arg : args) {
    const TypeKind kind = arg.type.elements;
    if (kind != TypeKind::kNumeric && kind != TypeKind::kDecimal && kind != TypeKind::kReal &&
        kind != TypeKind::kDouble && kind != TypeKind::kChar && kind != TypeKind::kInterval)
      continue;
    refuse_as(sqlstate::kNotSupported, where,
              "comparing elements is supported of arrays of integers, texts and times alone");
  }
}

// Values that are texts here and no strings to PostgreSQL.
bool is_no_text(const Type& type) {
  return type.is_string() && (has_read_form(type) || is_record(type) || type.elements != TypeKind::kNull);
}

// Whether the function takes strings alone where its parameter is text.
bool is_text_function(std::string_view name) {
  constexpr std::array<std::string_view, 14> kNames = {
      "split_part",      "translate",     "regexp_replace",
      "regexp_match",    "regexp_like",   "regexp_count",
      "regexp_instr",    "regexp_substr", "regexp_split_to_array",
      "string_to_array", "overlay",       "quote_ident",
      "initcap",         "unistr"};
  return std::ranges::find(kNames, name) != kNames.end();
}

// The functions of arrays and elements, by what their arguments are: a, an array; e, an element; -, of a type
// of its own.
constexpr std::pair<std::string_view, std::string_view> kArgumentRoles[] = {
    {"array_append", "ae"},        {"array_prepend", "ea"},    {"array_cat", "aa"},
    {"array_remove", "ae"},        {"array_replace", "aee"},   {"array_position", "ae-"},
    {"array_positions", "ae"},     {"mneme_array_set", "a-e"}, {"mneme_array_contains", "aa"},
    {"mneme_array_overlaps", "aa"}};

TypeKind wider_integer(TypeKind a, TypeKind b) {
  return a == TypeKind::kBigInt || b == TypeKind::kBigInt ? TypeKind::kBigInt : TypeKind::kInt;
}

// Gives the arguments one type of elements, as PostgreSQL does: literals take it, an integer may be wider.
// What has another one is refused, for elements are put together as texts.
void unify_array_arguments(const std::string& name, std::vector<Expr>& args, ir::SourceLocation where) {
  const auto* known =
      std::ranges::find(kArgumentRoles, name, &std::pair<std::string_view, std::string_view>::first);
  if (known == std::end(kArgumentRoles)) return;
  const std::string_view roles = known->second;
  const auto array =
      std::ranges::find_if(args, [](const Expr& arg) { return arg.type.elements != TypeKind::kNull; });
  if (array == args.end()) return;
  const auto refuse_arguments = [&] {
    std::string types;
    for (const Expr& arg : args) {
      const bool is_array = arg.type.elements != TypeKind::kNull;
      types += types.empty() ? "" : ", ";
      types += is_unknown(arg) ? "unknown"
               : is_array      ? to_string(element_of(arg.type)) + "[]"
                               : to_string(arg.type);
    }
    refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist", name, types);
  };
  Type common = array->type;
  for (size_t i = 0; i < args.size(); ++i) {
    Expr& arg = args[i];
    if (is_unknown(arg) || roles[i] == '-') continue;
    if ((roles[i] == 'a') != (arg.type.elements != TypeKind::kNull)) refuse_arguments();
    const Type other = roles[i] == 'a' ? arg.type : array_type_of(arg.type);
    const bool are_integers = element_of(common).is_integer() && element_of(other).is_integer();
    const bool is_widened = common.elements == TypeKind::kDecimal && element_of(other).is_integer();
    if (is_widened) continue;
    if (!are_integers && !has_same_elements(common, other)) refuse_arguments();
    if (are_integers) common.elements = wider_integer(common.elements, other.elements);
  }
  const Type element = element_of(common);
  for (size_t i = 0; i < args.size(); ++i) {
    Expr& arg = args[i];
    if (roles[i] == 'e') {
      if (is_unknown(arg)) arg = convert_explicitly(std::move(arg), element);
    } else if (roles[i] == 'a' && !is_unknown(arg)) {
      arg.type.elements = common.elements;
    }
  }
}

bool is_exact_number(const Expr& arg) {
  return arg.type.is_exact();
}

// pg_typeof(), whose regtype is text here.
Expr type_of(const Expr& value, std::deque<std::string>& strings, ir::SourceLocation where) {
  const auto name = [&]() -> std::string {
    if (is_unknown(value)) return "unknown";
    if (value.type == kOidType) return "oid";
    if (value.type == kNameType) return "name";
    if (is_record(value.type)) return "record";
    if (form_name(value.type) != nullptr && value.type.elements == TypeKind::kNull)
      return form_name(value.type);
    const TypeKind kind = value.type.elements != TypeKind::kNull ? value.type.elements : value.type.kind;
    const bool is_array = value.type.elements != TypeKind::kNull || value.type.is_array;
    switch (kind) {
      case TypeKind::kBoolean:
        return is_array ? "boolean[]" : "boolean";
      case TypeKind::kSmallInt:
        return is_array ? "smallint[]" : "smallint";
      case TypeKind::kInt:
        return is_array ? "integer[]" : "integer";
      case TypeKind::kBigInt:
        return is_array ? "bigint[]" : "bigint";
      case TypeKind::kNumeric:
      case TypeKind::kDecimal:
        return is_array ? "numeric[]" : "numeric";
      case TypeKind::kReal:
        return is_array ? "real[]" : "real";
      case TypeKind::kDouble:
        return is_array ? "double precision[]" : "double precision";
      case TypeKind::kChar:
        return is_array ? "character[]" : "character";
      case TypeKind::kTimestamp:
        if (value.type.is_zoned) return is_array ? "timestamp with time zone[]" : "timestamp with time zone";
        return is_array ? "timestamp without time zone[]" : "timestamp without time zone";
      case TypeKind::kDate:
        return is_array ? "date[]" : "date";
      case TypeKind::kTime:
        return is_array ? "time without time zone[]" : "time without time zone";
      case TypeKind::kInterval:
        return is_array ? "interval[]" : "interval";
      case TypeKind::kEnum:
        return message_name(value.type);
      default:
        if (is_array) return value.type.is_text ? "text[]" : "character varying[]";
        return value.type.is_text ? "text" : "character varying";
    }
  };
  Expr constant;
  constant.type = text_type();
  constant.where = where;
  constant.constant = Value::of_text(strings.emplace_back(name()));
  return constant;
}

}  // namespace

// A function of the provider's is called as a query is asked.
Expr SelectBinder::call_provided(const std::string& name, std::vector<Expr> args, ir::SourceLocation where) {
  const auto function = binder_.provider_->find_function(name, args.size());
  if (!function) refuse_as(sqlstate::kUndefinedFunction, where, "function {}() does not exist", name);
  if (function->compares) check_compared_elements(args, where);
  unify_array_arguments(name, args, where);
  Expr result;
  result.kind = ExprKind::kQuery;
  result.type = function->result;
  result.where = where;
  for (size_t i = 0; i < args.size(); ++i) {
    Expr& arg = args[i];
    const Type& wanted = function->arguments[i];
    if (i == 0 && is_unknown(arg) && name.starts_with("array_")) {
      refuse_as(sqlstate::kDatatypeMismatch, where,
                "could not determine polymorphic type because input has type unknown");
    }
    if (is_unknown(arg)) {
      arg = convert_explicitly(std::move(arg), wanted);
    } else if (wanted.elements != TypeKind::kNull && arg.type.elements == TypeKind::kNull) {
      refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist: it takes an array",
                name, to_string(arg.type));
    } else if (has_read_form(wanted) && text_form(arg.type) != text_form(wanted)) {
      refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist", name,
                message_name(arg.type));
    } else if (wanted.is_string() && arg.type.kind == TypeKind::kBoolean) {
      arg = convert_to_output(std::move(arg), name);
    } else if (wanted.is_string() && is_no_text(arg.type) && is_text_function(name)) {
      refuse_as(sqlstate::kUndefinedFunction, where, "function {}({}) does not exist", name,
                message_name(arg.type));
    } else if (arg.type.kind == TypeKind::kChar && (name == "concat_ws" || name == "format")) {
      arg = convert_to_output(std::move(arg), name);
    } else if (wanted.is_integer() && arg.type.is_number() && !arg.type.is_integer()) {
      refuse_as(sqlstate::kUndefinedFunction, where, "function {} of {} does not exist; cast it to bigint",
                name, to_string(arg.type));
    } else if ((wanted.is_exact() && arg.type.is_floating()) ||
               (wanted.is_number() && arg.type.is_string())) {
      refuse_as(sqlstate::kUndefinedFunction, where, "function {} of {} does not exist; cast it to numeric",
                name, to_string(arg.type));
    } else if (wanted.kind != arg.type.kind) {
      arg = wanted.is_string() ? convert_to_text(with_own_digits_if_numeric(std::move(arg)))
                               : convert_explicitly(std::move(arg), wanted);
    }
    result.args.push_back(std::move(arg));
  }
  if (function->like) {
    result.type = without_modifiers(result.args[*function->like].type);
    if (result.type.elements == TypeKind::kNull)
      refuse_as(sqlstate::kUndefinedFunction, where, "{}() takes an array", name);
  }
  // Calls of one function share a number, so that two of them with the same arguments are the same.
  std::vector<Subquery>& subqueries = binder_.bound_.subqueries;
  const auto known = std::ranges::find_if(subqueries, [&](const Subquery& each) {
    return each.kind == Subquery::Kind::kCall && each.routine == nullptr && each.function == function->number;
  });
  result.query = static_cast<uint32_t>(known - subqueries.begin());
  if (known != subqueries.end()) return result;
  Subquery call;
  call.kind = Subquery::Kind::kCall;
  call.function = function->number;
  call.is_volatile = function->is_volatile;
  subqueries.push_back(std::move(call));
  return result;
}

// A function that is more than an expression is run for each row, if it changes none.
std::optional<Expr> SelectBinder::bind_routine_call(const syntax::Expr& call,
                                                    const syntax::Procedure& routine,
                                                    std::span<const syntax::Expr* const> given,
                                                    ExpressionBinder& binder) {
  const ir::Procedure* const procedure =
      binder_.provider_ == nullptr ? nullptr : binder_.provider_->find_routine(call.text);
  if (procedure == nullptr || procedure->writes || procedure->draws) return std::nullopt;
  const auto returns = std::ranges::count_if(procedure->parameters, &ir::Parameter::inout);
  if (returns != 1) return std::nullopt;
  Expr result;
  result.kind = ExprKind::kQuery;
  result.where = call.where;
  for (size_t i = 0; i < procedure->parameters.size(); ++i) {
    const ir::Parameter& parameter = procedure->parameters[i];
    const Type& type = procedure->variables[parameter.variable.value].type;
    // PostgreSQL ignores how many digits or characters a parameter's type says.
    const bool has_size = type.kind == TypeKind::kNumeric || type.kind == TypeKind::kChar;
    if (type.is_array || has_size) return std::nullopt;
    if (parameter.inout) result.type = type;
    result.args.push_back(parameter.out ? nodes::make(ExprKind::kConstant, type, call.where)
                                        : argument_for(binder.bind(*given[i]), type, i + 1, routine));
  }
  if (procedure->call_time.valid()) {
    Expr time = nodes::make(ExprKind::kVariable, Type{.kind = TypeKind::kTimestamp}, call.where);
    time.variable = binder_.names_.call_time();
    result.args.push_back(std::move(time));
  }
  std::vector<Subquery>& subqueries = binder_.bound_.subqueries;
  const auto known = std::ranges::find(subqueries, procedure, &Subquery::routine);
  result.query = static_cast<uint32_t>(known - subqueries.begin());
  if (known != subqueries.end()) return result;
  Subquery made;
  made.kind = Subquery::Kind::kCall;
  made.routine = procedure;
  made.is_volatile = true;
  subqueries.push_back(std::move(made));
  return result;
}

// to_char() is a function of each type that it takes.
Expr SelectBinder::bind_to_char(std::vector<Expr> args, ir::SourceLocation where) {
  Expr& value = args[0];
  if (is_unknown(value))
    refuse_as(sqlstate::kNotUnique, where,
              "function to_char(unknown, unknown) is not unique; cast the value");
  const char* name = nullptr;
  switch (value.type.kind) {
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
      name = "mneme_int_to_char";
      break;
    case TypeKind::kBigInt:
      name = "mneme_bigint_to_char";
      break;
    case TypeKind::kNumeric:
    case TypeKind::kDecimal:
      name = "mneme_numeric_to_char";
      value = with_own_digits(std::move(value));
      break;
    case TypeKind::kReal:
      name = "mneme_real_to_char";
      break;
    case TypeKind::kDouble:
      name = "mneme_double_to_char";
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kDate: {
      // PostgreSQL makes a date a timestamp with time zone.
      const bool has_zone = value.type.kind == TypeKind::kDate || value.type.is_zoned;
      name = has_zone ? "mneme_zoned_to_char" : "mneme_time_to_char";
      value = convert(std::move(value), Type{.kind = TypeKind::kTimestamp});
      break;
    }
    case TypeKind::kTime:
      value = convert(std::move(value), Type{.kind = TypeKind::kInterval});
      [[fallthrough]];
    case TypeKind::kInterval:
      name = "mneme_interval_to_char";
      break;
    default:
      break;
  }
  const bool is_template = is_unknown(args[1]) || args[1].type.is_string();
  if (name == nullptr || !is_template) {
    refuse_as(sqlstate::kUndefinedFunction, where, "function to_char({}, {}) does not exist",
              to_string(value.type), is_unknown(args[1]) ? "unknown" : to_string(args[1].type));
  }
  return call_provided(name, std::move(args), where);
}

// time AT TIME ZONE zone, where the zone is not UTC by its name.
Expr SelectBinder::bind_zoned_time(const syntax::Expr& call, ExpressionBinder& binder) {
  constexpr Type kMoment{.kind = TypeKind::kTimestamp, .is_zoned = true};
  constexpr Type kPlain{.kind = TypeKind::kTimestamp};
  Expr zone = binder.bind(call.args[0]);
  Expr time = binder.bind(call.args[1]);
  if (time.type.kind == TypeKind::kTime)
    refuse_as(sqlstate::kNotSupported, call.where, "the time zone of a time of day is not supported");
  if (is_unknown(time) || time.type.kind == TypeKind::kDate)
    time = convert_explicitly(std::move(time), kMoment);
  if (time.type.kind != TypeKind::kTimestamp) {
    refuse_as(sqlstate::kUndefinedFunction, call.where, "function timezone({}, {}) does not exist",
              is_unknown(zone) ? "unknown" : message_name(zone.type), message_name(time.type));
  }
  const bool is_moment = time.type.is_zoned;
  if (zone.type.kind == TypeKind::kInterval) {
    time = convert(std::move(time), kPlain);
    Expr moved = bind_time_arithmetic(is_moment ? ir::Op::kAdd : ir::Op::kSubtract, std::move(time),
                                      std::move(zone), call.where);
    return convert(std::move(moved), is_moment ? kPlain : kMoment);
  }
  std::vector<Expr> args;
  args.push_back(std::move(zone));
  args.push_back(std::move(time));
  return call_provided(is_moment ? "mneme_clock_of_moment" : "mneme_moment_of_clock", std::move(args),
                       call.where);
}

namespace {

bool is_utc(const syntax::Expr& zone) {
  constexpr std::string_view kNames[] = {"utc",     "gmt",     "z",         "zulu",     "uct",
                                         "etc/utc", "etc/gmt", "universal", "greenwich"};
  std::string name = zone.kind == syntax::ExprKind::kString ? zone.text : "";
  std::ranges::transform(name, name.begin(), ascii_lower);
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// date_trunc(unit, moment, zone): the clock of the zone is truncated.
syntax::Expr truncation_in_zone(const syntax::Expr& call) {
  const auto make = [&](std::string name, syntax::Expr first, syntax::Expr second) {
    syntax::Expr made;
    made.kind = syntax::ExprKind::kCall;
    made.text = std::move(name);
    made.where = call.where;
    made.args.push_back(std::move(first));
    made.args.push_back(std::move(second));
    return made;
  };
  syntax::Expr moment;
  moment.kind = syntax::ExprKind::kCast;
  moment.where = moment.type.where = call.where;
  moment.type.base = "timestamptz";
  moment.args.push_back(call.args[1]);
  syntax::Expr clock = make("timezone", call.args[2], std::move(moment));
  return make("timezone", call.args[2], make("date_trunc", call.args[0], std::move(clock)));
}

}  // namespace

// (a, b) OVERLAPS (c, d): each pair is two ends, or one and how long it is from there. All are compared as
// timestamps; a time is one of the first day.
Expr SelectBinder::bind_overlaps(const syntax::Expr& call, ExpressionBinder& binder) {
  std::vector<Expr> ends;
  for (size_t i = 0; i < call.args.size(); ++i) {
    syntax::Expr written = call.args[i];
    if (i % 2 == 1 && binder.bind(written).type.kind == TypeKind::kInterval)
      written = syntax::make_binary(ir::Op::kAdd, call.args[i - 1], std::move(written));
    Expr end = binder.bind(written);
    if (end.type.kind == TypeKind::kTime) {
      syntax::Expr day = syntax::make_expression(syntax::ExprKind::kCast, written.where);
      day.type.base = "date";
      day.args.push_back(syntax::make_expression(syntax::ExprKind::kString, written.where));
      day.args[0].text = "2000-01-01";
      end = binder.bind(syntax::make_binary(ir::Op::kAdd, std::move(day), std::move(written)));
    }
    const bool is_time = end.type.kind == TypeKind::kDate || end.type.kind == TypeKind::kTimestamp;
    if (!is_time && !is_unknown(end)) {
      refuse_as(sqlstate::kUndefinedFunction, call.where,
                "function pg_catalog.overlaps() does not exist of {}", to_string(end.type));
    }
    ends.push_back(convert_explicitly(std::move(end), Type{.kind = TypeKind::kTimestamp}));
  }
  return call_provided("mneme_overlaps", std::move(ends), call.where);
}

std::optional<Expr> SelectBinder::bind_catalog_call(const syntax::Expr& call, ExpressionBinder& binder) {
  if (is_set_function(call.text)) return bind_set_call(call);
  if (binder_.provider_ != nullptr && call.text == "timezone" && call.args.size() == 2 &&
      !is_utc(call.args[0]))
    return bind_zoned_time(call, binder);
  if (call.text == "date_trunc" && call.args.size() == 3) return binder.bind(truncation_in_zone(call));
  if (is_window_function(call.text))
    refuse_as(sqlstate::kWrongObject, call.where, "window function {} requires an OVER clause", call.text);
  if (std::optional<Expr> json = bind_json_maker(call, binder)) return json;
  if (call.text == "mneme_overlaps" && call.args.size() == 4) return bind_overlaps(call, binder);
  if (call.text == "pg_typeof" && call.args.size() == 1)
    return type_of(binder.bind(call.args[0]), binder_.strings_, call.where);
  if (std::optional<Expr> number = bind_numeric_call(call, binder)) return number;
  const bool formats = binder_.provider_ != nullptr && call.text == "to_char" && call.args.size() == 2;
  const bool is_pattern = binder_.provider_ != nullptr && call.text == "substring" && call.args.size() == 2 &&
                          call.args[1].kind == syntax::ExprKind::kString;
  if (binder_.provider_ == nullptr || call.star || call.distinct ||
      (!is_pattern && !formats && !binder_.provider_->find_function(call.text, call.args.size())))
    return std::nullopt;
  std::vector<Expr> args;
  for (const syntax::Expr& arg : in_order_of_parameters(call)) args.push_back(binder.bind(arg));
  if (std::optional<Expr> form = bind_form_call(call.text, args, call.where)) return form;
  if (is_pattern) return call_provided("mneme_substring", std::move(args), call.where);
  if (formats) return bind_to_char(std::move(args), call.where);
  if (call.text == "date_bin" && (args[1].type.is_zoned || args[2].type.is_zoned))
    return call_provided("mneme_zoned_date_bin", std::move(args), call.where);
  if (call.text == "isfinite" && args[0].type.kind == TypeKind::kInterval)
    return call_provided("mneme_interval_isfinite", std::move(args), call.where);
  if (call.text == "width_bucket" && std::ranges::all_of(args, is_exact_number) &&
      std::ranges::any_of(std::span(args).first(3), [](const Expr& arg) { return !arg.type.is_integer(); })) {
    for (Expr& arg : std::span(args).first(3)) arg = with_own_digits(std::move(arg));
    return call_provided("mneme_numeric_bucket", std::move(args), call.where);
  }
  if (call.text == "array_length" || call.text == "array_lower" || call.text == "array_upper")
    return convert(call_provided(call.text, std::move(args), call.where), Type{.kind = TypeKind::kInt});
  if (call.text == "gcd" || call.text == "lcm") {
    const bool is_narrow = std::ranges::all_of(args, [](const Expr& arg) {
      return arg.type.kind == TypeKind::kInt || arg.type.kind == TypeKind::kSmallInt;
    });
    Expr result = call_provided(call.text, std::move(args), call.where);
    return is_narrow ? convert(std::move(result), Type{.kind = TypeKind::kInt}) : std::move(result);
  }
  return call_provided(call.text, std::move(args), call.where);
}

// A parameter that is an array is, in a query, the text that spells it.
void SelectBinder::know_array_parameter(const syntax::Expr& cast) {
  const VariableId parameter = binder_.names_.parameter(cast.args[0]);
  const Type& given = binder_.names_.type_of(parameter);
  const std::string& name = cast.type.base;
  const Type named = is_number_type(name)                            ? kOidType
                     : is_name_type(name) || name.starts_with("reg") ? text_type()
                                                                     : binder_.names_.read_type(cast.type);
  const Type element = given.kind == TypeKind::kNull ? named : given;
  if (given.kind != TypeKind::kNull && !given.is_array) return;
  binder_.names_.set_parameter_type(parameter, array_type_of(element));
}

// Names of what the catalogs list are text, and what identifies them is a number here. 'item'::regclass is
// the number of item, and number::regclass the name that it stands for.
std::optional<Expr> SelectBinder::bind_catalog_cast(const syntax::Expr& cast, ExpressionBinder& binder) {
  const std::string& type = cast.type.base;
  const bool is_name = is_name_type(type);
  const bool is_number = is_number_type(type);
  const bool is_object = type.starts_with("reg") && binder_.provider_ != nullptr;
  if (cast.type.is_array && cast.args[0].kind == syntax::ExprKind::kArray)
    return bind_array_cast(cast, binder);
  if (cast.type.is_array) {
    if (cast.args[0].kind == syntax::ExprKind::kParameter) know_array_parameter(cast);
    return cast_to_array(binder.bind(cast.args[0]), cast, binder);
  }
  const bool is_text = is_name || type == "text";
  const syntax::Expr& from = cast.args[0];
  const bool is_class = from.kind == syntax::ExprKind::kCall && from.text == "to_regclass";
  const bool is_from_object =
      binder_.provider_ != nullptr &&
      (is_class || (from.kind == syntax::ExprKind::kCast && from.type.base.starts_with("reg")));
  if (is_text && is_from_object) {
    Expr object = binder.bind(from);
    if (object.type.is_string()) return object;
    std::vector<Expr> args;
    args.push_back(std::move(object));
    return call_provided(is_class ? "regclassout" : from.type.base + "out", std::move(args), cast.where);
  }
  if (!is_name && !is_number && !is_object) return std::nullopt;
  Expr arg = binder.bind(from);
  if (is_name) return convert_explicitly(std::move(arg), text_type());
  if (is_number) {
    Expr number = convert_explicitly(std::move(arg), kOidType);
    number.type = kOidType;
    return number;
  }
  if (!is_unknown(arg) && !arg.type.is_string()) {
    std::vector<Expr> args;
    args.push_back(std::move(arg));
    return call_provided(type + "out", std::move(args), cast.where);
  }
  if (arg.kind != ExprKind::kConstant || arg.constant.is_null()) {
    // A function that the catalogs name, as pg_am.amhandler, prints as its name.
    if (type == "regproc") return convert_explicitly(std::move(arg), text_type());
    std::vector<Expr> args;
    args.push_back(std::move(arg));
    return call_provided(type + "in", std::move(args), cast.where);
  }
  const std::string name(arg.constant.as_text());
  const std::optional<int64_t> object = binder_.provider_->find_object(type, name);
  if (!object) {
    const bool is_routine = type == "regproc" || type == "regprocedure";
    refuse_as(type == "regclass" ? sqlstate::kUndefinedTable
              : is_routine       ? sqlstate::kUndefinedFunction
                                 : sqlstate::kUndefinedObject,
              cast.where, "{} \"{}\" does not exist", type == "regclass" ? "relation" : type.substr(3), name);
  }
  arg.constant = Value::of_int(*object);
  arg.type = kCountType;
  return arg;
}

}  // namespace mneme::query
