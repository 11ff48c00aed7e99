// A file's definitions, and the commands of a session that are no database operations.
#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"
#include "procedures/parser/reserved_words.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

constexpr uint32_t kMostParameters = 65'535;  // as many as the protocol of PostgreSQL counts

}  // namespace

syntax::File DefinitionReader::read(MnemeParser::FileContext* context) {
  syntax::File file;
  for (auto* item : context->fileItem()) {
    if (auto* drop = item->drop()) {
      if (!drop->SEQUENCE() && !drop->TYPE() && !drop->SCHEMA())
        refuse_as(sqlstate::kNotSupported, location(drop), "{}", advice_for_word("drop", false));
      syntax::Definition& definition = file.emplace_back();
      if (drop->SCHEMA()) {
        definition.schema_change = {.name = read_name(drop->name(0)), .drops = true};
      } else if (drop->TYPE()) {
        definition.enum_change = {.kind = syntax::EnumChange::Kind::kDrop,
                                  .name = read_relation(drop->relation(0))};
      } else {
        definition.dropped_sequence = read_relation(drop->relation(0));
      }
      definition.text = source_of(drop->getStart(), drop->getStop());
      continue;
    }
    if (auto* comment = item->comment()) {
      file.push_back(commented(comment));
      continue;
    }
    for (syntax::Definition& each : definitions(item->definition())) {
      if (each.table && (each.table->query || !each.table->like.empty())) {
        refuse_as(sqlstate::kNotSupported, location(item),
                  "CREATE TABLE AS and LIKE are a session's statements; a file says what the columns are");
      }
      file.push_back(std::move(each));
    }
  }
  return file;
}

std::vector<syntax::TypeName> read_parameter_types(MnemeParser::ParameterTypesContext* context) {
  std::vector<syntax::TypeName> types;
  for (auto* item : context->parameterType()) {
    // A procedure's OUT parameters may be left out, and a function's are.
    if (!item->OUT_()) types.push_back(read_type(item->typeName()));
  }
  return types;
}

static void read_dropped_types(MnemeParser::DropContext* drop, syntax::Command& command) {
  for (auto* child : drop->children) {
    if (dynamic_cast<MnemeParser::RelationContext*>(child) != nullptr) command.parameter_types.emplace_back();
    if (auto* types = dynamic_cast<MnemeParser::ParameterTypesContext*>(child))
      command.parameter_types.back() = read_parameter_types(types);
  }
}

