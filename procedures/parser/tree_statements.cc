// Statements and database operations of the syntax tree.
#include <utility>

#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using syntax::Statement;
using syntax::StatementKind;

namespace {

class StatementReader {
 public:
  // Without tokens, an operation's text is as it was written, on however many lines.
  explicit StatementReader(antlr4::TokenStream* tokens) : tokens_(tokens) {}

  syntax::Block block(MnemeParser::BlockContext* context);
  std::optional<syntax::Operation> operation(MnemeParser::CommandContext* context);
  syntax::Block sql_body(MnemeParser::SqlBodyContext* context, bool has_result);
  syntax::Operation change_of_with(MnemeParser::CommonTableContext* context);

 private:
  std::vector<Statement> statements(const std::vector<MnemeParser::StatementContext*>& contexts);
  std::vector<Statement> statements(MnemeParser::StatementsContext* context) {
    return statements(context->statement());
  }
  Statement statement(MnemeParser::StatementContext* context);
  Statement if_statement(MnemeParser::IfStatementContext* context);
  Statement case_statement(MnemeParser::CaseStatementContext* context);
  Statement for_range(MnemeParser::ForRangeStatementContext* context);
  Statement for_query(MnemeParser::ForQueryStatementContext* context);
  Statement for_each(MnemeParser::ForEachStatementContext* context);
  Statement leave(MnemeParser::LeaveStatementContext* context);
  Statement operation_statement(StatementKind kind, syntax::Operation operation);

  syntax::Operation select(MnemeParser::SelectContext* context);
  syntax::Operation select_rest(MnemeParser::SelectRestContext* context, antlr4::ParserRuleContext* whole,
                                MnemeParser::IntoContext* first_into);
  syntax::Operation query(MnemeParser::QueryContext* context);
  syntax::Operation insert(MnemeParser::InsertContext* context);
  syntax::OnConflict on_conflict(MnemeParser::OnConflictContext* context);
  syntax::Operation update(MnemeParser::UpdateContext* context);
  syntax::Operation delete_rows(MnemeParser::DeleteRowsContext* context);
  void read_with_of(MnemeParser::WithContext* context, syntax::Operation& operation) const;

  syntax::Operation begin(ir::OperationKind kind, antlr4::ParserRuleContext* context);
  void read_into(MnemeParser::IntoContext* context, syntax::Operation& operation);
  void read_returning(MnemeParser::ReturningContext* context, syntax::Operation& operation);
  syntax::SelectItem select_item(MnemeParser::SelectItemContext* context);
  syntax::Target target(MnemeParser::TargetContext* context);
  // PL/pgSQL takes the first `end` outside of parentheses for the end of the expression, and a CASE has such
  // words of its own.
  syntax::Expr expression_before(size_t end, std::string_view word, MnemeParser::ExpressionContext* context);
  std::string one_line(antlr4::ParserRuleContext* context);
  [[noreturn]] static void refuse_into(MnemeParser::IntoContext* context) {
    refuse(location(context),
           "INTO fills a procedure's variables, and there is none around this statement; leave it out");
  }

