// Database operations of the syntax tree: SELECT, INSERT, UPDATE, DELETE; the items of SET.
#include <algorithm>
#include <utility>

#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/parser/statement_reader.h"

namespace mneme {

void refuse_into(MnemeParser::IntoContext* context) {
  refuse(location(context),
         "INTO fills a procedure's variables, and there is none around this statement; leave it out");
}

namespace {

std::string written_text(antlr4::ParserRuleContext* context) {
  const auto begin = static_cast<ssize_t>(context->getStart()->getStartIndex());
  const auto end = static_cast<ssize_t>(context->getStop()->getStopIndex());
  return context->getStart()->getInputStream()->getText(antlr4::misc::Interval(begin, end));
}

}  // namespace

// Returns the text without comments, each run of white space as one blank. Without tokens it is as written.
std::string StatementReader::one_line(antlr4::ParserRuleContext* context) {
  if (tokens_ == nullptr) return written_text(context);
  std::string text;
  for (size_t i = context->getStart()->getTokenIndex(); i <= context->getStop()->getTokenIndex(); ++i) {
    antlr4::Token* token = tokens_->get(i);
    if (token->getChannel() == antlr4::Token::DEFAULT_CHANNEL) {
      text += token->getText();
    } else if (!text.empty() && text.back() != ' ') {
      text += ' ';
    }
  }
  return text;
}

syntax::Operation StatementReader::begin(ir::OperationKind kind, antlr4::ParserRuleContext* context) {
  syntax::Operation operation;
  operation.kind = kind;
  operation.where = location(context);
  operation.text = one_line(context);
  return operation;
}

syntax::Target StatementReader::target(MnemeParser::TargetContext* context) {
  if (context->expression()) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "assigning to an array's element is not supported; build the array with array_append()");
  }
  syntax::Target target{read_name(context->name(0)), {}};
  if (context->name().size() == 2) target.field = read_name(context->name(1));
  return target;
}

syntax::SelectItem StatementReader::select_item(MnemeParser::SelectItemContext* context) {
  syntax::SelectItem item;
  if (!context->expression()) {
    item.star = true;
    item.expr.where = location(context);
    if (!context->name().empty()) item.qualifier = read_source(context->name());
    return item;
  }
  item.expr = read_expression(context->expression());
  if (!context->name().empty()) item.alias = read_name(context->name(0));
  return item;
}

void StatementReader::read_into(MnemeParser::IntoContext* context, syntax::Operation& operation) {
  if (!operation.into.empty()) refuse(location(context), "INTO is written twice in one statement");
  operation.strict = context->STRICT() != nullptr;
  for (auto* item : context->target()) operation.into.push_back(target(item));
}

void StatementReader::read_returning(MnemeParser::ReturningContext* context, syntax::Operation& operation) {
  if (!context) return;
  for (auto* item : context->selectItem()) operation.items.push_back(select_item(item));
  if (rows_go_to_user_) {
    if (context->into()) refuse_into(context->into());
    return;
  }
  if (!context->into()) {
    refuse(location(context),
           "RETURNING without INTO has nowhere to put its result; add INTO and a variable for each value");
  }
  read_into(context->into(), operation);
}

syntax::Operation StatementReader::query(MnemeParser::QueryContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kSelect, context);
  operation.query = std::make_shared<const syntax::Query>(read_query(context));
  operation.for_update = operation.query->for_update;
  return operation;
}

syntax::Operation StatementReader::query_of_procedure(MnemeParser::QueryContext* context) {
  syntax::Operation operation = query(context);
  if (std::optional<syntax::Operation> plain = plain_select(operation, true)) {
    plain->query = std::move(operation.query);
    operation = *std::move(plain);
  }
  if (context->selectCore()) {
    for (auto* into : context->selectCore()->into()) read_into(into, operation);
  }
  if (context->queryTail()->into()) read_into(context->queryTail()->into(), operation);
  return operation;
}