syntax::Command DefinitionReader::read(MnemeParser::CommandContext* context) {
  syntax::Command command;
  command.where = location(context);
  command.parameters = count_parameters();
  if (MnemeParser::IntoContext* into = into_of(context)) {
    command.kind = syntax::Command::Kind::kCreate;
    command.definition = table_of_select(context->query(), into);
    return command;
  }
  command.operation = read_operation(context, tokens_);
  if (auto* call = context->callProcedure()) {
    command.kind = syntax::Command::Kind::kCall;
    command.name = read_relation(call->relation());
    for (auto* argument : call->argument()) command.args.push_back(read_argument(argument));
  } else if (auto* rename = context->alterRoutine()) {
    command.kind = syntax::Command::Kind::kAlter;
    command.altered = syntax::DefinitionKind::kProcedure;
    command.routine = rename->FUNCTION()    ? syntax::RoutineKind::kFunction
                      : rename->PROCEDURE() ? syntax::RoutineKind::kProcedure
                                            : syntax::RoutineKind::kAny;
    expect_word(rename->IDENTIFIER(), {"rename"});
    syntax::Definition& made = command.definition.emplace();
    syntax::Alteration& alteration = made.alteration.emplace();
    alteration.kind = syntax::Alteration::Kind::kRenameTo;
    alteration.table = read_relation(rename->relation());
    alteration.new_name = read_beside(alteration.table, rename->name());
    command.names.push_back(alteration.table);
    command.parameter_types.emplace_back();
    if (rename->parameterTypes())
      command.parameter_types.back() = read_parameter_types(rename->parameterTypes());
  } else if (context->definition()) {
    std::vector<syntax::Definition> made = definitions(context->definition());
    command.definition = std::move(made.front());
    command.further.assign(std::make_move_iterator(made.begin() + 1), std::make_move_iterator(made.end()));
    const bool alters = command.definition->alteration || context->definition()->alterEnum() ||
                        (command.definition->sequence && command.definition->sequence->alters);
    command.kind = alters ? syntax::Command::Kind::kAlter : syntax::Command::Kind::kCreate;
    command.altered = context->definition()->alterIndex()      ? syntax::DefinitionKind::kIndex
                      : context->definition()->alterSequence() ? syntax::DefinitionKind::kSequence
                      : context->definition()->alterEnum()     ? syntax::DefinitionKind::kType
                                                               : syntax::DefinitionKind::kTable;
  } else if (auto* drop = context->drop()) {
    command.kind = syntax::Command::Kind::kDrop;
    for (auto* name : drop->relation()) command.names.push_back(read_relation(name));
    for (auto* name : drop->name()) command.names.push_back(read_name(name));
    command.if_exists = drop->EXISTS() != nullptr;
    command.cascades = drop->CASCADE() != nullptr;
    command.dropped = drop->TABLE()      ? syntax::DefinitionKind::kTable
                      : drop->INDEX()    ? syntax::DefinitionKind::kIndex
                      : drop->SEQUENCE() ? syntax::DefinitionKind::kSequence
                      : drop->VIEW()     ? syntax::DefinitionKind::kView
                      : drop->TYPE()     ? syntax::DefinitionKind::kType
                      : drop->SCHEMA()   ? syntax::DefinitionKind::kSchema
                                         : syntax::DefinitionKind::kProcedure;
    command.routine = drop->FUNCTION()  ? syntax::RoutineKind::kFunction
                      : drop->ROUTINE() ? syntax::RoutineKind::kAny
                                        : syntax::RoutineKind::kProcedure;
    read_dropped_types(drop, command);
  } else if (auto* truncate = context->truncate()) {
    command.kind = syntax::Command::Kind::kTruncate;
    for (auto* name : truncate->relation()) command.names.push_back(read_relation(name));
    command.cascades = truncate->CASCADE() != nullptr;
    if (truncate->IDENTIFIER().size() == 2) {
      expect_word(truncate->IDENTIFIER(0), {"restart"});
      command.restarts = true;
    }
    if (!truncate->IDENTIFIER().empty()) expect_word(truncate->IDENTIFIER().back(), {"identity"});
  } else if (auto* comment = context->comment()) {
    read_comment(comment, command);
  } else if (context->doBlock()) {
    const bool changes = context->doBlock()->changeBlock() != nullptr;
    command.kind = changes ? syntax::Command::Kind::kDoChanges : syntax::Command::Kind::kDo;
    check_do_language(context->doBlock());
    if (changes) {
      command.changes = change_block(context->doBlock()->changeBlock());
    } else {
      command.block = read_do(context->doBlock(), tokens_);
    }
  } else if (auto* control = context->transactionControl()) {
    const bool begins = control->BEGIN() || control->START();
    read_modes(control->transactionMode(), command);
    if (control->name()) {
      command.name = read_any_name(control->name());
      command.kind = control->ROLLBACK()  ? syntax::Command::Kind::kRollBackTo
                     : control->RELEASE() ? syntax::Command::Kind::kRelease
                                          : syntax::Command::Kind::kSavepoint;
      return command;
    }
    const bool rolls_back = control->ROLLBACK() || control->ABORT();
    command.kind = begins       ? syntax::Command::Kind::kBegin
                   : rolls_back ? syntax::Command::Kind::kRollBack
                                : syntax::Command::Kind::kCommit;
    command.is_start = control->START() != nullptr;
  }
  return command;
}

