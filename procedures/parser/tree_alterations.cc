// ALTER TABLE and ALTER INDEX, sequences and views.
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

using AlterationKind = syntax::Alteration::Kind;

// PostgreSQL takes the actions of a statement in this order, whatever order they are written in.
int pass_of(AlterationKind kind) {
  switch (kind) {
    case AlterationKind::kDropColumn:
    case AlterationKind::kDropConstraint:
    case AlterationKind::kDropDefault:
    case AlterationKind::kDropNotNull:
      return 0;
    case AlterationKind::kSetType:
      return 1;
    case AlterationKind::kAddColumn:
      return 2;
    case AlterationKind::kSetNotNull:
      return 3;
    case AlterationKind::kAddPrimaryKey:
    case AlterationKind::kAddUnique:
      return 4;
    default:
      return 5;
  }
}

void expect_rename(antlr4::tree::TerminalNode* word) {
  if (lowered(word->getText()) == "owner") {
    refuse_as(sqlstate::kNotSupported, location(word->getSymbol()),
              "OWNER TO is not supported: every client has all rights; leave it out");
  }
  expect_word(word, {"rename"});
}

// The words of a sequence's options, which no rule of the grammar takes apart.
class OptionWords {
 public:
  explicit OptionWords(MnemeParser::SequenceOptionsContext* context) : context_(context) {
    for (auto* child : context->children) {
      auto* rule = dynamic_cast<antlr4::ParserRuleContext*>(child);
      antlr4::Token* token =
          rule ? rule->getStart() : dynamic_cast<antlr4::tree::TerminalNode*>(child)->getSymbol();
      tokens_.push_back(token);
    }
  }

  bool at_end() const { return at_ == tokens_.size(); }
  bool take(std::string_view word) {
    if (at_end() || lowered(tokens_[at_]->getText()) != word) return false;
    ++at_;
    return true;
  }
  int64_t number() {
    const bool negative = take("-");
    if (!negative) take("+");
    if (at_end() || tokens_[at_]->getType() != MnemeLexer::INTEGER) refuse_here();
    const std::string text = (negative ? "-" : "") + tokens_[at_]->getText();
    int64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc()) {
      refuse_as(sqlstate::kOutOfRange, location(tokens_[at_]), "value \"{}\" is out of range for type bigint",
                text);
    }
    ++at_;
    return value;
  }
  syntax::Name name() {
    if (at_end()) refuse_here();
    std::string text = read_written_name(tokens_[at_]->getText());
    return {std::move(text), location(tokens_[at_++])};
  }
  // A name, or one behind its schema.
  syntax::Name relation() {
    syntax::Name first = name();
    if (take(".")) first.text = qualified_name(first.text, name().text);
    return first;
  }
  [[noreturn]] void refuse_here() const {
    antlr4::Token* at = at_end() ? context_->getStop() : tokens_[at_];
    refuse(location(at), "\"{}\" is not understood here; an option of a sequence is expected", at->getText());
  }

 private:
  MnemeParser::SequenceOptionsContext* context_;
  std::vector<antlr4::Token*> tokens_;
  size_t at_ = 0;
};

TypeKind sequence_type(const syntax::Name& name) {
  static constexpr std::array<std::pair<std::string_view, TypeKind>, 7> kTypes = {
      {{"bigint", TypeKind::kBigInt},
       {"int8", TypeKind::kBigInt},
       {"int", TypeKind::kInt},
       {"integer", TypeKind::kInt},
       {"int4", TypeKind::kInt},
       {"smallint", TypeKind::kSmallInt},
       {"int2", TypeKind::kSmallInt}}};
  for (const auto& [word, kind] : kTypes) {
    if (name.text == word) return kind;
  }
  refuse_as("22023", name.where, "sequence type must be smallint, integer, or bigint");
}

}  // namespace

std::string DefinitionReader::source_of(antlr4::Token* first, antlr4::Token* last) const {
  return std::string(
      source_.substr(first->getStartIndex(), last->getStopIndex() + 1 - first->getStartIndex()));
}