  antlr4::TokenStream* const tokens_;
  bool rows_go_to_user_ = false;  // of a session's statement, not of a procedure's
};

// A loop's closing label, where it has one, repeats its opening one.
void check_label(const syntax::Name& label, MnemeParser::LabelNameContext* closing) {
  if (!closing) return;
  const syntax::Name end = read_label(closing);
  if (end.text != label.text)
    refuse(end.where, "END {} ends a loop or block that is not labelled <<{}>>", end.text, end.text);
}

syntax::Name loop_label(MnemeParser::LabelContext* context) {
  return context ? read_label(context->labelName()) : syntax::Name();
}

std::string written_text(antlr4::ParserRuleContext* context) {
  const auto begin = static_cast<ssize_t>(context->getStart()->getStartIndex());
  const auto end = static_cast<ssize_t>(context->getStop()->getStopIndex());
  return context->getStart()->getInputStream()->getText(antlr4::misc::Interval(begin, end));
}

// The text without comments, runs of blanks made one.
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

syntax::Operation StatementReader::select(MnemeParser::SelectContext* context) {
  syntax::Operation operation = select_rest(context->selectRest(), context, context->into());
  if (MnemeParser::DistinctContext* distinct = context->distinct()) {
    if (distinct->ON())
      refuse_as(sqlstate::kNotSupported, location(distinct),
                "DISTINCT ON is not supported; use a FOR loop over the rows in their order");
    operation.distinct = true;
  }
  return operation;
}

syntax::Operation StatementReader::select_rest(MnemeParser::SelectRestContext* context,
                                               antlr4::ParserRuleContext* whole,
                                               MnemeParser::IntoContext* first_into) {
  syntax::Operation operation = begin(ir::OperationKind::kSelect, whole);
  if (first_into) read_into(first_into, operation);
  for (auto* into : context->into()) read_into(into, operation);
  for (auto* item : context->selectItem()) operation.items.push_back(select_item(item));
  const auto table = [](MnemeParser::FromItemContext* item) {
    syntax::TableReference reference{read_relation(item->relation()), {}};
    if (item->name()) reference.alias = read_name(item->name());
    return reference;
  };
  if (context->fromItem()) operation.tables.push_back(table(context->fromItem()));
  for (auto* rest : context->fromRest()) {
    operation.tables.push_back(table(rest->fromItem()));
    if (rest->expression()) operation.conditions.push_back(read_expression(rest->expression()));
  }
  if (context->where) operation.conditions.push_back(read_expression(context->where));
  for (auto* key : context->group) operation.groups.push_back(read_expression(key));
  if (context->having) operation.having = read_expression(context->having);
  for (auto* item : context->orderItem()) {
    operation.order.push_back(read_order_item(item));
    if (operation.order.back().nulls_first) {
      refuse_as(sqlstate::kNotSupported, location(item->IDENTIFIER(0)->getSymbol()),
                "NULLS FIRST and NULLS LAST are not supported: NULLs come last, and first under DESC, as by "
                "default");
    }
  }
  for (auto* limit : context->limit()) {
    if (operation.limit) refuse(location(limit), "LIMIT is written twice in one statement");
    if (!limit->expression()) refuse(location(limit), "LIMIT ALL limits nothing; leave it out");
    operation.limit = read_expression(limit->expression());
  }
  for (auto* offset : context->offset()) {
    if (operation.offset) refuse(location(offset), "OFFSET is written twice in one statement");
    operation.offset = read_expression(offset->expression());
  }
  for (auto* lock : context->forUpdate()) {
    std::vector<std::string> tables;
    for (const syntax::TableReference& each : operation.tables)
      tables.push_back((each.alias.empty() ? each.table : each.alias).text);
    operation.for_update = read_lock(lock, tables);
  }
  return operation;
}

syntax::Operation StatementReader::query(MnemeParser::QueryContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kSelect, context);
  operation.query = std::make_shared<const syntax::Query>(read_query(context));
  operation.for_update = operation.query->for_update;
  return operation;
}

syntax::Operation StatementReader::insert(MnemeParser::InsertContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kInsert, context);
  read_with_of(context->with(), operation);
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
    if (lowered(overriding->IDENTIFIER(1)->getText()) == "user") {
      refuse_as(sqlstate::kNotSupported, location(overriding),
                "OVERRIDING USER VALUE is not supported; leave the column out, or write DEFAULT");
    }
    expect_word(overriding->IDENTIFIER(1), {"system"});
    expect_word(overriding->IDENTIFIER(2), {"value"});
    operation.gives_identities = true;
  }
  if (context->DEFAULT()) operation.gives_defaults = true;
  if (context->selectQuery()) {
    operation.query = read_query(context->selectQuery());
  }
  if (context->onConflict()) operation.on_conflict = on_conflict(context->onConflict());
  read_returning(context->returning(), operation);
  return operation;
}

