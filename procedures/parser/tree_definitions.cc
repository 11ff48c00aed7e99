// A file's definitions, and the commands of a session that are no database operations.
#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {
namespace {

constexpr uint32_t kMostParameters = 65'535;  // as many as the protocol of PostgreSQL counts

std::string definition_word(std::string text) {
  std::ranges::transform(text, text.begin(), ascii_lower);
  return text;
}

class DefinitionReader {
 public:
  DefinitionReader(std::string_view source, antlr4::CommonTokenStream& tokens)
      : source_(source), tokens_(tokens) {}

  syntax::File read(MnemeParser::FileContext* context) {
    syntax::File file;
    for (auto* item : context->definition()) file.push_back(definition(item));
    return file;
  }

  syntax::Command read(MnemeParser::CommandContext* context) {
    syntax::Command command;
    command.where = location(context);
    command.parameters = count_parameters();
    command.operation = read_operation(context, tokens_);
    if (auto* call = context->callProcedure()) {
      command.kind = syntax::Command::Kind::kCall;
      command.name = read_relation(call->relation());
      for (auto* argument : call->expression()) command.args.push_back(read_expression(argument));
    } else if (context->definition()) {
      command.definition = definition(context->definition());
      command.kind =
          command.definition->alteration ? syntax::Command::Kind::kAlter : syntax::Command::Kind::kCreate;
    } else if (auto* drop = context->drop()) {
      command.kind = syntax::Command::Kind::kDrop;
      for (auto* name : drop->relation()) command.names.push_back(read_relation(name));
      command.if_exists = drop->EXISTS() != nullptr;
      command.cascades = drop->CASCADE() != nullptr;
      command.dropped = drop->TABLE()   ? syntax::DefinitionKind::kTable
                        : drop->INDEX() ? syntax::DefinitionKind::kIndex
                                        : syntax::DefinitionKind::kProcedure;
      command.routine = drop->FUNCTION()  ? syntax::RoutineKind::kFunction
                        : drop->ROUTINE() ? syntax::RoutineKind::kAny
                                          : syntax::RoutineKind::kProcedure;
      read_parameter_types(drop, command);
    } else if (auto* truncate = context->truncate()) {
      command.kind = syntax::Command::Kind::kTruncate;
      for (auto* name : truncate->relation()) command.names.push_back(read_relation(name));
      command.cascades = truncate->CASCADE() != nullptr;
    } else if (auto* control = context->transactionControl()) {
      const bool begins = control->BEGIN() || control->START();
      command.read_only = read_modes(control->transactionMode());
      if (control->name()) {
        command.name = read_name(control->name());
        command.kind = control->ROLLBACK()  ? syntax::Command::Kind::kRollBackTo
                       : control->RELEASE() ? syntax::Command::Kind::kRelease
                                            : syntax::Command::Kind::kSavepoint;
        return command;
      }
      command.kind = begins                ? syntax::Command::Kind::kBegin
                     : control->ROLLBACK() ? syntax::Command::Kind::kRollBack
                                           : syntax::Command::Kind::kCommit;
    }
    return command;
  }

 private:
  static void read_parameter_types(MnemeParser::DropContext* drop, syntax::Command& command) {
    for (auto* child : drop->children) {
      if (dynamic_cast<MnemeParser::RelationContext*>(child) != nullptr)
        command.parameter_types.emplace_back();
      auto* types = dynamic_cast<MnemeParser::ParameterTypesContext*>(child);
      if (types == nullptr) continue;
      auto& last = command.parameter_types.back().emplace();
      for (auto* item : types->parameterType()) {
        // A procedure's OUT parameters may be left out, and a function's are.
        if (!item->OUT_()) last.push_back(read_type(item->typeName()));
      }
    }
  }

  uint32_t count_parameters() const {
    uint32_t most = 0;
    for (antlr4::Token* token : tokens_.getTokens()) {
      if (token->getType() != MnemeLexer::PARAMETER) continue;
      const std::string digits = token->getText().substr(1);
      if (digits.size() > 5 || std::stoul(digits) > kMostParameters || std::stoul(digits) == 0) {
        refuse_as(sqlstate::kUndefinedParameter, location(token),
                  "there is no parameter ${}: they are numbered from 1 to {}", digits, kMostParameters);
      }
      most = std::max(most, static_cast<uint32_t>(std::stoul(digits)));
    }
    return most;
  }

