// PL/pgSQL's statements of the syntax tree.
#include <utility>

#include "procedures/ir/source_error.h"
#include "procedures/parser/plain_query.h"
#include "procedures/parser/statement_reader.h"

namespace mneme {

using syntax::Statement;
using syntax::StatementKind;

namespace {

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

// SELECT * FROM (query) AS "the rows" (name)
std::shared_ptr<const syntax::Query> with_column_named(const syntax::Query& query, const std::string& name) {
  auto named = std::make_shared<syntax::Query>();
  named->where = named->first.where = query.where;
  named->text = query.text;
  syntax::SelectCore& core = named->first.select.emplace();
  core.where = query.where;
  core.items.push_back({.star = true, .qualifier = {}, .expr = {}, .alias = {}});
  core.items[0].expr.where = query.where;
  syntax::FromItem& from = core.from.emplace_back();
  from.kind = syntax::FromItem::Kind::kQuery;
  from.where = query.where;
  from.alias = {"the rows", query.where};
  from.column_aliases = {{name, query.where}};
  from.query = std::make_shared<const syntax::Query>(query);
  return named;
}

}  // namespace

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
  Statement statement = operation_statement(StatementKind::kForQuery, query_of_procedure(context->query()));
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

syntax::Name StatementReader::read_cursor(MnemeParser::CursorCallContext* context, Statement& statement) {
  for (auto* argument : context->argument()) statement.args.push_back(read_argument(argument));
  return read_name(context->name());
}

Statement StatementReader::for_cursor(MnemeParser::ForCursorStatementContext* context) {
  Statement statement;
  statement.kind = StatementKind::kForCursor;
  statement.label = loop_label(context->label());
  check_label(statement.label, context->labelName());
  statement.target.name = read_name(context->name());
  statement.name = read_cursor(context->cursorCall(), statement);
  statement.body = statements(context->statements());
  return statement;
}

// OPEN, CLOSE, and MOVE to the next row.
Statement StatementReader::cursor_statement(MnemeParser::CursorStatementContext* context) {
  expect_word(context->IDENTIFIER(), {"open", "close", "move"});
  const std::string word = lowered(context->IDENTIFIER()->getText());
  Statement statement;
  statement.kind = word == "open"    ? StatementKind::kOpen
                   : word == "close" ? StatementKind::kClose
                                     : StatementKind::kFetch;
  statement.name = read_cursor(context->cursorCall(), statement);
  if (word == "move") statement.words.push_back("next");
  return statement;
}

Statement StatementReader::fetch(MnemeParser::FetchStatementContext* context) {
  if (context->IDENTIFIER()) expect_word(context->IDENTIFIER(), {"move"});
  Statement statement;
  statement.kind = StatementKind::kFetch;
  statement.words.push_back("next");
  auto* const move = context->cursorMove();
  if (move != nullptr && move->IDENTIFIER()) {
    expect_word(move->IDENTIFIER(),
                {"next", "prior", "first", "last", "absolute", "relative", "forward", "backward"});
    statement.words[0] = lowered(move->IDENTIFIER()->getText());
    const bool has_number = statement.words[0] == "absolute" || statement.words[0] == "relative";
    if (has_number != (move->signedTerm() != nullptr))
      refuse(location(move),
             "FETCH in PL/pgSQL takes one row: NEXT, PRIOR, FIRST, LAST, ABSOLUTE n, RELATIVE n");
    if (has_number) statement.expr = read_signed(move->signedTerm());
  }
  statement.name = read_cursor(context->cursorCall(), statement);
  for (auto* item : context->target()) statement.targets.push_back(target(item));
  if (context->FETCH() && statement.targets.empty())
    refuse(location(context), "FETCH needs INTO and what takes the row; MOVE goes past one");
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
  } else if (auto* loop_of = dynamic_cast<MnemeParser::ForCursorStatementContext*>(context)) {
    result = for_cursor(loop_of);
  } else if (auto* cursor = dynamic_cast<MnemeParser::CursorStatementContext*>(context)) {
    result = cursor_statement(cursor);
  } else if (auto* fetched = dynamic_cast<MnemeParser::FetchStatementContext*>(context)) {
    result = fetch(fetched);
  } else if (auto* rows = dynamic_cast<MnemeParser::ReturnRowsStatementContext*>(context)) {
    if (rows->expression() != nullptr || lowered(rows->IDENTIFIER()->getText()) != "query") {
      expect_word(rows->IDENTIFIER(), {"query", "next"});
      refuse_as(sqlstate::kNotSupported, location(rows),
                "RETURN NEXT is not supported; write RETURN QUERY of all rows");
    }
    result = operation_statement(StatementKind::kReturnRows, this->query(rows->query()));
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
  } else if (auto* selection = dynamic_cast<MnemeParser::QueryStatementContext*>(context)) {
    auto* core = selection->query()->selectCore();
    const bool performs = core != nullptr && core->PERFORM() != nullptr;
    result = operation_statement(performs ? StatementKind::kPerform : StatementKind::kOperation,
                                 query_of_procedure(selection->query()));
    if (performs && !result.operation->into.empty())
      refuse(result.operation->where, "PERFORM drops its rows; write SELECT where INTO is to take one");
  } else if (auto* insertion = dynamic_cast<MnemeParser::InsertStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, insert(insertion->insert()));
  } else if (auto* change = dynamic_cast<MnemeParser::UpdateStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, update(change->update()));
  } else if (auto* removal = dynamic_cast<MnemeParser::DeleteStatementContext*>(context)) {
    result = operation_statement(StatementKind::kOperation, delete_rows(removal->deleteRows()));
  } else if (auto* merge = dynamic_cast<MnemeParser::MergeStatementContext*>(context)) {
    refuse_as(sqlstate::kNotSupported, location(merge),
              "MERGE is not supported in a procedure; use UPDATE ... FROM, DELETE ... USING and "
              "INSERT ... SELECT");
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

std::shared_ptr<const syntax::Cursor> StatementReader::cursor(MnemeParser::DeclarationContext* context) {
  auto cursor = std::make_shared<syntax::Cursor>();
  const auto words = context->IDENTIFIER();
  for (size_t i = 0; i + 1 < words.size(); ++i) {
    expect_word(words[i], {"no", "scroll"});
    if (lowered(words[i]->getText()) == "no") {
      refuse_as(sqlstate::kNotSupported, location(words[i]->getSymbol()),
                "NO SCROLL is not supported: every cursor goes back, too; leave it out");
    }
  }
  expect_word(words.back(), {"cursor"});
  for (auto* item : context->parameter()) {
    cursor->parameters.push_back(read_parameter(item));
    const syntax::Parameter& parameter = cursor->parameters.back();
    if (parameter.initial || parameter.inout)
      refuse(parameter.name.where, "a cursor's argument is a name and a type");
  }
  cursor->query = query_of_procedure(context->query());
  if (!cursor->query.into.empty())
    refuse(cursor->query.where, "INTO has no place in a cursor's query; FETCH says where the rows go");
  return cursor;
}

syntax::Block StatementReader::block(MnemeParser::BlockContext* context) {
  syntax::Block result;
  for (auto* item : context->declaration()) {
    syntax::Declaration declaration;
    declaration.name = read_name(item->name());
    if (item->query() != nullptr) {
      declaration.cursor = cursor(item);
      result.declarations.push_back(std::move(declaration));
      continue;
    }
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
    handler.sqlstates = read_conditions(item->exceptionCondition());
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
    const bool is_value = plain && plain->tables.empty() && plain->conditions.empty() && !plain->limit &&
                          !plain->offset && plain->items.size() == 1 && !plain->items[0].star;
    if (has_result && is_value) {
      result.expr = plain->items[0].expr;
      block.statements.push_back(std::move(result));
      return block;
    }
    if (plain && !(has_result && (plain->items.size() != 1 || plain->items[0].star))) {
      plain->query = made.query;
      made = *std::move(plain);
    }
    if (has_result) made.query = with_column_named(*made.query, "value");
  }
  if (has_result && made.items.empty() && made.kind != ir::OperationKind::kSelect) {
    refuse_as("42P13", where, "return type mismatch in function: the last statement returns no value");
  }
  const bool performs = !has_result && (made.kind == ir::OperationKind::kSelect || !made.items.empty());
  syntax::Statement statement =
      operation_statement(performs ? StatementKind::kPerform : StatementKind::kOperation, std::move(made));
  statement.where = where;
  if (has_result) {
    // No name of the user's holds a blank.
    syntax::Declaration value;
    value.name = {"sql result", where};
    value.type.base = "record";
    value.type.where = where;
    block.declarations.push_back(std::move(value));
    if (!statement.operation->items.empty()) statement.operation->items[0].alias = {"value", where};
    statement.operation->into.push_back({{"sql result", where}, {}});
    result.expr = syntax::reference("sql result", "value", where);
  }
  block.statements.push_back(std::move(statement));
  block.statements.push_back(std::move(result));
  return block;
}

syntax::Query StatementReader::sql_rows(MnemeParser::SqlBodyContext* context) {
  rows_go_to_user_ = true;
  if (context->query() == nullptr) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "a function that returns rows is one query; what changes rows is a procedure");
  }
  return *query(context->query()).query;
}