void StatementReader::read_with_of(MnemeParser::WithContext* context, syntax::Operation& operation) const {
  if (!context) return;
  if (!rows_go_to_user_) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "WITH is not supported; use SELECT ... INTO variables first, and the variables here");
  }
  operation.with = read_with(context, operation.recursive);
}

syntax::OnConflict StatementReader::on_conflict(MnemeParser::OnConflictContext* context) {
  expect_word(context->IDENTIFIER(0), {"conflict"});
  syntax::OnConflict conflict;
  conflict.where = location(context);
  conflict.updates = context->UPDATE() != nullptr;
  if (!conflict.updates) expect_word(context->IDENTIFIER(1), {"nothing"});
  if (context->nameList()) {
    for (auto* column : context->nameList()->name()) conflict.columns.push_back(read_name(column));
  }
  if (context->name()) conflict.constraint = read_name(context->name());
  syntax::Operation update;
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
  read_with_of(context->with(), operation);
  operation.tables.push_back({read_relation(context->relation()), {}});
  if (context->name()) operation.tables[0].alias = read_name(context->name());
  for (auto* item : context->setItem()) read_set_item(item, operation);
  for (auto* item : context->tableItem()) operation.from.push_back(read_table_item(item));
  if (!rows_go_to_user_ && !operation.from.empty()) {
    refuse_as(sqlstate::kNotSupported, operation.from[0].where,
              "UPDATE ... FROM is not supported; use SELECT ... INTO variables first, or a FOR loop");
  }
  if (context->expression()) operation.conditions.push_back(read_expression(context->expression()));
  read_returning(context->returning(), operation);
  return operation;
}

syntax::Operation StatementReader::delete_rows(MnemeParser::DeleteRowsContext* context) {
  syntax::Operation operation = begin(ir::OperationKind::kDelete, context);
  read_with_of(context->with(), operation);
  operation.tables.push_back({read_relation(context->relation()), {}});
  if (context->name()) operation.tables[0].alias = read_name(context->name());
  for (auto* item : context->tableItem()) operation.from.push_back(read_table_item(item));
  if (!rows_go_to_user_ && !operation.from.empty()) {
    refuse_as(sqlstate::kNotSupported, operation.from[0].where,
              "DELETE ... USING is not supported; use SELECT ... INTO variables first, or a FOR loop");
  }
  if (context->expression()) operation.conditions.push_back(read_expression(context->expression()));
  read_returning(context->returning(), operation);
  return operation;
}

syntax::Expr StatementReader::expression_before(size_t end, std::string_view word,
                                                MnemeParser::ExpressionContext* context) {
  int depth = 0;
  for (size_t i = context->getStart()->getTokenIndex(); i <= context->getStop()->getTokenIndex(); ++i) {
    const size_t type = tokens_->get(i)->getType();
    if (type == MnemeLexer::LPAREN || type == MnemeLexer::LBRACKET) ++depth;
    if (type == MnemeLexer::RPAREN || type == MnemeLexer::RBRACKET) --depth;
    if (type == end && depth == 0) {
      refuse(location(tokens_->get(i)),
             "PL/pgSQL takes this {} for the end of the expression; put the CASE expression in parentheses",
             word);
    }
  }
  return read_expression(context);
}

Statement StatementReader::if_statement(MnemeParser::IfStatementContext* context) {
  Statement statement;
  statement.kind = StatementKind::kIf;
  const auto conditions = context->expression();
  const auto bodies = context->statements();
  for (size_t i = 0; i < conditions.size(); ++i) {
    syntax::Branch branch;
    branch.where = location(conditions[i]);
    branch.conditions.push_back(expression_before(MnemeLexer::THEN, "THEN", conditions[i]));
    branch.statements = statements(bodies[i]);
    statement.branches.push_back(std::move(branch));
  }
  statement.has_else = context->ELSE() != nullptr;
  if (statement.has_else) statement.body = statements(bodies.back());
  return statement;
}