  syntax::Definition definition(MnemeParser::DefinitionContext* context) {
    syntax::Definition definition;
    if (context->createTable()) definition.table = table(context->createTable());
    if (context->createIndex()) definition.index = index(context->createIndex());
    if (context->alterTable()) definition.alteration = alteration(context->alterTable());
    if (context->createProcedure()) {
      definition.procedure = std::make_shared<const syntax::Procedure>(procedure(context->createProcedure()));
    }
    // The parser's text has a character for each byte of the source.
    const size_t begin = context->getStart()->getStartIndex();
    definition.text = source_.substr(begin, context->getStop()->getStopIndex() + 1 - begin);
    if (definition.table && !definition.table->foreign_keys.empty())
      take_out_foreign_keys(context->createTable(), begin, definition);
    return definition;
  }

  // What is taken out leaves blanks, so that places in the text stay as they are.
  void take_out_foreign_keys(MnemeParser::CreateTableContext* context, size_t begin,
                             syntax::Definition& definition) const {
    std::string& text = definition.text_without_foreign_keys = definition.text;
    const auto blank = [&](antlr4::Token* first, antlr4::Token* last) {
      for (size_t at = first->getStartIndex(); at <= last->getStopIndex(); ++at) {
        if (text[at - begin] != '\n') text[at - begin] = ' ';
      }
    };
    const auto add = [&](antlr4::Token* name, antlr4::Token* first, antlr4::Token* last,
                         std::string_view columns) {
      std::string added = "ALTER TABLE " + definition.table->name.text + " ADD ";
      if (name != nullptr) added += "CONSTRAINT " + name->getText() + " ";
      added += columns;
      added += source_.substr(first->getStartIndex(), last->getStopIndex() + 1 - first->getStartIndex());
      definition.foreign_keys.push_back(std::move(added));
    };
    const auto elements = context->tableElement();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (auto* column = elements[i]->column()) {
        for (auto* item : column->columnConstraint()) {
          auto* key = dynamic_cast<MnemeParser::ReferencesColumnContext*>(item);
          if (key == nullptr) continue;
          add(key->name() ? key->name()->getStart() : nullptr, key->references()->getStart(), key->getStop(),
              "FOREIGN KEY (" + read_name(column->name()).text + ") ");
          blank(key->getStart(), key->getStop());
        }
        continue;
      }
      auto* key = dynamic_cast<MnemeParser::TableForeignKeyContext*>(elements[i]->tableConstraint());
      if (key == nullptr) continue;
      add(key->name() ? key->name()->getStart() : nullptr, key->FOREIGN()->getSymbol(), key->getStop(), "");
      blank(key->getStart(), key->getStop());
      if (context->COMMA().empty()) continue;
      antlr4::Token* comma = context->COMMA(i == 0 ? 0 : i - 1)->getSymbol();
      blank(comma, comma);
    }
  }

  static std::vector<syntax::Name> names(MnemeParser::NameListContext* context) {
    std::vector<syntax::Name> result;
    for (auto* name : context->name()) result.push_back(read_name(name));
    return result;
  }

  template <typename Context>
  static syntax::UniqueConstraint constraint(Context* context, MnemeParser::NameContext* name,
                                             std::vector<syntax::Name> columns) {
    return {name ? read_name(name) : syntax::Name(), std::move(columns), location(context)};
  }

