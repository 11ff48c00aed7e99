#include "procedures/binder/names.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/utf8.h"
#include "engine/schema/qualified_name.h"
#include "engine/schema/text_form.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/value_text.h"

namespace mneme {

namespace {

constexpr uint32_t kMaxStringLength = 32767;

const std::map<std::string_view, TypeKind> kTypeNames = {
    {"smallint", TypeKind::kSmallInt},
    {"int2", TypeKind::kSmallInt},
    {"int", TypeKind::kInt},
    {"integer", TypeKind::kInt},
    {"int4", TypeKind::kInt},
    {"bigint", TypeKind::kBigInt},
    {"int8", TypeKind::kBigInt},
    {"numeric", TypeKind::kNumeric},
    {"decimal", TypeKind::kNumeric},
    {"dec", TypeKind::kNumeric},
    {"double precision", TypeKind::kDouble},
    {"float8", TypeKind::kDouble},
    {"char", TypeKind::kChar},
    {"varchar", TypeKind::kVarchar},
    {"text", TypeKind::kVarchar},
    {"boolean", TypeKind::kBoolean},
    {"bool", TypeKind::kBoolean},
    {"timestamp", TypeKind::kTimestamp},
    {"timestamptz", TypeKind::kTimestamp},
    {"date", TypeKind::kDate},
    {"interval", TypeKind::kInterval},
    {"time", TypeKind::kTime},
    {"real", TypeKind::kReal},
    {"float4", TypeKind::kReal},
    {"float", TypeKind::kDouble},
};

const std::map<std::string_view, std::string_view> kTypeAdvice = {
    {"timetz", "use time, or timestamptz"},
    {"money", "use numeric(12,2)"},
    {"name", "use varchar(63)"},
    {"bpchar", "use char(n)"},
    {"refcursor", "use FOR r IN SELECT ... LOOP"},
};

const std::map<std::string_view, Type> kFormTypes = {
    {"uuid", kUuidType}, {"json", kJsonType}, {"jsonb", kJsonbType}, {"bytea", kByteaType}};

// float(p): as many binary digits as a real has, or a double.
void read_float(const syntax::TypeName& name, Type& type) {
  const uint32_t digits = name.modifiers[0];
  if (digits == 0 || digits > 53) {
    refuse_as(sqlstate::kInvalidParameter, name.where, "precision for type float must be {}",
              digits == 0 ? "at least 1 bit" : "less than 54 bits");
  }
  if (digits <= 24) type.kind = TypeKind::kReal;
}

void read_numeric(const syntax::TypeName& name, Type& type) {
  if (name.modifiers.empty()) {
    type.kind = TypeKind::kDecimal;
    return;
  }
  const uint32_t precision = name.modifiers[0];
  const uint32_t scale = name.modifiers.size() == 2 ? name.modifiers[1] : 0;
  if (precision == 0 || precision > kMaxNumericPrecision) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "numeric({}) is not supported: a precision is from 1 to {}", precision, kMaxNumericPrecision);
  }
  if (scale > precision) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "numeric({},{}) is not supported: the scale is at most the precision", precision, scale);
  }
  type.precision = static_cast<uint8_t>(precision);
  type.scale = static_cast<uint8_t>(scale);
}

// More digits than six are six, as in PostgreSQL, with a warning there.
void read_timestamp(const syntax::TypeName& name, Type& type) {
  constexpr uint32_t kMostDigits = 6;
  type.is_zoned = name.base == "timestamptz";
  if (name.modifiers.empty()) return;
  if (name.modifiers.size() > 1) refuse(name.where, "{} takes one number of digits", name.base);
  type.precision = static_cast<uint8_t>(std::min(name.modifiers[0], kMostDigits) + 1);
}

void read_string_type(const syntax::TypeName& name, Type& type) {
  type.is_text = name.base == "text";
  if (type.is_text && !name.modifiers.empty()) refuse(name.where, "text takes no length; use varchar(n)");
  if (name.modifiers.size() > 1) refuse(name.where, "{} takes one length", name.base);
  if (name.modifiers.empty()) {
    type.length = type.kind == TypeKind::kChar ? 1 : 0;
    return;
  }
  if (name.modifiers[0] == 0 || name.modifiers[0] > kMaxStringLength) {
    refuse_as(sqlstate::kNotSupported, name.where, "{}({}) is not supported: a length is from 1 to {}",
              name.base, name.modifiers[0], kMaxStringLength);
  }
  type.length = static_cast<uint16_t>(name.modifiers[0]);
}

}  // namespace

