// The items of SET: the columns that UPDATE and ON CONFLICT DO UPDATE assign, and their new values.
#include <algorithm>

#include "procedures/ir/source_error.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

namespace {

constexpr const char* kArraySet = "mneme_array_set";

// (a, b) = (SELECT x, y ...): assigns each column a query that selects its value from the row.
void read_set_query(MnemeParser::SetItemContext* context, syntax::Operation& operation) {
  const std::shared_ptr<const syntax::Query> rows = read_query(context->nestedQuery());
  const auto where = location(context->nestedQuery());
  const auto columns = context->nameList()->name();
  if (rows->more.empty() && rows->first.select) {
    const std::vector<syntax::SelectItem>& items = rows->first.select->items;
    const bool has_star = std::ranges::any_of(items, &syntax::SelectItem::star);
    if (!has_star && items.size() != columns.size())
      refuse(where, "number of columns does not match number of values");
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    operation.columns.push_back(read_name(columns[i]));
    auto query = std::make_shared<syntax::Query>();
    query->where = query->first.where = where;
    syntax::SelectCore& core = query->first.select.emplace();
    core.where = where;
    // The names hold blanks, which a user's name can have only if it is quoted.
    syntax::FromItem& item = core.from.emplace_back();
    item.kind = syntax::FromItem::Kind::kQuery;
    item.where = where;
    item.query = rows;
    item.alias = {"row of values", where};
    for (size_t n = 0; n < columns.size(); ++n)
      item.column_aliases.push_back({"value " + std::to_string(n + 1), where});
    core.items.push_back(
        {false, {}, syntax::reference("row of values", "value " + std::to_string(i + 1), where), {}});
    syntax::Expr value;
    value.kind = syntax::ExprKind::kScalarQuery;
    value.where = where;
    value.query = std::move(query);
    operation.values.push_back(std::move(value));
  }
}

// a[i] = value: a is what mneme_array_set() makes of it. A second element of the same array is set in that.
void read_element(MnemeParser::SetItemContext* context, syntax::Operation& operation) {
  const syntax::Name column = read_name(context->name());
  const std::vector<MnemeParser::ExpressionContext*> parts = context->expression();
  if (parts.size() != 2)
    refuse_as(sqlstate::kNotSupported, location(context), "cannot set an array element to DEFAULT");
  const auto assigned = std::ranges::find(operation.columns, column.text, &syntax::Name::text);
  const bool is_first = assigned == operation.columns.end();
  syntax::Name table;
  if (!operation.tables.empty()) {
    const syntax::TableReference& target = operation.tables[0];
    table = target.alias.empty() ? target.table : target.alias;
  }
  syntax::Expr whole = is_first ? syntax::reference(table.text, column.text, column.where)
                                : operation.values[static_cast<size_t>(assigned - operation.columns.begin())];
  if (!is_first && (whole.kind != syntax::ExprKind::kCall || whole.text != kArraySet))
    refuse_as("42601", column.where, "multiple assignments to same column \"{}\"", column.text);
  syntax::Expr value = syntax::make_call(
      kArraySet, {std::move(whole), read_expression(parts[0]), read_expression(parts[1])}, column.where);
  if (is_first) {
    operation.columns.push_back(column);
    operation.values.push_back(std::move(value));
  } else {
    operation.values[static_cast<size_t>(assigned - operation.columns.begin())] = std::move(value);
  }
}

}  // namespace

// a = value, or (a, b) = (value, value).
void read_set_item(MnemeParser::SetItemContext* context, syntax::Operation& operation) {
  const auto add_value = [&](antlr4::tree::ParseTree* child) {
    if (auto* expression = dynamic_cast<MnemeParser::ExpressionContext*>(child)) {
      operation.values.push_back(read_expression(expression));
    } else if (lowered(child->getText()) == "default") {
      syntax::Expr value;
      value.kind = syntax::ExprKind::kDefault;
      value.where = location(context);
      operation.values.push_back(std::move(value));
    }
  };
  if (context->LBRACKET() != nullptr) return read_element(context, operation);
  if (!context->nameList()) {
    operation.columns.push_back(read_name(context->name()));
    add_value(context->children.back());
    return;
  }
  if (context->nestedQuery()) return read_set_query(context, operation);
  if (context->name() && lowered(context->name()->getText()) != "row")
    refuse(location(context->name()), "\"{}\" is not understood here", context->name()->getText());
  for (auto* name : context->nameList()->name()) operation.columns.push_back(read_name(name));
  for (size_t i = 1; i < context->children.size(); ++i) add_value(context->children[i]);
  if (operation.columns.size() != operation.values.size())
    refuse(location(context), "number of columns does not match number of values");
}

}  // namespace mneme
