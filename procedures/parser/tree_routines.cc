// DefinitionReader's procedures and functions.
#include <algorithm>
#include <array>

#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"
#include "procedures/parser/reserved_words.h"

namespace mneme {

syntax::Parameter read_parameter(MnemeParser::ParameterContext* context) {
  syntax::Parameter parameter;
  if (context->name()) parameter.name = read_name(context->name());
  parameter.name.where = location(context);
  parameter.out = context->OUT_() != nullptr;
  parameter.inout = parameter.out || context->INOUT() != nullptr;
  parameter.type = read_type(context->typeName());
  if (context->expression()) parameter.initial = read_expression(context->expression());
  if (parameter.out && parameter.initial)
    refuse_as("42P13", parameter.name.where, "only input parameters can have default values");
  return parameter;
}

namespace {

syntax::TypeName returned_type(MnemeParser::TypeNameContext* context) {
  syntax::TypeName type = read_type(context);
  if (type.base == "trigger" || type.base == "record" || type.base == syntax::kRowType || type.is_array) {
    refuse_as(sqlstate::kNotSupported, type.where,
              "a function returns one value of a scalar type, or void; not {}",
              type.is_array                   ? "an array"
              : type.base == syntax::kRowType ? "a row"
                                              : "a " + type.base);
  }
  return type;
}

// RETURNS type, SETOF type, or TABLE (name type, ...)
void read_returned(MnemeParser::CreateProcedureContext* context, syntax::Procedure& procedure) {
  if (context->SETOF() == nullptr && context->TABLE() == nullptr) {
    procedure.returns = returned_type(context->typeName(0));
    return;
  }
  procedure.returns_rows = true;
  const auto types = context->typeName();
  for (size_t i = 0; i < types.size(); ++i) {
    const bool is_named = context->TABLE() != nullptr;
    const syntax::TypeName type = read_type(types[i]);
    if (!is_named && type.base == "record") return;  // the OUT parameters say what
    procedure.row_columns.push_back({is_named ? read_name(context->name(i)) : procedure.name, type});
  }
}

// RETURN QUERY, one or several: the rows of one behind those of another.
std::shared_ptr<const syntax::Query> rows_of(const syntax::Block& body, const syntax::Name& name) {
  std::vector<std::shared_ptr<const syntax::Query>> queries;
  const auto refuse_body = [](syntax::SourceLocation where) {
    refuse_as(
        sqlstate::kNotSupported, where,
        "a function that returns rows is RETURN QUERY alone, once or several times; put what it computes "
        "into the query");
  };
  if (!body.declarations.empty() || !body.handlers.empty()) refuse_body(name.where);
  for (const syntax::Statement& statement : body.statements) {
    const bool is_last = &statement == &body.statements.back();
    if (is_last && statement.kind == syntax::StatementKind::kReturn && !statement.expr) break;
    if (statement.kind != syntax::StatementKind::kReturnRows) refuse_body(statement.where);
    queries.push_back(statement.operation->query);
  }
  if (queries.empty()) refuse_body(name.where);
  if (queries.size() == 1) return queries[0];
  auto all = std::make_shared<syntax::Query>();
  all->where = queries[0]->where;
  all->first.where = all->where;
  all->first.query = queries[0];
  for (size_t i = 1; i < queries.size(); ++i) {
    syntax::QueryPart part;
    part.where = queries[i]->where;
    part.query = queries[i];
    all->more.push_back({syntax::Query::Set::kUnion, true, std::move(part)});
  }
  return all;
}

std::string read_language(MnemeParser::LanguageClauseContext* context, bool is_function) {
  const std::string language =
      context->STRING() ? read_string(context->STRING()) : lowered(context->name()->getText());
  if (language != "plpgsql" && (language != "sql" || !is_function)) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "LANGUAGE {} is not supported; procedures are written in plpgsql", language);
  }
  return language;
}

// A function's cost and volatility are hints to a planner.
void check_attribute(MnemeParser::AttributeClauseContext* context) {
  constexpr auto kAttributes = std::to_array<std::string_view>(
      {"immutable", "stable", "volatile", "not leakproof", "security invoker", "parallel safe",
       "parallel unsafe", "parallel restricted", "called on null input"});
  std::string text;
  for (auto* child : context->children) text += (text.empty() ? "" : " ") + lowered(child->getText());
  if (text.starts_with("cost ") || std::ranges::find(kAttributes, text) != kAttributes.end()) return;
  refuse_as(sqlstate::kNotSupported, location(context), "the attribute \"{}\" is not supported; leave it out",
            text);
}

}  // namespace

