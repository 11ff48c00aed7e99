#include "procedures/parser/element_query.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "procedures/ir/source_error.h"

namespace mneme {

using syntax::Expr;
using syntax::ExprKind;

namespace {

// No name of the user's holds a blank.
constexpr const char* kElements = "the elements";
constexpr const char* kElement = "each element";

Expr truth(bool value, syntax::SourceLocation where) {
  Expr constant = syntax::make_expression(ExprKind::kBoolean, where);
  constant.text = value ? "true" : "false";
  return constant;
}

// SELECT ... FROM function(argument) AS kElements(kElement), whose columns come later.
std::shared_ptr<syntax::Query> select_elements(const char* function, Expr argument,
                                               syntax::SourceLocation where) {
  auto query = std::make_shared<syntax::Query>();
  query->where = query->first.where = where;
  syntax::SelectCore& core = query->first.select.emplace();
  core.where = where;
  syntax::FromItem& from = core.from.emplace_back();
  from.kind = syntax::FromItem::Kind::kFunction;
  from.where = where;
  from.name = {function, where};
  from.args.push_back(std::move(argument));
  from.alias = {kElements, where};
  from.column_aliases = {{kElement, where}};
  return query;
}

Expr any_row(Expr condition) {
  const auto where = condition.where;
  return syntax::make_call("bool_or", {std::move(condition)}, where);
}

}  // namespace

// CASE WHEN array IS NOT NULL THEN (SELECT CASE WHEN bool_or(it decides) THEN the answer
//                                               WHEN bool_or(it IS NULL) THEN NULL
//                                               ELSE the other answer END
//                                   FROM unnest(array)) END
Expr compare_elements(Expr array, bool is_all, const std::function<Expr(Expr element)>& compare) {
  const auto where = array.where;
  const auto holds = [&] { return compare(syntax::reference(kElements, kElement, where)); };
  auto query = select_elements("unnest", array, where);
  Expr decides = is_all ? syntax::make_unary(ir::Op::kNot, holds(), where) : holds();
  Expr answer = syntax::make_expression(ExprKind::kCase, where);
  answer.has_else = true;
  answer.args.push_back(any_row(std::move(decides)));
  answer.args.push_back(truth(!is_all, where));
  answer.args.push_back(any_row(syntax::make_unary(ir::Op::kIsNull, holds(), where)));
  answer.args.push_back(syntax::make_expression(ExprKind::kNull, where));
  answer.args.push_back(truth(is_all, where));
  query->first.select->items.push_back({false, {}, std::move(answer), {}});
  Expr of_elements = syntax::make_expression(ExprKind::kScalarQuery, where);
  of_elements.query = std::move(query);
  Expr result = syntax::make_expression(ExprKind::kCase, where);
  result.column_name = "?column?";
  result.args.push_back(syntax::make_unary(ir::Op::kIsNotNull, std::move(array), where));
  result.args.push_back(std::move(of_elements));
  return result;
}

// FROM (SELECT CAST(each element ->> 'name' AS type) AS name, ... FROM jsonb_array_elements(json)) AS alias
void select_records(syntax::FromItem& item, std::span<const syntax::Name> names,
                    std::span<const syntax::TypeName> types) {
  const std::string function = item.name.text;
  const bool are_several = function.ends_with("_to_recordset");
  const bool is_binary = function.starts_with("jsonb");
  const bool is_known = function == "json_to_record" || function == "jsonb_to_record" ||
                        function == "json_to_recordset" || function == "jsonb_to_recordset";
  if (!is_known || item.args.size() != 1 || item.with_ordinality) {
    refuse_as(
        sqlstate::kSyntaxError, item.where,
        "a column definition list is only allowed for functions returning \"record\": json_to_record(), "
        "json_to_recordset() and those of jsonb");
  }
  const auto where = item.where;
  Expr records = std::move(item.args[0]);
  if (!are_several) {
    Expr json = syntax::make_expression(ExprKind::kCast, where);
    json.type.base = is_binary ? "jsonb" : "json";
    json.type.where = where;
    json.args.push_back(std::move(records));
    records =
        syntax::make_call(is_binary ? "jsonb_build_array" : "json_build_array", {std::move(json)}, where);
  }
  auto query =
      select_elements(is_binary ? "jsonb_array_elements" : "json_array_elements", std::move(records), where);
  for (size_t i = 0; i < names.size(); ++i) {
    const syntax::TypeName& type = types[i];
    if (type.is_array) {
      refuse_as(
          sqlstate::kNotSupported, type.where,
          "a column of {}() that is an array is not supported; make it json, and take its elements apart",
          function);
    }
    const bool is_json = type.base == "json" || type.base == "jsonb";
    Expr member = syntax::make_expression(ExprKind::kBits, names[i].where);
    member.text = is_json ? "->" : "->>";
    member.args.push_back(syntax::reference(kElements, kElement, names[i].where));
    Expr& key = member.args.emplace_back(syntax::make_expression(ExprKind::kString, names[i].where));
    key.text = names[i].text;
    Expr cast = syntax::make_expression(ExprKind::kCast, names[i].where);
    cast.type = type;
    cast.args.push_back(std::move(member));
    query->first.select->items.push_back({false, {}, std::move(cast), names[i]});
  }
  item.kind = syntax::FromItem::Kind::kQuery;
  item.lateral = true;
  if (item.alias.empty()) item.alias = item.name;
  item.args.clear();
  item.query = std::move(query);
}

}  // namespace mneme