Type read_plain_type(const syntax::TypeName& name, const Catalog& catalog) {
  const bool is_own = kFormTypes.contains(name.base) || kTypeNames.contains(name.base);
  if (const std::optional<Type> known = catalog.find_enum(name.base); known && (name.is_own || !is_own)) {
    if (!name.modifiers.empty())
      refuse(name.where, "type modifier is not allowed for type \"{}\"", name.base);
    Type type = *known;
    type.is_array = name.is_array;
    return type;
  }
  if (name.is_own) {
    refuse_as(sqlstate::kUndefinedObject, name.where, "type \"{}{}\" does not exist",
              schema_of(name.base) == kPublicSchema ? "public." : "", name.base);
  }
  const auto form = kFormTypes.find(name.base);
  if (form != kFormTypes.end()) {
    if (!name.modifiers.empty())
      refuse(name.where, "type modifier is not allowed for type \"{}\"", name.base);
    Type type = form->second;
    type.is_array = name.is_array;
    return type;
  }
  const auto found = kTypeNames.find(name.base);
  if (found == kTypeNames.end()) {
    const auto advice = kTypeAdvice.find(name.base);
    if (advice != kTypeAdvice.end()) {
      refuse_as(sqlstate::kNotSupported, name.where, "the type {} is not supported; {}", name.base,
                advice->second);
    }
    refuse_as(
        sqlstate::kUndefinedObject, name.where,
        "the type {} is not supported; use smallint, int, bigint, numeric(p,s), real, double precision, "
        "char(n), varchar(n), text, boolean, date, time, timestamp, timestamptz, interval, uuid, json, jsonb "
        "or "
        "bytea",
        name.base);
  }
  Type type;
  type.kind = found->second;
  type.is_array = name.is_array;
  if (type.kind == TypeKind::kNumeric) {
    read_numeric(name, type);
  } else if (type.is_string()) {
    read_string_type(name, type);
  } else if (type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kInterval ||
             type.kind == TypeKind::kTime) {
    read_timestamp(name, type);
  } else if (name.base == "float" && name.modifiers.size() == 1) {
    read_float(name, type);
  } else if (!name.modifiers.empty()) {
    refuse(name.where, "the type {} takes no length", name.base);
  }
  return type;
}

syntax::TypeName written_type(const Type& type, ir::SourceLocation where) {
  syntax::TypeName name;
  name.where = where;
  name.base = type.kind == TypeKind::kEnum ? enum_definition(type).name : type_name(type);
  name.is_own = type.kind == TypeKind::kEnum;
  if (type.kind == TypeKind::kTimestamp && type.is_zoned) name.base = "timestamptz";
  if (type.kind == TypeKind::kChar) name.base = "char";
  if (name.base == "character varying") name.base = type.length > 0 ? "varchar" : "text";
  if (name.base == "varchar" || name.base == "char") name.modifiers = {type.length};
  if (type.kind == TypeKind::kNumeric && type.precision > 0) name.modifiers = {type.precision, type.scale};
  return name;
}

VariableId Names::add_variable(std::string name, const Type& type) {
  procedure_.variables.push_back({std::move(name), type});
  return VariableId{static_cast<uint32_t>(procedure_.variables.size() - 1)};
}

void Names::add(const syntax::Name& name, Declared declared) {
  if (!blocks_.back().emplace(name.text, std::move(declared)).second) {
    refuse(name.where, "{} is declared twice in one block", name.text);
  }
}

void Names::count_expression(ir::SourceLocation where) {
  constexpr size_t kMostExpressions = 1'000'000;
  if (++expressions_ > kMostExpressions) {
    refuse_as(sqlstate::kTooComplex, where,
              "the expressions here have more than {} parts, once BETWEEN, IN and CASE are spelled out: take "
              "them apart",
              kMostExpressions);
  }
}

VariableId Names::declare(const syntax::Name& name, const Type& type, bool constant, bool parameter) {
  const VariableId variable = add_variable(name.text, type);
  add(name, {.variable = variable,
             .value = nullptr,
             .record = nullptr,
             .constant = constant,
             .parameter = parameter});
  return variable;
}

void Names::declare_parameters(std::span<const Type> types) {
  for (const Type& type : types) {
    // No name of the user's begins with $.
    const VariableId variable = add_variable("$" + std::to_string(++statement_parameters_), type);
    procedure_.parameters.push_back({variable, false});
  }
}

void Names::declare_value(const syntax::Name& name, ir::Expr value) {
  Declared declared;
  declared.value = std::make_shared<const ir::Expr>(std::move(value));
  declared.constant = true;
  add(name, std::move(declared));
}