std::shared_ptr<const syntax::ChangeBlock> DefinitionReader::change_block(
    MnemeParser::ChangeBlockContext* context) const {
  auto block = std::make_shared<syntax::ChangeBlock>();
  block->steps = change_steps(context->changeStep());
  for (auto* item : context->changeHandler()) {
    block->handlers.push_back(
        {read_conditions(item->exceptionCondition()), change_steps(item->changeStep())});
  }
  return block;
}

std::vector<syntax::ChangeStep> DefinitionReader::change_steps(
    const std::vector<MnemeParser::ChangeStepContext*>& contexts) const {
  std::vector<syntax::ChangeStep> steps;
  for (auto* context : contexts) {
    syntax::ChangeStep& step = steps.emplace_back();
    if (context->changeBlock()) step.block = change_block(context->changeBlock());
    for (auto* branch : context->changeBranch()) {
      auto* condition = branch->expression();
      step.branches.emplace_back(source_of(condition->getStart(), condition->getStop()),
                                 change_steps(branch->changeStep()));
    }
    if (!context->otherwise.empty()) step.branches.emplace_back("true", change_steps(context->otherwise));
    if (step.block || !step.branches.empty()) continue;
    step.text = source_of(context->getStart(), context->getStop());
    if (context->statement()) step.text = "DO $step$ BEGIN " + step.text + " END $step$";
  }
  return steps;
}