syntax::Query read_sql_rows(MnemeParser::SqlBodyContext* context, antlr4::TokenStream& tokens) {
  return StatementReader(&tokens).sql_rows(context);
}

syntax::Block read_block(MnemeParser::BlockContext* context, antlr4::TokenStream& tokens) {
  return StatementReader(&tokens).block(context);
}

syntax::Block read_sql_body(MnemeParser::SqlBodyContext* context, antlr4::TokenStream& tokens,
                            bool has_result) {
  return StatementReader(&tokens).sql_body(context, has_result);
}

std::vector<std::string> read_conditions(
    const std::vector<MnemeParser::ExceptionConditionContext*>& contexts) {
  std::vector<std::string> all;
  for (auto* context : contexts) {
    const std::vector<std::string> sqlstates = read_condition(context->IDENTIFIER(), context->STRING());
    if (sqlstates.empty()) return {};
    all.insert(all.end(), sqlstates.begin(), sqlstates.end());
  }
  return all;
}

void check_do_language(MnemeParser::DoBlockContext* context) {
  for (auto* written : context->doLanguage()) {
    const std::string language =
        written->STRING() ? read_string(written->STRING()) : lowered(written->name()->getText());
    if (language != "plpgsql") {
      refuse_as(sqlstate::kUndefinedObject, location(written),
                "language \"{}\" does not exist for DO; it is plpgsql", language);
    }
  }
}

std::shared_ptr<const syntax::Procedure> read_do(MnemeParser::DoBlockContext* context,
                                                 antlr4::TokenStream& tokens) {
  auto procedure = std::make_shared<syntax::Procedure>();
  procedure->name = {"inline_code_block", location(context)};
  procedure->body = StatementReader(&tokens).block(context->block());
  return procedure;
}

}  // namespace mneme