void Names::declare_alias(const syntax::Name& name, VariableId variable) {
  Declared declared;
  declared.variable = variable;
  add(name, std::move(declared));
}

const syntax::Procedure* Names::find_routine(const std::string& name) {
  const syntax::Procedure* routine = routines_ == nullptr ? nullptr : routines_->find_routine(name);
  if (routine != nullptr && std::ranges::find(called_, name) == called_.end()) called_.push_back(name);
  return routine;
}

void Names::check_recursion(const std::string& name, ir::SourceLocation where) const {
  if (std::ranges::find(active_, name) != active_.end()) {
    refuse_as(sqlstate::kNotSupported, where,
              "{} calls itself, which is not supported: what is called is written in the call's place; use a "
              "loop",
              name);
  }
}

Names::Blocks Names::enter_routine(const std::string& name, ir::SourceLocation where) {
  check_recursion(name, where);
  constexpr size_t kMostNested = 16;
  if (active_.size() >= kMostNested)
    refuse_as(sqlstate::kTooComplex, where, "calls are nested more than {} deep here", kMostNested);
  active_.push_back(name);
  return std::exchange(blocks_, {});
}

VariableId Names::parameter(const syntax::Expr& expr) const {
  const auto number = static_cast<size_t>(std::stoul(expr.text));
  if (number > statement_parameters_)
    refuse_as(sqlstate::kUndefinedParameter, expr.where, "there is no parameter ${}", expr.text);
  return VariableId{static_cast<uint32_t>(number - 1)};
}

void Names::declare_record(const syntax::Name& name) {
  records_.push_back({name.text, std::nullopt});
  add(name,
      {.variable = {}, .value = nullptr, .record = &records_.back(), .constant = false, .parameter = false});
}

Type Names::read_type(const syntax::TypeName& name) const {
  if (name.table.empty()) return read_plain_type(name, catalog_);
  if (name.base == syntax::kRowType) {
    refuse_as(sqlstate::kNotSupported, name.where,
              "{}%ROWTYPE is for a variable in DECLARE alone; give each column a parameter", name.table.text);
  }
  const TableDefinition* table = catalog_.find_table(name.table.text);
  if (!table)
    refuse_as(sqlstate::kUndefinedTable, name.table.where,
              "there is no table {}; a file creates a table before it is used", name.table.text);
  const auto column = table->find_column(name.column.text);
  if (!column)
    refuse_as(sqlstate::kUndefinedColumn, name.column.where, "table {} has no column {}", table->name,
              name.column.text);
  return table->column(*column).type;
}

const Declared* Names::find(const std::string& name) const {
  for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
    const auto found = block->find(name);
    if (found != block->end()) return &found->second;
  }
  return nullptr;
}

const Declared& Names::get(const syntax::Name& name) const {
  const Declared* declared = find(name.text);
  if (!declared)
    refuse(name.where, "there is no variable {}; declare it in DECLARE or as a parameter", name.text);
  return *declared;
}

