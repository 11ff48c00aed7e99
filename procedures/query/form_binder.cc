// SelectBinder's functions and operators of json, jsonb and bytea, which functions of the provider compute.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/schema/text_form.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

namespace {

constexpr Type kWholeNumber{.kind = TypeKind::kBigInt};
constexpr Type kListOfTexts{.kind = TypeKind::kVarchar, .is_text = true, .elements = TypeKind::kVarchar};

bool is_binary_json(const Expr& expr) {
  return is_form(expr.type, TextForm::kJsonb);
}
bool is_bytea(const Expr& expr) {
  return is_form(expr.type, TextForm::kBytea);
}
bool is_list(const Expr& expr) {
  return expr.type.elements != TypeKind::kNull;
}

std::vector<Expr> list_of(Expr first) {
  std::vector<Expr> args;
  args.push_back(std::move(first));
  return args;
}
std::vector<Expr> list_of(Expr first, Expr second) {
  std::vector<Expr> args = list_of(std::move(first));
  args.push_back(std::move(second));
  return args;
}

Expr text_constant(std::string_view text, ir::SourceLocation where) {
  Expr constant = nodes::make(ExprKind::kConstant, text_type(), where);
  constant.constant = Value::of_text(text);
  return constant;
}

Expr joined(Expr left, Expr right) {
  const ir::SourceLocation where = left.where;
  return nodes::make_binary(ir::Op::kConcat, text_type(), std::move(left), std::move(right), where);
}

// A literal takes the type of a function's parameter.
void resolve(Expr& arg, const Type& type) {
  if (is_unknown(arg)) arg = convert_explicitly(std::move(arg), type);
}

// What makes a json of other values, and what the aggregates among them are made of (parser/tree_calls.cc).
constexpr std::array<std::string_view, 15> kJsonMakers = {
    "to_json",           "to_jsonb",           "json_build_object", "jsonb_build_object", "json_build_array",
    "jsonb_build_array", "mneme_json_part",    "mneme_json_member", "mneme_json_list",    "mneme_jsonb_list",
    "mneme_json_object", "mneme_jsonb_object", "array_to_json",     "row_to_json",        "mneme_json_comma"};

// The functions that take a json or a jsonb, and what they return; kNull: a value of the argument's type.
struct JsonFunction {
  std::string_view name;
  Type result;
};
constexpr Type kOwnType{};
constexpr std::array kJsonFunctions = {
    JsonFunction{"json_array_length", {.kind = TypeKind::kInt}},
    JsonFunction{"jsonb_array_length", {.kind = TypeKind::kInt}},
    JsonFunction{"json_typeof", {.kind = TypeKind::kVarchar, .is_text = true}},
    JsonFunction{"jsonb_typeof", {.kind = TypeKind::kVarchar, .is_text = true}},
    JsonFunction{"jsonb_pretty", {.kind = TypeKind::kVarchar, .is_text = true}},
    JsonFunction{"json_strip_nulls", kOwnType},
    JsonFunction{"jsonb_strip_nulls", kOwnType},
    JsonFunction{"jsonb_set", kOwnType},
    JsonFunction{"jsonb_insert", kOwnType},
};

}  // namespace

// The text of a value in a json.
Expr SelectBinder::json_of(Expr value, ir::SourceLocation where) {
  if (is_unknown(value)) value = resolve_as_text(std::move(value));
  const Type type = value.type;
  if (is_record(type)) {
    refuse_as(sqlstate::kNotSupported, where,
              "a json of a record is supported of a table's name and of ROW(...) alone");
  }
  if (is_json(type)) return call_provided("mneme_json_plain", list_of(std::move(value)), where);
  if (is_list(value)) {
    const Type element = element_of(type);
    const bool is_plain = element.is_number() || element.kind == TypeKind::kBoolean || is_json(element);
    Expr is_quoted = nodes::make(ExprKind::kConstant, kTruthType, where);
    is_quoted.constant = Value::of_bool(!is_plain);
    return call_provided("mneme_json_array", list_of(std::move(value), std::move(is_quoted)), where);
  }
  if (type.is_number() || type.kind == TypeKind::kBoolean) {
    value = convert_to_text(with_own_digits_if_numeric(std::move(value)));
    return call_provided(type.is_floating() ? "mneme_json_double" : "mneme_json_plain",
                         list_of(std::move(value)), where);
  }
  const bool is_time = type.kind == TypeKind::kTimestamp;
  value = convert_to_output(std::move(value), "to_json");
  return call_provided(is_time ? "mneme_json_time" : "mneme_json_quoted", list_of(std::move(value)), where);
}