Statement StatementReader::case_statement(MnemeParser::CaseStatementContext* context) {
  Statement statement;
  statement.kind = StatementKind::kCase;
  if (context->subject) statement.expr = expression_before(MnemeLexer::WHEN, "WHEN", context->subject);
  for (auto* item : context->caseBranch()) {
    syntax::Branch branch;
    branch.where = location(item);
    for (auto* condition : item->expression())
      branch.conditions.push_back(expression_before(MnemeLexer::THEN, "THEN", condition));
    branch.statements = statements(item->statements());
    statement.branches.push_back(std::move(branch));
  }
  statement.has_else = context->ELSE() != nullptr;
  if (statement.has_else) statement.body = statements(context->statements());
  return statement;
}

Statement StatementReader::for_range(MnemeParser::ForRangeStatementContext* context) {
  Statement statement;
  statement.kind = StatementKind::kForRange;
  statement.label = loop_label(context->label());
  statement.target.name = read_name(context->name());
  check_label(statement.label, context->labelName());
  statement.reverse = context->REVERSE() != nullptr;
  statement.expr = read_expression(context->expression(0));
  statement.limit = read_expression(context->expression(1));
  if (context->BY()) statement.step = read_expression(context->expression(2));
  statement.body = statements(context->statements());
  return statement;
}

Statement StatementReader::for_query(MnemeParser::ForQueryStatementContext* context) {
  Statement statement = operation_statement(StatementKind::kForQuery, select(context->select()));
  if (!statement.operation->into.empty()) {
    refuse(statement.operation->where,
           "INTO has no place in a FOR loop's query; the loop's own variables take the rows");
  }
  statement.label = loop_label(context->label());
  check_label(statement.label, context->labelName());
  for (auto* item : context->target()) statement.targets.push_back(target(item));
  statement.body = statements(context->statements());
  return statement;
}

Statement StatementReader::for_each(MnemeParser::ForEachStatementContext* context) {
  Statement statement;
  statement.kind = StatementKind::kForEach;
  statement.label = loop_label(context->label());
  check_label(statement.label, context->labelName());
  statement.target = target(context->target());
  statement.expr = read_expression(context->expression());
  statement.body = statements(context->statements());
  return statement;
}

Statement StatementReader::leave(MnemeParser::LeaveStatementContext* context) {
  Statement statement;
  statement.kind = context->EXIT() ? StatementKind::kExit : StatementKind::kContinue;
  if (context->labelName()) statement.label = read_label(context->labelName());
  if (context->expression()) statement.expr = read_expression(context->expression());
  return statement;
}

Statement StatementReader::operation_statement(StatementKind kind, syntax::Operation operation) {
  Statement statement;
  statement.kind = kind;
  statement.operation = std::move(operation);
  return statement;
}