std::vector<syntax::Definition> DefinitionReader::alterations(MnemeParser::AlterTableContext* context) const {
  std::vector<syntax::Definition> made;
  const syntax::Name table = read_relation(context->relation());
  for (auto* action : context->alterAction()) {
    syntax::Definition definition;
    syntax::Alteration& alteration = definition.alteration.emplace();
    alteration.table = table;
    alteration.if_exists = context->EXISTS() != nullptr;
    std::string text = source_of(action->getStart(), action->getStop());
    std::vector<syntax::Definition> keys;
    if (auto* add = dynamic_cast<MnemeParser::AddColumnContext*>(action)) {
      keys = added_column(add, alteration, text);
    } else if (auto* add = dynamic_cast<MnemeParser::AddConstraintContext*>(action)) {
      added_constraint(add->tableConstraint(), alteration);
    } else {
      changed(action, alteration);
    }
    const bool renames = alteration.kind == AlterationKind::kRenameTo ||
                         alteration.kind == AlterationKind::kRenameColumn ||
                         alteration.kind == AlterationKind::kRenameConstraint;
    if (renames && context->alterAction().size() > 1)
      refuse(location(action), "RENAME stands alone in its ALTER TABLE; write another one for it");
    definition.text = "ALTER TABLE " + written_name(table.text) + " " + text;
    made.push_back(std::move(definition));
    for (syntax::Definition& key : keys) made.push_back(std::move(key));
  }
  std::ranges::stable_sort(made, {},
                           [](const syntax::Definition& each) { return pass_of(each.alteration->kind); });
  return made;
}

std::vector<syntax::Definition> DefinitionReader::added_column(MnemeParser::AddColumnContext* context,
                                                               syntax::Alteration& made,
                                                               std::string& text) const {
  made.kind = AlterationKind::kAddColumn;
  made.added.name = made.table;
  made.added.if_not_exists = context->ifNotExists() != nullptr;
  column(context->column(), made.added);
  const syntax::ColumnDefinition& added = made.added.columns[0];
  if (added.is_serial) {
    refuse_as(sqlstate::kNotSupported, location(context->column()),
              "ADD COLUMN of a SERIAL column is not supported; add a column, then its DEFAULT nextval(...)");
  }
  std::vector<syntax::Definition> keys;
  const size_t begin = context->getStart()->getStartIndex();
  for (auto* item : context->column()->columnConstraint()) {
    auto* key = dynamic_cast<MnemeParser::ReferencesColumnContext*>(item);
    if (key == nullptr) continue;
    syntax::Definition& definition = keys.emplace_back();
    syntax::Alteration& alteration = definition.alteration.emplace();
    alteration.kind = AlterationKind::kAddForeignKey;
    alteration.table = made.table;
    alteration.foreign_key = std::move(made.added.foreign_keys[keys.size() - 1]);
    alteration.constraint_text = "FOREIGN KEY (" + written_name(added.name.text) + ") " +
                                 source_of(key->references()->getStart(), key->getStop());
    definition.text = "ALTER TABLE " + written_name(made.table.text) + " ADD ";
    if (key->name()) definition.text += "CONSTRAINT " + key->name()->getText() + " ";
    definition.text += alteration.constraint_text;
    for (size_t at = key->getStart()->getStartIndex(); at <= key->getStop()->getStopIndex(); ++at)
      text[at - begin] = ' ';
  }
  made.added.foreign_keys.clear();
  return keys;
}