std::vector<VariableId> Names::fill_record(const Declared& declared, const std::vector<std::string>& names,
                                           const std::vector<Type>& types, ir::SourceLocation where) {
  Record& record = *declared.record;
  std::vector<VariableId> variables;
  if (!record.fields) {
    record.fields.emplace();
    for (size_t i = 0; i < names.size(); ++i) {
      if (std::ranges::find(names.begin(), names.begin() + i, names[i]) != names.begin() + i) {
        refuse(where, "two columns of this query are named {}; give one another name with AS", names[i]);
      }
      record.fields->emplace_back(names[i], add_variable(record.name + "." + names[i], types[i]));
    }
  } else {
    const bool same =
        record.fields->size() == names.size() &&
        std::ranges::equal(*record.fields, names, {}, [](const auto& field) { return field.first; });
    if (!same) {
      refuse(where, "record {} was filled with other columns before; use another record variable",
             record.name);
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const VariableId variable = (*record.fields)[i].second;
    if (!(type_of(variable) == types[i])) {
      refuse(where, "{}.{} was a {} before and would be a {} here; use another record variable", record.name,
             names[i], to_string(type_of(variable)), to_string(types[i]));
    }
    variables.push_back(variable);
  }
  return variables;
}

VariableId Names::field(const Record& record, const std::string& name, ir::SourceLocation where) const {
  if (!record.fields)
    refuse(where, "record {} has no fields yet: no statement before this one fills it", record.name);
  for (const auto& [field_name, variable] : *record.fields) {
    if (field_name == name) return variable;
  }
  refuse(where, "record {} has no field {}", record.name, name);
}

bool Names::is_parameter(VariableId variable) const {
  return variable.value < procedure_.parameters.size() ||
         std::ranges::find(inlined_parameters_, variable) != inlined_parameters_.end();
}

bool Names::text_varies(VariableId variable) const {
  if (is_parameter(variable) && type_of(variable).kind == TypeKind::kChar) return true;
  return std::ranges::find(text_varies_, variable) != text_varies_.end();
}

const SessionValue* Names::session_value(const std::string& function) const {
  if (session_ == nullptr) return nullptr;
  const auto found = session_->find(function);
  return found == session_->end() ? nullptr : &found->second;
}

void Names::note_draw(std::string_view function, bool writes, ir::SourceLocation where) {
  if (!allows_draws_) return;
  procedure_.draws = true;
  procedure_.writes |= writes;
  if (procedure_.by_chance.empty())
    procedure_.by_chance =
        fmt::format("line {}: {}() gives another value in another run", where.line, function);
}

VariableId Names::found() {
  if (!procedure_.found.valid()) procedure_.found = add_variable("found", Type{.kind = TypeKind::kBoolean});
  return procedure_.found;
}

VariableId Names::call_time() {
  if (!procedure_.call_time.valid()) {
    procedure_.call_time = add_variable("localtimestamp", Type{.kind = TypeKind::kTimestamp});
  }
  return procedure_.call_time;
}

std::optional<ir::Expr> find_column(std::span<const RowSource> sources, const std::string& qualifier,
                                    const std::string& text, ir::SourceLocation where) {
  std::optional<ir::Expr> result;
  for (const RowSource& source : sources) {
    if (!qualifier.empty() && !names_source(qualifier, source.name)) continue;
    const auto column = source.table->find_column(text);
    if (!column) {
      if (!qualifier.empty())
        refuse_as(sqlstate::kUndefinedColumn, where, "{} has no column {}", qualifier, text);
      continue;
    }
    if (result)
      refuse_as(sqlstate::kAmbiguousColumn, where,
                "both tables have a column {}; write {}.{} for the one you mean", text, source.name, text);
    result.emplace();
    result->kind = ir::ExprKind::kColumn;
    result->source = source.source;
    result->column = *column;
    result->type = source.table->column(*column).type;
    result->where = where;
  }
  return result;
}

namespace {

// A parameter of a numeric or char(n) takes its value unchanged in PostgreSQL, which ignores the modifiers. A
// number of fewer digits is the same number, and accepted.
void check_parameter_takes(const Names& names, VariableId variable, const ir::Expr& value) {
  const Type type = names.type_of(variable).element();
  const bool is_constant = value.kind == ir::ExprKind::kConstant;
  if (is_constant && value.constant.is_null()) return;
  if (type.kind == TypeKind::kNumeric) {
    const bool rounds = value.type.is_floating() || decimals_of(value).count > type.scale;
    if (!rounds) return;
    refuse(value.where,
           "this value of type {} would be rounded for the parameter {}, which PostgreSQL does not do: it "
           "ignores a parameter's "
           "precision; assign it to a variable of type {} first, and that to the parameter",
           to_string(value.type), names.name_of(variable), to_string(type));
  }
  if (type.kind == TypeKind::kChar) {
    const std::string_view text =
        is_constant && (is_unknown(value) || value.type.is_string()) ? value.constant.as_text() : "";
    const bool fills = count_characters(text) == type.length && !text.ends_with(' ');
    if (fills ||
        (value.type.kind == TypeKind::kChar && value.type.length == type.length && !value.text_varies))
      return;
    refuse(value.where,
           "this value would be filled up with blanks, or cut, to {} characters for the parameter {}, which "
           "PostgreSQL does not do: "
           "it ignores a parameter's length; write CAST(... AS {})",
           type.length, names.name_of(variable), to_string(type));
  }
}

}  // namespace

ir::Expr convert_for_variable(const Names& names, VariableId variable, ir::Expr expr) {
  const Type type = names.type_of(variable).element();
  const bool is_parameter = names.is_parameter(variable);
  if (is_parameter) check_parameter_takes(names, variable, expr);
  ir::Expr value = convert_for_assignment(std::move(expr), type, names.name_of(variable));
  if (is_parameter && value.kind == ir::ExprKind::kCast && !value.explicit_cast &&
      (type.kind == TypeKind::kVarchar || value.args[0].type.kind == TypeKind::kDecimal))
    value.whole_cast = true;
  return value;
}

}  // namespace mneme