uint32_t DefinitionReader::count_parameters() const {
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

std::vector<syntax::Definition> DefinitionReader::definitions(MnemeParser::DefinitionContext* context) {
  if (context->alterTable()) return alterations(context->alterTable());
  std::vector<syntax::Definition> made(1);
  syntax::Definition& definition = made.front();
  if (context->createTable()) definition.table = table(context->createTable());
  if (context->createTableAs()) definition.table = table(context->createTableAs());
  if (context->createIndex()) definition.index = index(context->createIndex());
  if (context->createProcedure()) {
    definition.procedure = std::make_shared<const syntax::Procedure>(procedure(context->createProcedure()));
  }
  if (context->createSequence()) definition.sequence = sequence(context->createSequence());
  if (context->createView()) definition.view = view(context->createView());
  if (context->createEnum()) definition.enum_change = created_enum(context->createEnum());
  if (context->alterEnum()) definition.enum_change = altered_enum(context->alterEnum());
  if (context->createSchema()) definition.schema_change = schema_change(context->createSchema());
  if (context->alterSchema()) refuse_new_name(context->alterSchema());
  if (auto* alter = context->alterIndex()) {
    definition.alteration =
        renaming(alter->relation(), alter->EXISTS() != nullptr, alter->IDENTIFIER(), alter->name());
  }
  if (auto* alter = context->alterSequence(); alter && alter->name()) {
    definition.alteration =
        renaming(alter->relation(), alter->EXISTS() != nullptr, alter->IDENTIFIER(), alter->name());
  } else if (alter) {
    definition.sequence = sequence(alter);
  }
  // The parser's text has a character for each byte of the source.
  const size_t begin = context->getStart()->getStartIndex();
  definition.text = source_of(context->getStart(), context->getStop());
  if (definition.table && !definition.table->foreign_keys.empty())
    take_out_foreign_keys(context->createTable(), begin, definition);
  return made;
}

// What is taken out leaves blanks, so that places in the text stay as they are.
void DefinitionReader::take_out_foreign_keys(MnemeParser::CreateTableContext* context, size_t begin,
                                             syntax::Definition& definition) const {
  std::string& text = definition.text_without_foreign_keys = definition.text;
  const auto blank = [&](antlr4::Token* first, antlr4::Token* last) {
    for (size_t at = first->getStartIndex(); at <= last->getStopIndex(); ++at) {
      if (text[at - begin] != '\n') text[at - begin] = ' ';
    }
  };
  const auto add = [&](antlr4::Token* name, antlr4::Token* first, antlr4::Token* last,
                       std::string_view columns) {
    std::string added = "ALTER TABLE " + written_name(definition.table->name.text) + " ADD ";
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
            "FOREIGN KEY (" + written_name(read_name(column->name()).text) + ") ");
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

std::vector<syntax::Name> DefinitionReader::names(MnemeParser::NameListContext* context) {
  std::vector<syntax::Name> result;
  for (auto* name : context->name()) result.push_back(read_name(name));
  return result;
}

// The modes of a block. Every isolation level is accepted, as what runs is serializable, and so at least as
// strict. Returns whether the last one says READ ONLY.
void DefinitionReader::read_modes(const std::vector<MnemeParser::TransactionModeContext*>& modes,
                                  syntax::Command& command) {
  std::string text;
  for (auto* mode : modes) text += lowered(mode->getText()) + " ";
  static constexpr std::array<std::string_view, 8> kModes = {"isolation level serializable ",
                                                             "isolation level repeatable read ",
                                                             "isolation level read committed ",
                                                             "isolation level read uncommitted ",
                                                             "read write ",
                                                             "read only ",
                                                             "not deferrable ",
                                                             "deferrable "};
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto found =
        std::ranges::find_if(kModes, [&](std::string_view mode) { return rest.starts_with(mode); });
    if (found == kModes.end()) {
      refuse(location(modes.front()),
             "\"{}\" is no mode of a transaction; there are ISOLATION LEVEL ..., READ ONLY and READ WRITE",
             rest.substr(0, rest.size() - 1));
    }
    constexpr std::string_view kIsolation = "isolation level ";
    if (found->starts_with("read")) command.read_only = *found == "read only ";
    if (found->starts_with(kIsolation))
      command.isolation = found->substr(kIsolation.size(), found->size() - kIsolation.size() - 1);
    rest.remove_prefix(found->size());
    if (rest.starts_with(", ")) rest.remove_prefix(2);
  }
}

syntax::Check DefinitionReader::read_check(MnemeParser::CheckContext* context,
                                           MnemeParser::NameContext* name) const {
  syntax::Check check;
  if (name) check.name = read_name(name);
  check.condition = read_expression(context->expression());
  check.text = written(context->expression());
  return check;
}

std::string DefinitionReader::written(antlr4::ParserRuleContext* context) const {
  const size_t begin = context->getStart()->getStartIndex();
  return std::string(source_.substr(begin, context->getStop()->getStopIndex() + 1 - begin));
}

syntax::ForeignKey DefinitionReader::foreign_key(MnemeParser::ReferencesContext* context,
                                                 MnemeParser::NameContext* name,
                                                 std::vector<syntax::Name> columns) {
  syntax::ForeignKey key;
  key.where = location(context);
  if (name) key.name = read_name(name);
  key.columns = std::move(columns);
  key.table = read_relation(context->relation());
  if (context->nameList()) key.referenced = names(context->nameList());
  std::vector<std::string> words;
  for (auto* clause : context->referenceClause()) {
    if (clause->referenceAction()) {
      (clause->DELETE_() ? key.on_delete : key.on_update) = reference_action(clause->referenceAction());
    } else {
      for (auto* child : clause->children) words.push_back(lowered(child->getText()));
    }
  }
  read_reference_words(words, key);
  return key;
}

void DefinitionReader::read_reference_words(std::span<const std::string> words, syntax::ForeignKey& key) {
  while (!words.empty()) {
    // All are of two words, but for DEFERRABLE.
    const size_t count = words[0] == "deferrable" ? 1 : 2;
    const std::string clause = count == 1 || words.size() == 1 ? words[0] : words[0] + " " + words[1];
    if (clause == "deferrable" || clause == "initially deferred") {
      key.deferrable = true;
      key.deferred |= count == 2;
    } else if (clause == "match full" || clause == "match partial") {
      refuse_as(sqlstate::kNotSupported, key.where, "{} is not supported: a foreign key is MATCH SIMPLE",
                clause == "match full" ? "MATCH FULL" : "MATCH PARTIAL");
    } else if (clause != "match simple" && clause != "not deferrable" && clause != "initially immediate") {
      refuse(key.where, "\"{}\" is not understood here", clause);
    }
    words = words.subspan(std::min(count, words.size()));
  }
}

ForeignKeyAction DefinitionReader::reference_action(MnemeParser::ReferenceActionContext* context) {
  if (context->RESTRICT()) return ForeignKeyAction::kRestrict;
  if (context->CASCADE()) return ForeignKeyAction::kCascade;
  if (context->NULL_()) return ForeignKeyAction::kSetNull;
  if (context->DEFAULT()) return ForeignKeyAction::kSetDefault;
  if (lowered(context->getText()) == "noaction") return ForeignKeyAction::kNoAction;
  refuse(location(context),
         "\"{}\" is not understood here; expected NO ACTION, RESTRICT, CASCADE or SET NULL",
         context->getText());
}

void DefinitionReader::set_primary_key(syntax::Table& table, syntax::UniqueConstraint key) {
  if (table.primary_key)
    refuse_as("42P16", key.where, "table {} has a second PRIMARY KEY; one is accepted", table.name.text);
  table.primary_key = std::move(key);
}

// SERIAL is an integer that draws its DEFAULT from a sequence.
void DefinitionReader::make_serial(syntax::ColumnDefinition& column) {
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

Identity DefinitionReader::identity(const std::vector<antlr4::tree::TerminalNode*>& words,
                                    bool is_by_default) {
  expect_word(words.back(), {"identity"});
  if (is_by_default) return Identity::kByDefault;
  expect_word(words[0], {"always"});
  return Identity::kAlways;
}

// The DEFAULT of a SERIAL column.
void DefinitionReader::draw_from_sequence(const syntax::Table& table, syntax::ColumnDefinition& column) {
  if (column.initial) {
    refuse(column.initial->where, "multiple default values specified for column \"{}\" of table \"{}\"",
           column.name.text, table.name.text);
  }
  const std::string sequence = syntax::sequence_name(table.name.text, column.name.text);
  column.initial_text = written_draw(sequence);
  syntax::Expr name;
  name.kind = syntax::ExprKind::kString;
  name.text = written_name(sequence);
  name.where = column.type.where;
  syntax::Expr call;
  call.kind = syntax::ExprKind::kCall;
  call.text = "nextval";
  call.where = column.type.where;
  call.args.push_back(std::move(name));
  column.initial = std::move(call);
}

void DefinitionReader::column(MnemeParser::ColumnContext* context, syntax::Table& table) const {
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
      table.foreign_keys.push_back(foreign_key(references->references(), references->name(), {column.name}));
    } else if (auto* initial = dynamic_cast<MnemeParser::DefaultValueContext*>(item)) {
      if (column.initial)
        refuse(location(initial), "column {} has a second DEFAULT; leave one out", column.name.text);
      column.initial = read_concatenation(initial->concatenation());
      const size_t begin = initial->concatenation()->getStart()->getStartIndex();
      column.initial_text =
          source_.substr(begin, initial->concatenation()->getStop()->getStopIndex() + 1 - begin);
    } else if (auto* identity = dynamic_cast<MnemeParser::IdentityContext*>(item)) {
      column.identity = DefinitionReader::identity(identity->IDENTIFIER(), identity->BY() != nullptr);
      column.is_serial = column.not_null = true;
      if (identity->sequenceOptions())
        read_options(identity->sequenceOptions(), column.sequence_options.emplace());
    } else if (auto* generated = dynamic_cast<MnemeParser::GeneratedColumnContext*>(item)) {
      expect_word(generated->IDENTIFIER(0), {"always"});
      expect_word(generated->IDENTIFIER(1), {"stored"});
      if (!column.generated.empty()) {
        refuse(location(generated), "multiple generation clauses specified for column \"{}\" of table \"{}\"",
               column.name.text, table.name.text);
      }
      column.generated = written(generated->expression());
      column.generated_where = location(generated);
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
      refuse(location(item), "column {} is declared both NULL and NOT NULL; leave one out", column.name.text);
    }
  }
  if (!column.generated.empty() && column.initial) {
    refuse(column.generated_where,
           "both {} and generation expression specified for column \"{}\" of table \"{}\"",
           column.is_serial ? "identity" : "default", column.name.text, table.name.text);
  }
  table.columns.push_back(std::move(column));
}