Statement StatementReader::statement(MnemeParser::StatementContext* context) {
  Statement result;
  if (auto* nested = dynamic_cast<MnemeParser::BlockStatementContext*>(context)) {
    result.kind = StatementKind::kBlock;
    result.block = std::make_unique<syntax::Block>(block(nested->block()));
  } else if (auto* assign = dynamic_cast<MnemeParser::AssignStatementContext*>(context)) {
    result.kind = StatementKind::kAssign;
    result.target = target(assign->target());
    result.expr = read_expression(assign->expression());
  } else if (auto* choice = dynamic_cast<MnemeParser::IfStatementContext*>(context)) {
    result = if_statement(choice);
  } else if (auto* cases = dynamic_cast<MnemeParser::CaseStatementContext*>(context)) {
    result = case_statement(cases);
  } else if (auto* loop = dynamic_cast<MnemeParser::LoopStatementContext*>(context)) {
    result.kind = StatementKind::kLoop;
    result.label = loop_label(loop->label());
    check_label(result.label, loop->labelName());
    result.body = statements(loop->statements());
  } else if (auto* while_loop = dynamic_cast<MnemeParser::WhileStatementContext*>(context)) {
    result.kind = StatementKind::kWhile;
    result.label = loop_label(while_loop->label());
    check_label(result.label, while_loop->labelName());
    result.expr = read_expression(while_loop->expression());
    result.body = statements(while_loop->statements());
  } else if (auto* range = dynamic_cast<MnemeParser::ForRangeStatementContext*>(context)) {
    result = for_range(range);
  } else if (auto* query = dynamic_cast<MnemeParser::ForQueryStatementContext*>(context)) {
    result = for_query(query);
  } else if (auto* jump = dynamic_cast<MnemeParser::LeaveStatementContext*>(context)) {
    result = leave(jump);
  } else if (auto* each = dynamic_cast<MnemeParser::ForEachStatementContext*>(context)) {
    result = for_each(each);
  } else if (auto* end = dynamic_cast<MnemeParser::ReturnStatementContext*>(context)) {
    result.kind = StatementKind::kReturn;
    if (end->expression()) result.expr = read_expression(end->expression());
  } else if (auto* raise = dynamic_cast<MnemeParser::RaiseStatementContext*>(context)) {
    result = read_raise(raise);
  } else if (auto* assertion = dynamic_cast<MnemeParser::AssertStatementContext*>(context)) {
    result.kind = StatementKind::kAssert;
    result.expr = read_expression(assertion->expression(0));
    if (assertion->COMMA()) result.args.push_back(read_expression(assertion->expression(1)));
  } else if (auto* get = dynamic_cast<MnemeParser::DiagnosticsStatementContext*>(context)) {
    result.kind = StatementKind::kDiagnostics;
    if (get->IDENTIFIER()) expect_word(get->IDENTIFIER(), {"current", "stacked"});
    const bool stacked = get->IDENTIFIER() && lowered(get->IDENTIFIER()->getText()) == "stacked";
    for (auto* item : get->diagnostic()) {
      result.targets.push_back(target(item->target()));
      result.words.push_back((stacked ? "stacked " : "") + lowered(item->IDENTIFIER()->getText()));
    }
  } else if (auto* call = dynamic_cast<MnemeParser::CallStatementContext*>(context)) {
    result.kind = StatementKind::kCall;
    result.name = read_relation(call->callProcedure()->relation());
    for (auto* argument : call->callProcedure()->argument()) result.args.push_back(read_argument(argument));
  } else if (auto* perform = dynamic_cast<MnemeParser::PerformStatementContext*>(context)) {
    result =
        operation_statement(StatementKind::kPerform, select_rest(perform->selectRest(), perform, nullptr));
  } else if (auto* selection = dynamic_cast<MnemeParser::SelectStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, select(selection->select()));
  } else if (auto* insertion = dynamic_cast<MnemeParser::InsertStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, insert(insertion->insert()));
  } else if (auto* change = dynamic_cast<MnemeParser::UpdateStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, update(change->update()));
  } else if (auto* removal = dynamic_cast<MnemeParser::DeleteStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, delete_rows(removal->deleteRows()));
  }
  result.where = location(context);
  return result;
}

std::vector<Statement> StatementReader::statements(
    const std::vector<MnemeParser::StatementContext*>& contexts) {
  std::vector<Statement> result;
  for (auto* context : contexts) result.push_back(statement(context));
  return result;
}

syntax::Block StatementReader::block(MnemeParser::BlockContext* context) {
  syntax::Block result;
  for (auto* item : context->declaration()) {
    syntax::Declaration declaration;
    declaration.name = read_name(item->name());
    declaration.constant = item->CONSTANT() != nullptr;
    declaration.type = read_type(item->typeName());
    declaration.not_null = item->NOT() != nullptr;
    if (item->expression()) declaration.initial = read_expression(item->expression());
    result.declarations.push_back(std::move(declaration));
  }
  result.label = loop_label(context->label());
  check_label(result.label, context->labelName());
  result.statements = statements(context->statement());
  for (auto* item : context->exceptionHandler()) {
    syntax::ExceptionHandler handler;
    handler.where = location(item);
    bool others = false;
    for (auto* condition : item->exceptionCondition()) {
      const std::vector<std::string> sqlstates = read_condition(condition->IDENTIFIER(), condition->STRING());
      others |= sqlstates.empty();
      handler.sqlstates.insert(handler.sqlstates.end(), sqlstates.begin(), sqlstates.end());
    }
    if (others) handler.sqlstates.clear();
    handler.statements = statements(item->statements());
    result.handlers.push_back(std::move(handler));
  }
  return result;
}

