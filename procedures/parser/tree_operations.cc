// Database operations of the syntax tree: SELECT, INSERT, UPDATE, DELETE.
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
    if (context->name()) item.qualifier = read_name(context->name());
    return item;
  }
  item.expr = read_expression(context->expression());
  if (context->name()) item.alias = read_name(context->name());
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

}  // namespace mneme