syntax::Procedure DefinitionReader::procedure(MnemeParser::CreateProcedureContext* context) {
  syntax::Procedure procedure;
  procedure.name = read_relation(context->relation());
  procedure.replaces = context->REPLACE() != nullptr;
  procedure.is_function = context->FUNCTION() != nullptr;
  const std::string_view word = procedure.is_function ? "function" : "procedure";
  if (is_reserved_for_procedures(procedure.name.text)) {
    refuse(procedure.name.where, "PostgreSQL does not take {} for a {}'s name; choose another",
           procedure.name.text, word);
  }
  for (auto* item : context->parameter()) procedure.parameters.push_back(read_parameter(item));
  if (context->RETURNS()) {
    if (!procedure.is_function)
      refuse(location(context->typeName(0)), "a procedure returns nothing; give it an INOUT parameter");
    read_returned(context, procedure);
  } else if (procedure.is_function && std::ranges::none_of(procedure.parameters, &syntax::Parameter::inout)) {
    refuse_as("42P13", procedure.name.where,
              "function result type must be specified: write RETURNS and a type");
  }
  MnemeParser::BodyClauseContext* body = nullptr;
  MnemeParser::ReturnClauseContext* returned = nullptr;
  std::optional<std::string> language;
  for (auto* clause : context->procedureClause()) {
    if (auto* names = dynamic_cast<MnemeParser::LanguageClauseContext*>(clause)) {
      if (language)
        refuse(location(names), "{} {} says its LANGUAGE twice; leave one out", word, procedure.name.text);
      language = read_language(names, procedure.is_function);
    } else if (auto* given = dynamic_cast<MnemeParser::BodyClauseContext*>(clause)) {
      if (body != nullptr) refuse(location(given), "{} {} has a second body", word, procedure.name.text);
      body = given;
    } else if (auto* value = dynamic_cast<MnemeParser::ReturnClauseContext*>(clause)) {
      if (returned != nullptr || !procedure.is_function)
        refuse(location(value), "{} {} has a second body", word, procedure.name.text);
      returned = value;
    } else if (!procedure.is_function && lowered(clause->getStart()->getText()) != "security") {
      refuse_as("42P13", location(clause), "invalid attribute in procedure definition");
    } else if (auto* attribute = dynamic_cast<MnemeParser::AttributeClauseContext*>(clause)) {
      check_attribute(attribute);
    } else {
      procedure.is_strict = true;
    }
  }
  if (returned != nullptr && body != nullptr)
    refuse(location(returned), "{} {} has a second body", word, procedure.name.text);
  if (returned != nullptr) {
    if (language && *language != "sql")
      refuse_as("42P13", location(returned), "inline SQL function body only valid for language SQL");
    procedure.is_sql = true;
    if (procedure.returns_rows) {
      refuse_as(sqlstate::kNotSupported, location(returned),
                "a function that returns rows has its query in $$; write AS $$ SELECT ... $$");
    }
    syntax::Statement& result = procedure.body.statements.emplace_back();
    result.kind = syntax::StatementKind::kReturn;
    result.where = location(returned);
    result.expr = read_expression(returned->expression());
    return procedure;
  }
  if (!language) {
    refuse(procedure.name.where, "{} {} does not say LANGUAGE plpgsql", word, procedure.name.text);
  }
  if (body == nullptr)
    refuse(procedure.name.where, "{} {} has no body; write AS $$ BEGIN ... END $$", word,
           procedure.name.text);
  check_dollar_quotes(body);
  procedure.is_sql = *language == "sql";
  if (procedure.is_sql != (body->sqlBody() != nullptr)) {
    refuse(location(body),
           "the body is not in LANGUAGE {}: plpgsql's is BEGIN ... END, and sql's one statement", *language);
  }
  if (procedure.returns_rows) {
    if (body->block() == nullptr) {
      procedure.rows = std::make_shared<const syntax::Query>(read_sql_rows(body->sqlBody(), tokens_));
    } else {
      procedure.rows = rows_of(read_block(body->block(), tokens_), procedure.name);
    }
    return procedure;
  }
  procedure.body = body->block() ? read_block(body->block(), tokens_)
                                 : read_sql_body(body->sqlBody(), tokens_, !procedure.returns_void());
  return procedure;
}

// PostgreSQL ends the body at the first repetition of its opening quote, be it in a string, a comment or a
// name.
void DefinitionReader::check_dollar_quotes(MnemeParser::BodyClauseContext* context) {
  antlr4::Token* open = context->DOLLAR_QUOTE(0)->getSymbol();
  antlr4::Token* close = context->DOLLAR_QUOTE(1)->getSymbol();
  const std::string quote = open->getText();
  for (size_t i = open->getTokenIndex() + 1; i < close->getTokenIndex(); ++i) {
    if (tokens_.get(i)->getText().find(quote) != std::string::npos) {
      refuse(location(tokens_.get(i)),
             "{} appears inside the body that it quotes; use another quote, as $body$", quote);
    }
  }
  if (close->getText() != quote) {
    refuse(location(close), "the body opens with {} and closes with {}; both quotes are the same", quote,
           close->getText());
  }
  antlr4::Token* before = tokens_.get(open->getTokenIndex() - 1);
  if (before->getType() == MnemeLexer::AS) {
    refuse(location(before), "PostgreSQL reads \"{}{}\" as a name; put a blank between", before->getText(),
           quote);
  }
}

}  // namespace mneme