  // The modes of a block. Every isolation level is accepted, as what runs is serializable, and so at least as
  // strict. Returns whether the last one says READ ONLY.
  static bool read_modes(const std::vector<MnemeParser::TransactionModeContext*>& modes) {
    std::string text;
    for (auto* mode : modes) text += definition_word(mode->getText()) + " ";
    static constexpr std::array<std::string_view, 8> kModes = {"isolation level serializable ",
                                                               "isolation level repeatable read ",
                                                               "isolation level read committed ",
                                                               "isolation level read uncommitted ",
                                                               "read write ",
                                                               "read only ",
                                                               "not deferrable ",
                                                               "deferrable "};
    bool read_only = false;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto found =
          std::ranges::find_if(kModes, [&](std::string_view mode) { return rest.starts_with(mode); });
      if (found == kModes.end()) {
        refuse(location(modes.front()),
               "\"{}\" is no mode of a transaction; there are ISOLATION LEVEL ..., READ ONLY and READ WRITE",
               rest.substr(0, rest.size() - 1));
      }
      if (found->starts_with("read")) read_only = *found == "read only ";
      rest.remove_prefix(found->size());
      if (rest.starts_with(", ")) rest.remove_prefix(2);
    }
    return read_only;
  }

  syntax::Alteration alteration(MnemeParser::AlterTableContext* context) const {
    syntax::Alteration made;
    made.table = read_relation(context->relation());
    made.if_exists = context->EXISTS() != nullptr;
    if (context->column()) {
      syntax::Table& added = made.added.emplace();
      added.name = made.table;
      added.if_not_exists = context->ifNotExists() != nullptr;
      column(context->column(), added);
      if (added.columns[0].is_serial || !added.foreign_keys.empty()) {
        refuse_as(sqlstate::kNotSupported, location(context->column()),
                  "ADD COLUMN of a SERIAL column or with REFERENCES is not supported; add a column, then its "
                  "foreign "
                  "key");
      }
      return made;
    }
    if (context->DROP()) {
      made.dropped = read_name(context->name());
      made.if_column_exists = context->ifExists() != nullptr;
      return made;
    }
    auto* item = context->tableConstraint();
    if (auto* key = dynamic_cast<MnemeParser::TablePrimaryKeyContext*>(item)) {
      made.primary_key = constraint(key, key->name(), names(key->nameList()));
    } else if (auto* unique = dynamic_cast<MnemeParser::TableUniqueContext*>(item)) {
      made.unique = constraint(unique, unique->name(), names(unique->nameList()));
    } else if (auto* check = dynamic_cast<MnemeParser::TableCheckContext*>(item)) {
      made.check = read_check(check->check(), check->name());
    } else if (auto* key = dynamic_cast<MnemeParser::TableForeignKeyContext*>(item)) {
      made.foreign_key = foreign_key(key->references(), key->name(), names(key->nameList()));
    }
    return made;
  }

  syntax::Check read_check(MnemeParser::CheckContext* context, MnemeParser::NameContext* name) const {
    syntax::Check check;
    if (name) check.name = read_name(name);
    check.condition = read_expression(context->expression());
    const size_t begin = context->expression()->getStart()->getStartIndex();
    check.text = source_.substr(begin, context->expression()->getStop()->getStopIndex() + 1 - begin);
    return check;
  }

  static syntax::ForeignKey foreign_key(MnemeParser::ReferencesContext* context,
                                        MnemeParser::NameContext* name, std::vector<syntax::Name> columns) {
    syntax::ForeignKey key;
    key.where = location(context);
    if (name) key.name = read_name(name);
    key.columns = std::move(columns);
    key.table = read_relation(context->relation());
    if (context->nameList()) key.referenced = names(context->nameList());
    for (auto* clause : context->referenceClause()) {
      if (clause->referenceAction()) {
        (clause->DELETE_() ? key.on_delete : key.on_update) = reference_action(clause->referenceAction());
        continue;
      }
      const std::string text = definition_word(clause->getText());
      if (text == "matchsimple" || text == "notdeferrable" || text == "initiallyimmediate") continue;
      if (text == "deferrable" || text == "initiallydeferred" || text == "matchfull" ||
          text == "matchpartial") {
        refuse_as(sqlstate::kNotSupported, location(clause),
                  "{} is not supported: a foreign key is MATCH SIMPLE and NOT DEFERRABLE", one_text(clause));
      }
      refuse(location(clause), "\"{}\" is not understood here", one_text(clause));
    }
    return key;
  }

  static std::string one_text(MnemeParser::ReferenceClauseContext* clause) {
    std::string text;
    for (auto* child : clause->children) text += (text.empty() ? "" : " ") + child->getText();
    return text;
  }

  static ForeignKeyAction reference_action(MnemeParser::ReferenceActionContext* context) {
    if (context->RESTRICT()) return ForeignKeyAction::kRestrict;
    if (context->CASCADE()) return ForeignKeyAction::kCascade;
    if (context->NULL_()) return ForeignKeyAction::kSetNull;
    if (context->DEFAULT()) return ForeignKeyAction::kSetDefault;
    if (definition_word(context->getText()) == "noaction") return ForeignKeyAction::kNoAction;
    refuse(location(context),
           "\"{}\" is not understood here; expected NO ACTION, RESTRICT, CASCADE or SET NULL",
           context->getText());
  }

  static void set_primary_key(syntax::Table& table, syntax::UniqueConstraint key) {
    if (table.primary_key)
      refuse(key.where, "table {} has a second PRIMARY KEY; one is accepted", table.name.text);
    table.primary_key = std::move(key);
  }

  // SERIAL is an integer that draws its DEFAULT from a sequence.
  static void make_serial(syntax::ColumnDefinition& column) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSerials = {
        {{"serial", "int"},
         {"serial4", "int"},
         {"bigserial", "bigint"},
         {"serial8", "bigint"},
         {"smallserial", "smallint"},
         {"serial2", "smallint"}}};
    for (const auto& [serial, integer] : kSerials) {
      if (column.type.base != serial || column.type.is_array || !column.type.modifiers.empty()) continue;
      column.type.base = integer;
      column.is_serial = column.not_null = true;
    }
  }

  static void check_identity(MnemeParser::IdentityContext* context) {
    const auto words = context->IDENTIFIER();
    const bool by_default = context->BY() != nullptr;
    if (lowered(words.back()->getText()) != "identity")
      refuse(location(context), "\"{}\" is not understood here", words.back()->getText());
    if (!by_default) {
      refuse_as(sqlstate::kNotSupported, location(context),
                "GENERATED {} is not supported; write GENERATED BY DEFAULT AS IDENTITY", words[0]->getText());
    }
  }

  // The DEFAULT of a SERIAL column.
  static void draw_from_sequence(const syntax::Table& table, syntax::ColumnDefinition& column) {
    if (column.initial) {
      refuse(column.initial->where, "multiple default values specified for column \"{}\" of table \"{}\"",
             column.name.text, table.name.text);
    }
    const std::string sequence = syntax::sequence_name(table.name.text, column.name.text);
    column.initial_text = "nextval('" + sequence + "')";
    syntax::Expr name;
    name.kind = syntax::ExprKind::kString;
    name.text = sequence;
    name.where = column.type.where;
    syntax::Expr call;
    call.kind = syntax::ExprKind::kCall;
    call.text = "nextval";
    call.where = column.type.where;
    call.args.push_back(std::move(name));
    column.initial = std::move(call);
  }

  void column(MnemeParser::ColumnContext* context, syntax::Table& table) const {
    syntax::ColumnDefinition column{read_name(context->name()), read_type(context->typeName())};
    bool is_nullable = false;
    bool has_collation = false;
    make_serial(column);
    for (auto* item : context->columnConstraint()) {
      if (dynamic_cast<MnemeParser::NotNullContext*>(item)) {
        column.not_null = true;
      } else if (dynamic_cast<MnemeParser::NullableContext*>(item)) {
        is_nullable = true;
      } else if (auto* key = dynamic_cast<MnemeParser::PrimaryKeyContext*>(item)) {
        set_primary_key(table, constraint(key, key->name(), {column.name}));
      } else if (auto* unique = dynamic_cast<MnemeParser::UniqueColumnContext*>(item)) {
        table.unique.push_back(constraint(unique, unique->name(), {column.name}));
      } else if (auto* check = dynamic_cast<MnemeParser::CheckColumnContext*>(item)) {
        table.checks.push_back(read_check(check->check(), check->name()));
        table.checks.back().is_of_column = true;
      } else if (auto* references = dynamic_cast<MnemeParser::ReferencesColumnContext*>(item)) {
        table.foreign_keys.push_back(
            foreign_key(references->references(), references->name(), {column.name}));
      } else if (auto* initial = dynamic_cast<MnemeParser::DefaultValueContext*>(item)) {
        if (column.initial)
          refuse(location(initial), "column {} has a second DEFAULT; leave one out", column.name.text);
        column.initial = read_default(initial);
        const size_t begin = initial->concatenation()->getStart()->getStartIndex();
        column.initial_text =
            source_.substr(begin, initial->concatenation()->getStop()->getStopIndex() + 1 - begin);
      } else if (auto* identity = dynamic_cast<MnemeParser::IdentityContext*>(item)) {
        check_identity(identity);
        column.is_serial = column.not_null = true;
      } else if (auto* collation = dynamic_cast<MnemeParser::CollationContext*>(item)) {
        if (collation->QUOTED_IDENTIFIER()->getText() != "\"C\"") {
          refuse_as(sqlstate::kNotSupported, location(collation),
                    "COLLATE {} is not supported: strings compare by their bytes; use COLLATE \"C\" or none",
                    collation->QUOTED_IDENTIFIER()->getText());
        }
        static constexpr std::array<std::string_view, 3> kStrings = {"char", "varchar", "text"};
        if (std::ranges::find(kStrings, column.type.base) == kStrings.end()) {
          refuse(location(collation), "COLLATE is for strings, and column {} is none; leave it out",
                 column.name.text);
        }
        if (has_collation)
          refuse(location(collation), "column {} has a second COLLATE; leave it out", column.name.text);
        has_collation = true;
      }
      if (is_nullable && column.not_null) {
        refuse(location(item), "column {} is declared both NULL and NOT NULL; leave one out",
               column.name.text);
      }
    }
    table.columns.push_back(std::move(column));
  }

  syntax::Table table(MnemeParser::CreateTableContext* context) const {
    syntax::Table table;
    table.name = read_relation(context->relation());
    table.if_not_exists = context->EXISTS() != nullptr;
    if (context->storage()) check_storage(context->storage());
    for (auto* element : context->tableElement()) {
      if (element->column()) {
        column(element->column(), table);
        continue;
      }
      auto* item = element->tableConstraint();
      if (auto* key = dynamic_cast<MnemeParser::TablePrimaryKeyContext*>(item)) {
        set_primary_key(table, constraint(key, key->name(), names(key->nameList())));
      } else if (auto* unique = dynamic_cast<MnemeParser::TableUniqueContext*>(item)) {
        table.unique.push_back(constraint(unique, unique->name(), names(unique->nameList())));
      } else if (auto* check = dynamic_cast<MnemeParser::TableCheckContext*>(item)) {
        table.checks.push_back(read_check(check->check(), check->name()));
      } else if (auto* key = dynamic_cast<MnemeParser::TableForeignKeyContext*>(item)) {
        table.foreign_keys.push_back(foreign_key(key->references(), key->name(), names(key->nameList())));
      }
    }
    for (syntax::ColumnDefinition& column : table.columns) {
      if (column.is_serial) draw_from_sequence(table, column);
    }
    return table;
  }

  // How full PostgreSQL packs its pages means nothing to rows in memory.
  static void check_storage(MnemeParser::StorageContext* context) {
    const std::string name = definition_word(context->name(0)->getText());
    if (context->EQUAL().size() == 1 && name == "fillfactor") return;
    refuse_as(
        sqlstate::kNotSupported, location(context),
        "storage parameters are not supported, but for fillfactor, which says nothing here; leave WITH out");
  }

  static void check_method(MnemeParser::NameContext* context) {
    const std::string method = definition_word(context->getText());
    if (method == "btree" || method == "hash") return;
    refuse_as(sqlstate::kUndefinedObject, location(context),
              "access method \"{}\" does not exist; an index is a hash table or a B+tree, as its statements "
              "need it",
              method);
  }

  static syntax::Index index(MnemeParser::CreateIndexContext* context) {
    syntax::Index index;
    // An index's name comes before its table's, its method's after.
    const bool has_name = context->name().size() == (context->USING() ? 2 : 1);
    if (has_name) index.name = read_name(context->name(0));
    index.table = read_relation(context->relation());
    if (context->USING()) check_method(context->name().back());
    index.unique = context->UNIQUE() != nullptr;
    index.if_not_exists = context->EXISTS() != nullptr;
    for (auto* column : context->indexColumn()) index.columns.push_back(read_name(column->name()));
    return index;
  }

  syntax::Procedure procedure(MnemeParser::CreateProcedureContext* context) {
    syntax::Procedure procedure;
    procedure.name = read_relation(context->relation());
    procedure.replaces = context->REPLACE() != nullptr;
    procedure.is_function = context->FUNCTION() != nullptr;
    const std::string_view word = procedure.is_function ? "function" : "procedure";
    if (is_reserved_for_procedures(procedure.name.text)) {
      refuse(procedure.name.where, "PostgreSQL does not take {} for a {}'s name; choose another",
             procedure.name.text, word);
    }
    for (auto* item : context->parameter()) procedure.parameters.push_back(parameter(item));
    if (context->RETURNS()) {
      if (!procedure.is_function)
        refuse(location(context->typeName()), "a procedure returns nothing; give it an INOUT parameter");
      procedure.returns = returned_type(context->typeName());
    } else if (procedure.is_function &&
               std::ranges::none_of(procedure.parameters, &syntax::Parameter::inout)) {
      refuse_as("42P13", procedure.name.where,
                "function result type must be specified: write RETURNS and a type");
    }
    MnemeParser::BodyClauseContext* body = nullptr;
    std::optional<std::string> language;
    for (auto* clause : context->procedureClause()) {
      if (auto* names = dynamic_cast<MnemeParser::LanguageClauseContext*>(clause)) {
        if (language)
          refuse(location(names), "{} {} says its LANGUAGE twice; leave one out", word, procedure.name.text);
        language = read_language(names, procedure.is_function);
      } else if (auto* given = dynamic_cast<MnemeParser::BodyClauseContext*>(clause)) {
        if (body != nullptr) refuse(location(given), "{} {} has a second body", word, procedure.name.text);
        body = given;
      } else if (!procedure.is_function && definition_word(clause->getStart()->getText()) != "security") {
        refuse_as("42P13", location(clause), "invalid attribute in procedure definition");
      } else if (auto* attribute = dynamic_cast<MnemeParser::AttributeClauseContext*>(clause)) {
        check_attribute(attribute);
      } else {
        procedure.is_strict = true;
      }
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
             "the body is not in LANGUAGE {}: plpgsql's is BEGIN ... END, and sql's one statement",
             *language);
    }
    procedure.body = body->block() ? read_block(body->block(), tokens_)
                                   : read_sql_body(body->sqlBody(), tokens_, !procedure.returns_void());
    return procedure;
  }

  static syntax::Parameter parameter(MnemeParser::ParameterContext* context) {
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

  static syntax::TypeName returned_type(MnemeParser::TypeNameContext* context) {
    syntax::TypeName type = read_type(context);
    if (type.base == "setof") {
      refuse_as(sqlstate::kNotSupported, type.where,
                "functions that return rows are not supported; return a value");
    }
    if (type.base == "trigger" || type.base == "record" || type.base == syntax::kRowType || type.is_array) {
      refuse_as(sqlstate::kNotSupported, type.where,
                "a function returns one value of a scalar type, or void; not {}",
                type.is_array                   ? "an array"
                : type.base == syntax::kRowType ? "a row"
                                                : "a " + type.base);
    }
    return type;
  }

  static std::string read_language(MnemeParser::LanguageClauseContext* context, bool is_function) {
    const std::string language =
        context->STRING() ? read_string(context->STRING()) : definition_word(context->name()->getText());
    if (language != "plpgsql" && (language != "sql" || !is_function)) {
      refuse_as(sqlstate::kNotSupported, location(context),
                "LANGUAGE {} is not supported; procedures are written in plpgsql", language);
    }
    return language;
  }

  // A function's cost and volatility are hints to a planner.
  static void check_attribute(MnemeParser::AttributeClauseContext* context) {
    constexpr auto kAttributes = std::to_array<std::string_view>(
        {"immutable", "stable", "volatile", "not leakproof", "security invoker", "parallel safe",
         "parallel unsafe", "parallel restricted", "called on null input"});
    std::string text;
    for (auto* child : context->children)
      text += (text.empty() ? "" : " ") + definition_word(child->getText());
    if (text.starts_with("cost ") || std::ranges::find(kAttributes, text) != kAttributes.end()) return;
    refuse_as(sqlstate::kNotSupported, location(context),
              "the attribute \"{}\" is not supported; leave it out", text);
  }

  // PostgreSQL ends the body at the first repetition of its opening quote, be it in a string, a comment or a
  // name.
  void check_dollar_quotes(MnemeParser::BodyClauseContext* context) {
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

  const std::string_view source_;
  antlr4::CommonTokenStream& tokens_;
};

}  // namespace

syntax::File read_file(MnemeParser::FileContext* context, std::string_view source,
                       antlr4::CommonTokenStream& tokens) {
  return DefinitionReader(source, tokens).read(context);
}

syntax::Command read_command(MnemeParser::CommandContext* context, std::string_view source,
                             antlr4::CommonTokenStream& tokens) {
  return DefinitionReader(source, tokens).read(context);
}

}  // namespace mneme