Expr SelectBinder::json_member(Expr key, Expr value, std::string_view colon, ir::SourceLocation where) {
  if (is_unknown(key)) key = resolve_as_text(std::move(key));
  key = convert_to_text(with_own_digits_if_numeric(std::move(key)));
  Expr name = call_provided("mneme_json_name", list_of(std::move(key)), where);
  return joined(joined(std::move(name), text_constant(colon, where)), json_of(std::move(value), where));
}

// A table's name that is no column's means its whole row, and so does ROW(...): a json of the columns. A row
// that an outer join has filled with NULLs is NULL.
std::optional<Expr> SelectBinder::bind_json_row(const syntax::Expr& arg, ExpressionBinder& binder) {
  Fields fields;
  const bool is_table =
      arg.kind == syntax::ExprKind::kReference && arg.qualifier.empty() && names_table(arg.text);
  if (is_table) {
    fields = fields_of_table(arg.text, arg.where);
  } else if (arg.kind == syntax::ExprKind::kRow) {
    for (const syntax::Expr& each : arg.args)
      fields.emplace_back(fmt::format("f{}", fields.size() + 1), binder.bind(each));
  }
  if (fields.empty()) return std::nullopt;
  const Fields known = is_table ? fields : Fields();
  Expr text = text_constant("{", arg.where);
  for (auto& [name, value] : fields) {
    if (&name != &fields[0].first) text = joined(std::move(text), text_constant(",", arg.where));
    binder_.strings_.push_back(name);
    text = joined(std::move(text), json_member(text_constant(binder_.strings_.back(), arg.where),
                                               std::move(value), ":", arg.where));
  }
  text = joined(std::move(text), text_constant("}", arg.where));
  text.type = kJsonType;
  return is_table ? null_if_none(known, std::move(text), arg.where) : std::move(text);
}

std::optional<Expr> SelectBinder::bind_json_maker(const syntax::Expr& call, ExpressionBinder& binder) {
  const std::string& name = call.text;
  if (binder_.provider_ == nullptr || call.star || call.distinct ||
      std::ranges::find(kJsonMakers, name) == kJsonMakers.end())
    return std::nullopt;
  const ir::SourceLocation where = call.where;
  std::vector<Expr> args;
  bool is_row = false;
  for (const syntax::Expr& arg : call.args) {
    std::optional<Expr> row = bind_json_row(arg, binder);
    is_row |= row.has_value();
    args.push_back(row ? *std::move(row) : binder.bind(arg));
  }
  if (name == "mneme_json_comma") {
    // PostgreSQL begins a line for each element that is a row or an array.
    Expr comma = text_constant(", ", where);
    if (!is_row && (args.size() != 1 || !is_list(args[0]))) return comma;
    Expr choice = nodes::make(ExprKind::kCase, text_type(), where);
    choice.args.push_back(nodes::make_unary(ir::Op::kIsNull, kTruthType, std::move(args[0]), where));
    choice.args.push_back(std::move(comma));
    choice.args.push_back(text_constant(", \n ", where));
    return choice;
  }
  const auto typed = [&](Expr text, bool is_binary) {
    if (is_binary) return convert_explicitly(std::move(text), kJsonbType);
    // The parts are valid, and so is the whole.
    text.type = kJsonType;
    return text;
  };
  const auto refuse_call = [&] {
    refuse_as(sqlstate::kUndefinedFunction, where, "function {}() with {} arguments does not exist", name,
              args.size());
  };
  const auto around = [&](std::string_view open, Expr text, std::string_view close) {
    return joined(joined(text_constant(open, where), std::move(text)), text_constant(close, where));
  };
  const bool is_binary = name.starts_with("jsonb") || name.starts_with("mneme_jsonb") || name == "to_jsonb";
  if (name == "json_build_object" || name == "jsonb_build_object") {
    if (args.size() % 2 != 0) {
      throw SourceError{
          where, "argument list must have even number of elements", sqlstate::kInvalidParameter,
          fmt::format("The arguments of {}() must consist of alternating keys and values.", name)};
    }
    Expr text = text_constant("{", where);
    for (size_t i = 0; i < args.size(); i += 2) {
      if (i > 0) text = joined(std::move(text), text_constant(", ", where));
      text = joined(std::move(text), json_member(std::move(args[i]), std::move(args[i + 1]), " : ", where));
    }
    return typed(joined(std::move(text), text_constant("}", where)), is_binary);
  }
  if (name == "json_build_array" || name == "jsonb_build_array") {
    Expr text = text_constant("[", where);
    for (size_t i = 0; i < args.size(); ++i) {
      if (i > 0) text = joined(std::move(text), text_constant(", ", where));
      text = joined(std::move(text), json_of(std::move(args[i]), where));
    }
    return typed(joined(std::move(text), text_constant("]", where)), is_binary);
  }
  if (name == "mneme_json_member") {
    if (args.size() != 2) refuse_call();
    return json_member(std::move(args[0]), std::move(args[1]), " : ", where);
  }
  if (args.size() != 1) refuse_call();
  if (name == "mneme_json_part") return json_of(std::move(args[0]), where);
  if (name == "mneme_json_list" || name == "mneme_jsonb_list")
    return typed(around("[", std::move(args[0]), "]"), is_binary);
  if (name == "mneme_json_object" || name == "mneme_jsonb_object")
    return typed(around("{ ", std::move(args[0]), " }"), is_binary);
  if (name == "row_to_json" && !is_row) {
    refuse_as(sqlstate::kUndefinedFunction, where, "function row_to_json({}) does not exist",
              is_unknown(args[0]) ? "unknown" : to_string(args[0].type));
  }
  if (is_unknown(args[0])) {
    refuse_as(sqlstate::kDatatypeMismatch, where,
              "could not determine polymorphic type because input has type unknown");
  }
  // A NULL is no json null here.
  Expr is_null = nodes::make_unary(ir::Op::kIsNull, kTruthType, args[0], where);
  Expr whole = typed(json_of(std::move(args[0]), where), is_binary);
  Expr result = nodes::make(ExprKind::kCase, whole.type, where);
  Expr null = nodes::make(ExprKind::kConstant, whole.type, where);
  result.args.push_back(std::move(is_null));
  result.args.push_back(std::move(null));
  result.args.push_back(std::move(whole));
  return result;
}