void DefinitionReader::added_constraint(MnemeParser::TableConstraintContext* item,
                                        syntax::Alteration& made) const {
  antlr4::Token* first = nullptr;
  if (auto* key = dynamic_cast<MnemeParser::TablePrimaryKeyContext*>(item)) {
    made.kind = AlterationKind::kAddPrimaryKey;
    made.key = constraint(key, key->name(), names(key->nameList()));
    first = key->PRIMARY()->getSymbol();
  } else if (auto* unique = dynamic_cast<MnemeParser::TableUniqueContext*>(item)) {
    made.kind = AlterationKind::kAddUnique;
    made.key = constraint(unique, unique->name(), names(unique->nameList()));
    first = unique->UNIQUE()->getSymbol();
  } else if (auto* check = dynamic_cast<MnemeParser::TableCheckContext*>(item)) {
    made.kind = AlterationKind::kAddCheck;
    made.check = read_check(check->check(), check->name());
    first = check->check()->getStart();
  } else {
    auto* foreign = dynamic_cast<MnemeParser::TableForeignKeyContext*>(item);
    made.kind = AlterationKind::kAddForeignKey;
    made.foreign_key = foreign_key(foreign->references(), foreign->name(), names(foreign->nameList()));
    first = foreign->FOREIGN()->getSymbol();
  }
  made.constraint_text = source_of(first, item->getStop());
}

void DefinitionReader::changed(MnemeParser::AlterActionContext* action, syntax::Alteration& made) const {
  if (auto* drop = dynamic_cast<MnemeParser::DropColumnContext*>(action)) {
    made.kind = AlterationKind::kDropColumn;
    made.changed = read_name(drop->name());
    made.if_changed_exists = drop->ifExists() != nullptr;
    made.cascades = drop->CASCADE() != nullptr;
  } else if (auto* drop = dynamic_cast<MnemeParser::DropConstraintContext*>(action)) {
    made.kind = AlterationKind::kDropConstraint;
    made.changed = read_name(drop->name());
    made.if_changed_exists = drop->ifExists() != nullptr;
    made.cascades = drop->CASCADE() != nullptr;
  } else if (auto* set = dynamic_cast<MnemeParser::SetDefaultContext*>(action)) {
    made.kind = AlterationKind::kSetDefault;
    made.changed = read_name(set->name());
    made.initial = read_concatenation(set->concatenation());
    made.initial_text = source_of(set->concatenation()->getStart(), set->concatenation()->getStop());
  } else if (auto* drop = dynamic_cast<MnemeParser::DropDefaultContext*>(action)) {
    made.kind = AlterationKind::kDropDefault;
    made.changed = read_name(drop->name());
  } else if (auto* set = dynamic_cast<MnemeParser::SetNotNullContext*>(action)) {
    made.kind = set->SET() ? AlterationKind::kSetNotNull : AlterationKind::kDropNotNull;
    made.changed = read_name(set->name());
  } else if (auto* type = dynamic_cast<MnemeParser::AlterTypeContext*>(action)) {
    made.kind = AlterationKind::kSetType;
    made.changed = read_name(type->name());
    if (type->SET()) expect_word(type->IDENTIFIER(), {"data"});
    made.type = read_type(type->typeName());
    if (type->expression()) made.value = read_expression(type->expression());
  } else if (auto* add = dynamic_cast<MnemeParser::AddIdentityContext*>(action)) {
    made.kind = AlterationKind::kAddIdentity;
    made.changed = read_name(add->name());
    made.identity = identity(add->IDENTIFIER(), add->BY() != nullptr);
    made.sequence.emplace();
    if (add->sequenceOptions()) read_options(add->sequenceOptions(), *made.sequence);
  } else if (auto* rename = dynamic_cast<MnemeParser::RenameToContext*>(action)) {
    made.kind = AlterationKind::kRenameTo;
    expect_rename(rename->IDENTIFIER());
    made.new_name = read_beside(made.table, rename->name());
  } else if (auto* move = dynamic_cast<MnemeParser::SetSchemaContext*>(action)) {
    made.kind = AlterationKind::kRenameTo;
    made.new_name = moved_name(made.table, move->name());
  } else if (auto* rename = dynamic_cast<MnemeParser::RenameConstraintContext*>(action)) {
    made.kind = AlterationKind::kRenameConstraint;
    expect_word(rename->IDENTIFIER(), {"rename"});
    made.changed = read_name(rename->name(0));
    made.new_name = read_name(rename->name(1));
  } else if (auto* rename = dynamic_cast<MnemeParser::RenameColumnContext*>(action)) {
    made.kind = AlterationKind::kRenameColumn;
    expect_word(rename->IDENTIFIER(), {"rename"});
    made.changed = read_name(rename->name(0));
    made.new_name = read_name(rename->name(1));
  }
}