// The one statement of LANGUAGE sql becomes what PL/pgSQL would write.
syntax::Block StatementReader::sql_body(MnemeParser::SqlBodyContext* context, bool has_result) {
  rows_go_to_user_ = true;
  syntax::Operation made = context->query()    ? query(context->query())
                           : context->insert() ? insert(context->insert())
                           : context->update() ? update(context->update())
                                               : delete_rows(context->deleteRows());
  const syntax::SourceLocation where = location(context);
  syntax::Block block;
  syntax::Statement result;
  result.kind = StatementKind::kReturn;
  result.where = where;
  if (made.kind == ir::OperationKind::kSelect) {
    std::optional<syntax::Operation> plain = plain_select(made);
    if (!plain || (has_result && (plain->items.size() != 1 || plain->items[0].star))) {
      refuse_as(
          sqlstate::kNotSupported, where,
          "a function in LANGUAGE sql is one SELECT of one value, in a form that procedures have, or one "
          "INSERT, UPDATE or DELETE; write it in plpgsql");
    }
    const bool is_value =
        plain->tables.empty() && plain->conditions.empty() && !plain->limit && !plain->offset;
    if (has_result && is_value) {
      result.expr = plain->items[0].expr;
      block.statements.push_back(std::move(result));
      return block;
    }
    made = *std::move(plain);
  } else if (!made.from.empty() || made.query) {
    refuse_as(sqlstate::kNotSupported, where,
              "a function in LANGUAGE sql changes one table; write it in plpgsql");
  }
  if (has_result && made.items.empty()) {
    refuse_as("42P13", where, "return type mismatch in function: the last statement returns no value");
  }
  syntax::Statement statement = operation_statement(
      made.items.empty() || has_result ? StatementKind::kOperation : StatementKind::kPerform,
      std::move(made));
  statement.where = where;
  if (has_result) {
    // No name of the user's holds a blank.
    syntax::Declaration value;
    value.name = {"sql result", where};
    value.type.base = "record";
    value.type.where = where;
    block.declarations.push_back(std::move(value));
    statement.operation->items[0].alias = {"value", where};
    statement.operation->into.push_back({{"sql result", where}, {}});
    result.expr = syntax::reference("sql result", "value", where);
  }
  block.statements.push_back(std::move(statement));
  block.statements.push_back(std::move(result));
  return block;
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

}  // namespace

syntax::Operation read_change_of_with(MnemeParser::CommonTableContext* context) {
  return StatementReader(nullptr).change_of_with(context);
}

syntax::Block read_block(MnemeParser::BlockContext* context, antlr4::TokenStream& tokens) {
  return StatementReader(&tokens).block(context);
}

syntax::Block read_sql_body(MnemeParser::SqlBodyContext* context, antlr4::TokenStream& tokens,
                            bool has_result) {
  return StatementReader(&tokens).sql_body(context, has_result);
}

std::shared_ptr<const syntax::Procedure> read_do(MnemeParser::DoBlockContext* context,
                                                 antlr4::TokenStream& tokens) {
  for (auto* written : context->doLanguage()) {
    const std::string language =
        written->STRING() ? read_string(written->STRING()) : lowered(written->name()->getText());
    if (language != "plpgsql") {
      refuse_as(sqlstate::kUndefinedObject, location(written),
                "language \"{}\" does not exist for DO; it is plpgsql", language);
    }
  }
  auto procedure = std::make_shared<syntax::Procedure>();
  procedure->name = {"inline_code_block", location(context)};
  procedure->body = StatementReader(&tokens).block(context->block());
  return procedure;
}

std::optional<syntax::Operation> read_operation(MnemeParser::CommandContext* context,
                                                antlr4::TokenStream& tokens) {
  return StatementReader(&tokens).operation(context);
}

}  // namespace mneme