std::optional<Expr> SelectBinder::bind_json_operator(const std::string& name, std::vector<Expr>& args,
                                                     ir::SourceLocation where) {
  if (args.size() != 2) return std::nullopt;
  const bool has_json = is_json(args[0].type);
  const auto call = [&](const char* function, const Type& result) {
    Expr value = call_provided(function, std::move(args), where);
    if (result.kind != TypeKind::kNull) value.type = result;
    return value;
  };
  if (name == "->" || name == "->>") {
    if (!has_json) return std::nullopt;
    const bool is_number = args[1].type.is_integer();
    if (!is_number) resolve(args[1], text_type());
    if (!is_number && (!args[1].type.is_string() || has_read_form(args[1].type) || is_list(args[1])))
      return std::nullopt;
    const Type result = name == "->" ? args[0].type : text_type();
    Type unbounded = result;
    unbounded.length = 0;
    const bool is_binary = is_binary_json(args[0]);
    if (name == "->") {
      return call(!is_number ? "mneme_json_get" : is_binary ? "mneme_jsonb_at" : "mneme_json_at", unbounded);
    }
    return call(!is_number  ? "mneme_json_text"
                : is_binary ? "mneme_jsonb_text_at"
                            : "mneme_json_text_at",
                unbounded);
  }
  if (name == "#>" || name == "#>>") {
    if (!has_json) return std::nullopt;
    resolve(args[1], kListOfTexts);
    if (!is_list(args[1])) return std::nullopt;
    Type result = name == "#>" ? args[0].type : text_type();
    result.length = 0;
    return call(name == "#>" ? "mneme_json_path" : "mneme_json_path_text", result);
  }
  if (name == "@>" || name == "<@" || name == "||") {
    if (!is_binary_json(args[0]) && !is_binary_json(args[1])) return std::nullopt;
    for (Expr& arg : args) resolve(arg, kJsonbType);
    if (!is_binary_json(args[0]) || !is_binary_json(args[1])) return std::nullopt;
    if (name == "<@") std::swap(args[0], args[1]);
    return name == "||" ? call("mneme_json_concat", kJsonbType) : call("mneme_json_contains", kTruthType);
  }
  if (!is_binary_json(args[0])) return std::nullopt;
  if (name == "?") {
    resolve(args[1], text_type());
    return call("mneme_json_has", kTruthType);
  }
  if (name == "?|" || name == "?&" || name == "#-") {
    resolve(args[1], kListOfTexts);
    if (!is_list(args[1])) return std::nullopt;
    if (name == "#-") return call("mneme_json_erase_path", kJsonbType);
    return call(name == "?|" ? "mneme_json_has_any" : "mneme_json_has_all", kTruthType);
  }
  if (name == "-") {
    if (args[1].type.is_integer()) return call("mneme_json_erase_at", kJsonbType);
    resolve(args[1], text_type());
    if (!args[1].type.is_string()) return std::nullopt;
    return call(is_list(args[1]) ? "mneme_json_erase_all" : "mneme_json_erase", kJsonbType);
  }
  return std::nullopt;
}