syntax::Alteration DefinitionReader::renaming(MnemeParser::RelationContext* relation, bool if_exists,
                                              antlr4::tree::TerminalNode* word,
                                              MnemeParser::NameContext* name) {
  syntax::Alteration made;
  made.kind = AlterationKind::kRenameTo;
  made.table = read_relation(relation);
  made.if_exists = if_exists;
  if (word != nullptr) expect_rename(word);
  made.new_name = word != nullptr ? read_beside(made.table, name) : moved_name(made.table, name);
  return made;
}

syntax::Sequence DefinitionReader::sequence(MnemeParser::CreateSequenceContext* context) {
  syntax::Sequence made;
  made.name = read_relation(context->relation());
  made.if_exists = context->EXISTS() != nullptr;
  if (context->sequenceOptions()) read_options(context->sequenceOptions(), made);
  return made;
}

syntax::Sequence DefinitionReader::sequence(MnemeParser::AlterSequenceContext* context) {
  syntax::Sequence made;
  made.name = read_relation(context->relation());
  made.alters = true;
  made.if_exists = context->EXISTS() != nullptr;
  read_options(context->sequenceOptions(), made);
  return made;
}

void DefinitionReader::read_options(MnemeParser::SequenceOptionsContext* context, syntax::Sequence& made) {
  OptionWords words(context);
  std::set<std::string_view> given;
  const auto once = [&](std::string_view option) {
    if (!given.insert(option).second) refuse(location(context), "conflicting or redundant options");
  };
  while (!words.at_end()) {
    if (words.take("as")) {
      once("as");
      made.type = sequence_type(words.name());
    } else if (words.take("increment")) {
      once("increment");
      words.take("by");
      made.increment = words.number();
    } else if (words.take("minvalue")) {
      once("minvalue");
      made.least = words.number();
    } else if (words.take("maxvalue")) {
      once("maxvalue");
      made.most = words.number();
    } else if (words.take("start")) {
      once("start");
      words.take("with");
      made.start = words.number();
    } else if (words.take("cache")) {
      // Numbers are drawn ahead for all sessions together.
      if (words.number() < 1) refuse_as("22023", location(context), "CACHE must be greater than zero");
    } else if (words.take("cycle")) {
      once("cycle");
      made.cycles = true;
    } else if (words.take("no")) {
      if (words.take("minvalue")) {
        once("minvalue");
        made.no_least = true;
      } else if (words.take("maxvalue")) {
        once("maxvalue");
        made.no_most = true;
      } else if (words.take("cycle")) {
        once("cycle");
        made.cycles = false;
      } else {
        words.refuse_here();
      }
    } else if (!made.alters && made.name.empty() && words.take("sequence")) {
      // An identity column may name its sequence, perhaps behind a schema: SEQUENCE NAME public.s.
      if (!words.take("name")) words.refuse_here();
      made.name = words.relation();
    } else if (words.take("owned")) {
      if (!words.take("by")) words.refuse_here();
      made.is_owned = true;
      made.owner = words.name();
      if (made.owner.text == "none") {
        made.owner = {};
        continue;
      }
      if (!words.take(".")) words.refuse_here();
      made.owner_column = words.name();
      if (!words.take(".")) continue;
      made.owner.text = qualified_name(made.owner.text, made.owner_column.text);
      made.owner_column = words.name();
    } else if (made.alters && words.take("restart")) {
      made.restarts = true;
      const bool has_with = words.take("with");
      if (has_with || !words.at_end()) made.restart = words.number();
    } else {
      words.refuse_here();
    }
  }
}

syntax::View DefinitionReader::view(MnemeParser::CreateViewContext* context) const {
  syntax::View made;
  made.name = read_relation(context->relation());
  made.replaces = context->REPLACE() != nullptr;
  if (context->nameList()) made.columns = names(context->nameList());
  made.query = std::make_shared<const syntax::Query>(read_query(context->query()));
  made.text = source_of(context->query()->getStart(), context->query()->getStop());
  return made;
}

}  // namespace mneme
