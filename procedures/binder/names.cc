#include "procedures/binder/names.h"

#include <algorithm>
#include <utility>

#include "procedures/binder/conversion.h"
#include "procedures/ir/source_error.h"

namespace mneme {

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

void Names::leave_routine(Blocks blocks) {
  blocks_ = std::move(blocks);
  active_.pop_back();
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
  if (name.table.empty()) return read_plain_type(name);
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
    if (!qualifier.empty() && qualifier != source.name) continue;
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

}  // namespace mneme