std::optional<Expr> SelectBinder::bind_bytea_call(const std::string& name, std::vector<Expr>& args,
                                                  ir::SourceLocation where) {
  const auto call = [&](const char* function, const Type& result) {
    Expr value = call_provided(function, std::move(args), where);
    value.type = result;
    return value;
  };
  constexpr Type kCount{.kind = TypeKind::kInt};
  if (name == "||" && args.size() == 2) {
    for (Expr& arg : args) resolve(arg, kByteaType);
    if (is_bytea(args[0]) && is_bytea(args[1])) return call("mneme_bytea_concat", kByteaType);
  }
  if (name == "bit_length" && args.size() == 1) return call("mneme_bytea_bits", kCount);
  if ((name == "substring" || name == "substr") && (args.size() == 2 || args.size() == 3))
    return call("mneme_bytea_part", kByteaType);
  if (name == "md5" && args.size() == 1) return call("mneme_bytea_md5", text_type());
  if ((name == "position" || name == "strpos") && args.size() == 2)
    return call("mneme_bytea_position", kCount);
  return std::nullopt;
}

std::optional<Expr> SelectBinder::bind_form_call(const std::string& name, std::vector<Expr>& args,
                                                 ir::SourceLocation where) {
  if (binder_.provider_ == nullptr || args.empty()) return std::nullopt;
  if (name == "mneme_record_is_null" || name == "mneme_record_has_all") {
    Expr text = std::move(args[0]);
    text.type = text_type();
    return call_provided(name, list_of(std::move(text)), where);
  }
  if (name == "mneme_array_key") {
    const TypeKind kind = args[0].type.elements;
    Expr is_number = nodes::make(ExprKind::kConstant, kTruthType, where);
    is_number.constant = Value::of_bool(kind == TypeKind::kSmallInt || kind == TypeKind::kInt ||
                                        kind == TypeKind::kBigInt || kind == TypeKind::kDecimal);
    return call_provided("mneme_array_key", list_of(std::move(args[0]), std::move(is_number)), where);
  }
  const auto has_form = [](const Expr& arg) { return has_read_form(arg.type); };
  const auto* const known = std::ranges::find(kJsonFunctions, name, &JsonFunction::name);
  if (known != kJsonFunctions.end()) {
    const bool is_binary = name.starts_with("jsonb");
    for (size_t i = 0; i < args.size(); ++i) {
      const bool is_path = i == 1 && (name == "jsonb_set" || name == "jsonb_insert");
      if (i != 3) resolve(args[i], is_path ? kListOfTexts : is_binary ? kJsonbType : kJsonType);
      if (i != 3 && !is_path && !is_form(args[i].type, is_binary ? TextForm::kJsonb : TextForm::kJson))
        return std::nullopt;
    }
    Type result = known->result.kind == TypeKind::kNull ? args[0].type : known->result;
    result.length = 0;
    if (!binder_.provider_->find_function(name, args.size())) return std::nullopt;
    Expr value = call_provided(name, std::move(args), where);
    value.type = result;
    return value;
  }
  if (name.starts_with("json") && name.find("_extract_path") != name.npos && args.size() > 1) {
    resolve(args[0], name.starts_with("jsonb") ? kJsonbType : kJsonType);
    if (!is_json(args[0].type)) return std::nullopt;
    const bool is_text = name.ends_with("_text");
    for (size_t i = 1; i < args.size(); ++i) {
      Expr step = std::move(args[i]);
      const bool is_last = i + 1 == args.size();
      resolve(step, text_type());
      const Type type = args[0].type;
      args[0] = call_provided(is_last && is_text ? "mneme_json_step_text" : "mneme_json_step",
                              list_of(std::move(args[0]), std::move(step)), where);
      args[0].type = is_last && is_text ? text_type() : form_type(text_form(type));
    }
    return std::move(args[0]);
  }
  if (std::ranges::none_of(args, has_form)) return std::nullopt;
  if (std::optional<Expr> made = bind_json_operator(name, args, where)) return made;
  if (std::ranges::any_of(args, is_bytea)) return bind_bytea_call(name, args, where);
  if (name == "mneme_json_key" || name == "mneme_jsonb_cast")
    return call_provided(name, std::move(args), where);
  return std::nullopt;
}

}  // namespace mneme::query