syntax::Table DefinitionReader::table(MnemeParser::CreateTableContext* context) const {
  syntax::Table table;
  table.name = read_relation(context->relation());
  table.if_not_exists = context->EXISTS() != nullptr;
  if (context->storage()) check_storage(context->storage());
  for (auto* element : context->tableElement()) {
    if (element->column()) {
      column(element->column(), table);
      continue;
    }
    if (element->likeTable()) {
      table.like.push_back(like(element->likeTable()));
      table.like.back().place = table.columns.size();
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
void DefinitionReader::check_storage(MnemeParser::StorageContext* context) {
  const std::string name = lowered(context->name(0)->getText());
  if (context->EQUAL().size() == 1 && name == "fillfactor") return;
  refuse_as(
      sqlstate::kNotSupported, location(context),
      "storage parameters are not supported, but for fillfactor, which says nothing here; leave WITH out");
}

void DefinitionReader::check_method(MnemeParser::NameContext* context) {
  const std::string method = lowered(context->getText());
  if (method == "btree" || method == "hash") return;
  refuse_as(sqlstate::kUndefinedObject, location(context),
            "access method \"{}\" does not exist; an index is a hash table or a B+tree, as its statements "
            "need it",
            method);
}

// The classes that compare as an index here does: by value, and texts by their bytes.
void DefinitionReader::check_operators(antlr4::tree::TerminalNode* name) {
  static constexpr std::array<std::string_view, 17> kClasses = {
      "int2_ops",          "int4_ops",      "int8_ops",         "float4_ops",
      "float8_ops",        "numeric_ops",   "bool_ops",         "date_ops",
      "text_ops",          "timestamp_ops", "timestamptz_ops",  "varchar_ops",
      "bpchar_ops",        "interval_ops",  "text_pattern_ops", "varchar_pattern_ops",
      "bpchar_pattern_ops"};
  if (std::ranges::find(kClasses, lowered(name->getText())) != kClasses.end()) return;
  refuse_as(sqlstate::kUndefinedObject, location(name->getSymbol()),
            "operator class \"{}\" does not exist for access method \"btree\"", name->getText());
}

syntax::Index DefinitionReader::index(MnemeParser::CreateIndexContext* context) const {
  syntax::Index index;
  // An index's name comes before its table's, its method's after.
  const bool has_name = context->name().size() == (context->USING() ? 2 : 1);
  index.table = read_relation(context->relation());
  if (has_name) index.name = read_beside(index.table, context->name(0));
  if (context->USING()) check_method(context->name().back());
  index.unique = context->UNIQUE() != nullptr;
  index.if_not_exists = context->EXISTS() != nullptr;
  for (auto* column : context->indexColumn()) {
    index.columns.push_back(read_name(column->name()));
    auto words = column->IDENTIFIER();
    if (column->DOT()) words.erase(words.begin());
    if (words.size() % 2 == 1) {
      check_operators(words[0]);
      words.erase(words.begin());
    }
    // An index is read both ways, and queries sort NULLs where they ask for them.
    if (words.empty()) continue;
    expect_word(words[0], {"nulls"});
    expect_word(words[1], {"first", "last"});
  }
  if (context->expression()) {
    index.condition = read_expression(context->expression());
    index.condition_text = written(context->expression());
  }
  return index;
}

syntax::File read_file(MnemeParser::FileContext* context, std::string_view source,
                       antlr4::CommonTokenStream& tokens) {
  return DefinitionReader(source, tokens).read(context);
}

syntax::Command read_command(MnemeParser::CommandContext* context, std::string_view source,
                             antlr4::CommonTokenStream& tokens) {
  return DefinitionReader(source, tokens).read(context);
}

}  // namespace mneme
