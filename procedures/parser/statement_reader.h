// Statement reader: makes syntax of a body's statements and of database operations. Private to the parser:
// tree_statements.cc has PL/pgSQL's statements, tree_operations.cc SQL's operations.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "procedures/parser/tree_reader.h"

namespace mneme {

class StatementReader {
 public:
  // Without tokens, an operation's text is as it was written, on however many lines.
  explicit StatementReader(antlr4::TokenStream* tokens) : tokens_(tokens) {}

  syntax::Block block(MnemeParser::BlockContext* context);
  std::optional<syntax::Operation> operation(MnemeParser::CommandContext* context);
  syntax::Block sql_body(MnemeParser::SqlBodyContext* context, bool has_result);
  // LANGUAGE sql, of a function that returns rows.
  syntax::Query sql_rows(MnemeParser::SqlBodyContext* context);
  syntax::Operation change_of_with(MnemeParser::CommonTableContext* context);

 private:
  std::vector<syntax::Statement> statements(const std::vector<MnemeParser::StatementContext*>& contexts);
  std::vector<syntax::Statement> statements(MnemeParser::StatementsContext* context) {
    return statements(context->statement());
  }
  syntax::Statement statement(MnemeParser::StatementContext* context);
  syntax::Statement if_statement(MnemeParser::IfStatementContext* context);
  syntax::Statement case_statement(MnemeParser::CaseStatementContext* context);
  syntax::Statement for_range(MnemeParser::ForRangeStatementContext* context);
  syntax::Statement for_query(MnemeParser::ForQueryStatementContext* context);
  syntax::Statement for_each(MnemeParser::ForEachStatementContext* context);
  syntax::Statement for_cursor(MnemeParser::ForCursorStatementContext* context);
  syntax::Statement cursor_statement(MnemeParser::CursorStatementContext* context);
  syntax::Statement fetch(MnemeParser::FetchStatementContext* context);
  static syntax::Name read_cursor(MnemeParser::CursorCallContext* context, syntax::Statement& statement);
  std::shared_ptr<const syntax::Cursor> cursor(MnemeParser::DeclarationContext* context);
  syntax::Statement leave(MnemeParser::LeaveStatementContext* context);
  syntax::Statement operation_statement(syntax::StatementKind kind, syntax::Operation operation);

  syntax::Operation query(MnemeParser::QueryContext* context);
  // A procedure's: it has the clauses, too, where it is of the procedures' form, and INTO.
  syntax::Operation query_of_procedure(MnemeParser::QueryContext* context);
  syntax::Operation insert(MnemeParser::InsertContext* context);
  syntax::OnConflict on_conflict(MnemeParser::OnConflictContext* context,
                                 const std::vector<syntax::TableReference>& tables);
  syntax::Operation update(MnemeParser::UpdateContext* context);
  syntax::Operation delete_rows(MnemeParser::DeleteRowsContext* context);

  syntax::Operation begin(ir::OperationKind kind, antlr4::ParserRuleContext* context);
  void read_into(MnemeParser::IntoContext* context, syntax::Operation& operation);
  void read_returning(MnemeParser::ReturningContext* context, syntax::Operation& operation);
  syntax::SelectItem select_item(MnemeParser::SelectItemContext* context);
  syntax::Target target(MnemeParser::TargetContext* context);
  // PL/pgSQL takes the first `end` outside of parentheses for the end of the expression, and a CASE has such
  // words of its own.
  syntax::Expr expression_before(size_t end, std::string_view word, MnemeParser::ExpressionContext* context);
  std::string one_line(antlr4::ParserRuleContext* context);
  antlr4::TokenStream* const tokens_;
  bool rows_go_to_user_ = false;  // of a session's statement, not of a procedure's
};

}  // namespace mneme
