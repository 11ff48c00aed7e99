// SelectBinder's records: ROW(a, b), and a table's name as its whole row. A record is the text that
// PostgreSQL prints of it.
#include <algorithm>
#include <utility>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/expression_nodes.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/select_binder.h"
#include "procedures/typing/conversion.h"
#include "procedures/values/type_oids.h"

namespace mneme::query {

using ir::Expr;
using ir::ExprKind;

namespace {

Expr literal_text(std::string_view text, ir::SourceLocation where) {
  Expr constant = nodes::make(ExprKind::kConstant, text_type(), where);
  constant.constant = Value::of_text(text);
  return constant;
}

Expr appended(Expr left, Expr right, ir::SourceLocation where) {
  return nodes::make_binary(ir::Op::kConcat, text_type(), std::move(left), std::move(right), where);
}

// Whether values of the type that are equal have the same text.
bool has_one_text(const Type& type) {
  const TypeKind kind = type.elements != TypeKind::kNull ? type.elements : type.kind;
  const bool is_other_record = is_record(type) && type.scale != 0;
  if (type.kind == TypeKind::kNumeric) return type.precision != 0;
  return kind != TypeKind::kDecimal && kind != TypeKind::kNumeric && kind != TypeKind::kReal &&
         kind != TypeKind::kDouble && kind != TypeKind::kInterval && kind != TypeKind::kChar &&
         !is_json(type) && !is_other_record;
}

// Also where the join is a group of its own, as a FULL JOIN is.
bool has_outer_join(const FromPlan& plan) {
  return std::ranges::any_of(plan.steps, [](const FromStep& step) {
    return step.kind != FromStep::Kind::kInner || (step.group != nullptr && has_outer_join(*step.group));
  });
}

}  // namespace

// Whether the name, which stands alone, means a table's whole row: no column has it.
bool SelectBinder::names_table(const std::string& name) const {
  const RowScope* const scope = scope_.scope_of(name);
  return scope != nullptr && std::ranges::none_of(scope->entries(), [&](const RowScope::Entry& entry) {
           return entry.name == name && !entry.hidden;
         });
}

SelectBinder::Fields SelectBinder::fields_of_table(const std::string& name, ir::SourceLocation where) {
  Fields fields;
  for (const RowScope::Entry& entry : scope_.scope_of(name)->entries()) {
    if (!names_source(name, entry.source) || entry.is_system) continue;
    if (std::optional<Expr> column = scope_.find(name, entry.name, where))
      fields.emplace_back(entry.name, *std::move(column));
  }
  return fields;
}

// A row that an outer join has filled with NULLs is NULL.
Expr SelectBinder::null_if_none(const Fields& fields, Expr value, ir::SourceLocation where) {
  if (fields.empty() || !has_outer_join(select_->from)) return value;
  std::vector<Expr> tests;
  for (const auto& [name, field] : fields)
    tests.push_back(nodes::make_unary(ir::Op::kIsNull, kTruthType, field, where));
  Expr choice = nodes::make(ExprKind::kCase, value.type, where);
  Expr null = nodes::make(ExprKind::kConstant, value.type, where);
  choice.args.push_back(ir::join(ir::Op::kAnd, tests));
  choice.args.push_back(std::move(null));
  choice.args.push_back(std::move(value));
  return choice;
}

Expr SelectBinder::record_of(Fields fields, ir::SourceLocation where) {
  Type type = kRecordType;
  Expr text = literal_text("(", where);
  bool is_first = true;
  for (auto& [name, field] : fields) {
    if (!is_first) text = appended(std::move(text), literal_text(",", where), where);
    is_first = false;
    if (is_unknown(field)) field = resolve_as_text(std::move(field));
    if (!has_one_text(field.type)) type.scale = 1;
    std::vector<Expr> args;
    args.push_back(convert_to_output(with_own_digits_if_numeric(std::move(field)), "ROW"));
    args[0].type = text_type();
    text = appended(std::move(text), call_provided("mneme_record_field", std::move(args), where), where);
  }
  text = appended(std::move(text), literal_text(")", where), where);
  text.type = type;
  return text;
}

std::optional<Expr> SelectBinder::find_column(const std::string& qualifier, const std::string& text,
                                              ir::SourceLocation where) {
  if (std::optional<Expr> column = scope_.find(qualifier, text, where)) return column;
  if (!qualifier.empty() || binder_.provider_ == nullptr || !names_table(text)) return std::nullopt;
  Fields fields = fields_of_table(text, where);
  const Fields known = fields;
  return null_if_none(known, record_of(std::move(fields), where), where);
}

}  // namespace mneme::query