syntax::Operation StatementReader::insert(MnemeParser::InsertContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kInsert, context);
  if (context->with()) operation.with = read_with(context->with(), operation.recursive);
  operation.tables.push_back({read_relation(context->relation()), {}});
  if (context->name()) operation.tables[0].alias = read_name(context->name());
  if (context->nameList()) {
    for (auto* column : context->nameList()->name()) operation.columns.push_back(read_name(column));
  }
  for (auto* row : context->insertRow()) {
    std::vector<syntax::Expr> values = read_row(row);
    if (row == context->insertRow().front()) {
      operation.values = std::move(values);
    } else {
      if (values.size() != operation.values.size())
        refuse(location(row), "VALUES lists must all be the same length");
      operation.more_rows.push_back(std::move(values));
    }
  }
  if (auto* overriding = context->overriding()) {
    expect_word(overriding->IDENTIFIER(0), {"overriding"});
    expect_word(overriding->IDENTIFIER(1), {"system", "user"});
    expect_word(overriding->IDENTIFIER(2), {"value"});
    operation.ignores_identities = lowered(overriding->IDENTIFIER(1)->getText()) == "user";
    operation.gives_identities = !operation.ignores_identities;
  }
  if (context->DEFAULT()) operation.gives_defaults = true;
  if (context->selectQuery()) {
    operation.query = read_query(context->selectQuery());
  }
  if (context->onConflict()) operation.on_conflict = on_conflict(context->onConflict(), operation.tables);
  read_returning(context->returning(), operation);
  return operation;
}

syntax::OnConflict StatementReader::on_conflict(MnemeParser::OnConflictContext* context,
                                                const std::vector<syntax::TableReference>& tables) {
  expect_word(context->IDENTIFIER(0), {"conflict"});
  syntax::OnConflict conflict;
  conflict.where = location(context);
  conflict.updates = context->UPDATE() != nullptr;
  if (!conflict.updates) expect_word(context->IDENTIFIER(1), {"nothing"});
  if (context->nameList()) {
    for (auto* column : context->nameList()->name()) conflict.columns.push_back(read_name(column));
  }
  if (context->conflictRows()) conflict.rows = read_expression(context->conflictRows()->expression());
  if (context->name()) conflict.constraint = read_name(context->name());
  syntax::Operation update;
  update.tables = tables;
  for (auto* item : context->setItem()) read_set_item(item, update);
  conflict.set_columns = std::move(update.columns);
  conflict.set_values = std::move(update.values);
  if (context->expression()) conflict.conditions.push_back(read_expression(context->expression()));
  if (conflict.updates && conflict.columns.empty() && conflict.constraint.empty())
    refuse(conflict.where, "ON CONFLICT DO UPDATE requires inference specification or constraint name");
  return conflict;
}

syntax::Operation StatementReader::update(MnemeParser::UpdateContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kUpdate, context);
  if (context->with()) operation.with = read_with(context->with(), operation.recursive);
  operation.tables.push_back({read_relation(context->relation()), {}});
  if (context->name()) operation.tables[0].alias = read_name(context->name());
  for (auto* item : context->setItem()) read_set_item(item, operation);
  for (auto* item : context->tableItem()) operation.from.push_back(read_table_item(item));
  if (context->expression()) operation.conditions.push_back(read_expression(context->expression()));
  read_returning(context->returning(), operation);
  return operation;
}

syntax::Operation StatementReader::delete_rows(MnemeParser::DeleteRowsContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kDelete, context);
  if (context->with()) operation.with = read_with(context->with(), operation.recursive);
  operation.tables.push_back({read_relation(context->relation()), {}});
  if (context->name()) operation.tables[0].alias = read_name(context->name());
  for (auto* item : context->tableItem()) operation.from.push_back(read_table_item(item));
  if (context->expression()) operation.conditions.push_back(read_expression(context->expression()));
  read_returning(context->returning(), operation);
  return operation;
}

std::optional<syntax::Operation> StatementReader::operation(MnemeParser::CommandContext* context) {
  rows_go_to_user_ = true;
  if (context->query()) return query(context->query());
  if (context->insert()) return insert(context->insert());
  if (context->update()) return update(context->update());
  if (context->deleteRows()) return delete_rows(context->deleteRows());
  if (context->merge()) {
    syntax::Operation operation = read_merge(context->merge());
    operation.text = one_line(context->merge());
    return operation;
  }
  return std::nullopt;
}

syntax::Operation StatementReader::change_of_with(MnemeParser::CommonTableContext* context) {
  rows_go_to_user_ = true;
  if (context->insert()) return insert(context->insert());
  if (context->update()) return update(context->update());
  return delete_rows(context->deleteRows());
}

syntax::Operation read_change_of_with(MnemeParser::CommonTableContext* context) {
  return StatementReader(nullptr).change_of_with(context);
}

std::optional<syntax::Operation> read_operation(MnemeParser::CommandContext* context,
                                                antlr4::TokenStream& tokens) {
  return StatementReader(&tokens).operation(context);
}

namespace {

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

constexpr const char* kArraySet = "mneme_array_set";

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
