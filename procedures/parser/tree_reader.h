// Tree reader: ANTLR's parse tree to our syntax tree. Private to the parser: only its own .cc files see the
// generated headers, which are slow to compile.
#pragma once

#include <MnemeLexer.h>
#include <MnemeParser.h>
#include <antlr4-runtime.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "procedures/parser/syntax.h"

namespace mneme {

using mneme_grammar::MnemeLexer;
using mneme_grammar::MnemeParser;

// Stands for each byte that is not ASCII, or is zero, where ANTLR looks for tokens. A token's text has the
// bytes themselves (SourceStream in parser.cc).
inline constexpr char kNotAscii = '\x7f';

// Returns the text in lower case.
std::string lowered(std::string text);

syntax::SourceLocation location(antlr4::Token* token);
syntax::SourceLocation location(antlr4::ParserRuleContext* context);

// An identifier in lower case. Words that PostgreSQL reserves, and quoted names that are not plain, are
// refused.
syntax::Name read_name(MnemeParser::NameContext* context);
// A name that is no table's nor anything else's of the schema: in quotes, of any characters.
syntax::Name read_any_name(MnemeParser::NameContext* context);
// A name, or one behind its schema.
syntax::Name read_qualified(const std::vector<MnemeParser::NameContext*>& names);
// The qualifier of a column: a table, perhaps behind its schema. A system table's says nothing more.
syntax::Name read_source(const std::vector<MnemeParser::NameContext*>& names);
// A table, an index or a procedure.
syntax::Name read_relation(MnemeParser::RelationContext* context);
// A name without a schema, of an object that lies where the other one does.
syntax::Name read_beside(const syntax::Name& other, MnemeParser::NameContext* context);
// The name that the object has in another schema.
syntax::Name moved_name(const syntax::Name& object, MnemeParser::NameContext* schema);
// Reads a label, for which only PL/pgSQL's own reserved words are refused.
syntax::Name read_label(MnemeParser::LabelNameContext* context);
// Reads '...'. Bytes that are not valid UTF-8 are refused.
std::string read_string(antlr4::tree::TerminalNode* literal);
// Reads E'...', in which a backslash begins an escape.
std::string read_escaped_string(antlr4::tree::TerminalNode* literal);
// Writes a number with an exponent without it: 1.5e-3 as 0.0015.
std::string without_exponent(const std::string& text, syntax::SourceLocation where);
std::vector<uint32_t> read_modifiers(MnemeParser::ModifiersContext* context);
syntax::TypeName read_type(MnemeParser::TypeNameContext* context);
std::vector<syntax::TypeName> read_parameter_types(MnemeParser::ParameterTypesContext* context);
syntax::Expr read_expression(MnemeParser::ExpressionContext* context);
// An argument of a call, which may have its parameter's name before it.
syntax::Expr read_signed(MnemeParser::SignedTermContext* context);
syntax::Expr read_argument(MnemeParser::ArgumentContext* context);
syntax::Expr read_primary(MnemeParser::PrimaryContext* context);
// INTO where there is no variable.
[[noreturn]] void refuse_into(MnemeParser::IntoContext* context);
syntax::Query read_query(MnemeParser::QueryContext* context);
std::shared_ptr<const syntax::Query> read_query(MnemeParser::NestedQueryContext* context);
std::shared_ptr<const syntax::Query> read_query(MnemeParser::SelectQueryContext* context);
// The tables of WITH, and whether it is RECURSIVE.
std::vector<syntax::Query::CommonTable> read_with(MnemeParser::WithContext* context, bool& recursive);
// The sets of GROUP BY, as PostgreSQL makes them of ROLLUP, CUBE and GROUPING SETS.
std::vector<std::vector<syntax::Expr>> read_grouping_sets(
    const std::vector<MnemeParser::GroupItemContext*>& items, syntax::SourceLocation where);
// FOR UPDATE or a weaker lock. `tables`: what OF may name.
syntax::LockClause read_lock(MnemeParser::ForUpdateContext* context, const std::vector<std::string>& tables);
syntax::FromItem read_table_item(MnemeParser::TableItemContext* context);
std::vector<syntax::Expr> read_row(MnemeParser::InsertRowContext* context);
// Adds the columns and their values to the operation's.
void read_set_item(MnemeParser::SetItemContext* context, syntax::Operation& operation);
syntax::OrderItem read_order_item(MnemeParser::OrderItemContext* context);
// Refuses a word, which the lexer has no token for, that is none of those accepted here.
void expect_word(antlr4::tree::TerminalNode* word, std::initializer_list<std::string_view> accepted);
syntax::Window read_window(MnemeParser::WindowDefinitionContext* context);
syntax::Window read_window(MnemeParser::OverContext* context);
// A column's name without AS before it: a name, but for a few words.
syntax::Name read_bare_label(MnemeParser::NameContext* context);
// Any word, in lower case, or a quoted text in valid UTF-8 as it is: what follows AS in a select list.
syntax::Name read_column_label(antlr4::ParserRuleContext* context);
// Parts of an expression: the value of a column's DEFAULT is a concatenation.
syntax::Expr read_concatenation(MnemeParser::ConcatenationContext* context);
syntax::Expr read_conjunction(MnemeParser::ConjunctionContext* context);
// Returns a call, or nothing where it is none.
std::optional<syntax::Expr> read_special_call(MnemeParser::PrimaryContext* context);
syntax::Parameter read_parameter(MnemeParser::ParameterContext* context);
syntax::Query read_sql_rows(MnemeParser::SqlBodyContext* context, antlr4::TokenStream& tokens);
syntax::Block read_block(MnemeParser::BlockContext* context, antlr4::TokenStream& tokens);
// The statement of a function in LANGUAGE sql, as PL/pgSQL would write it.
syntax::Block read_sql_body(MnemeParser::SqlBodyContext* context, antlr4::TokenStream& tokens,
                            bool has_result);
// The SQLSTATEs that a condition's name or SQLSTATE 'code' means; none for OTHERS.
std::vector<std::string> read_condition(antlr4::tree::TerminalNode* word, antlr4::tree::TerminalNode* code);
syntax::Statement read_raise(MnemeParser::RaiseStatementContext* context);
// The SELECT, INSERT, UPDATE or DELETE of a session, whose rows go to the user; nothing where the command is
// another.
std::optional<syntax::Operation> read_operation(MnemeParser::CommandContext* context,
                                                antlr4::TokenStream& tokens);
// MERGE as a query whose WITH has an UPDATE, DELETE or INSERT for each WHEN, of the rows that no WHEN before
// it takes.
syntax::Operation read_merge(MnemeParser::MergeContext* context);
// The INSERT, UPDATE or DELETE that a table of WITH is.
syntax::Operation read_change_of_with(MnemeParser::CommonTableContext* context);
// The SQLSTATEs of EXCEPTION WHEN; none for OTHERS.
std::vector<std::string> read_conditions(
    const std::vector<MnemeParser::ExceptionConditionContext*>& contexts);
void check_do_language(MnemeParser::DoBlockContext* context);
// The block of DO, as a procedure without parameters.
std::shared_ptr<const syntax::Procedure> read_do(MnemeParser::DoBlockContext* context,
                                                 antlr4::TokenStream& tokens);
// with_schemas() of parser.h, of a tree (qualified_text.cc).
struct NamePath;
std::string with_schemas(antlr4::tree::ParseTree* tree, std::string_view source, const NamePath& path);
syntax::File read_file(MnemeParser::FileContext* context, std::string_view source,
                       antlr4::CommonTokenStream& tokens);
syntax::Command read_command(MnemeParser::CommandContext* context, std::string_view source,
                             antlr4::CommonTokenStream& tokens);

}  // namespace mneme
