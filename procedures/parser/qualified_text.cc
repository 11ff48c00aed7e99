// The names of objects in a statement's text: those without a schema get the one that a search path leads to.
#include <algorithm>
#include <map>

#include "base/deep_stack.h"
#include "engine/schema/qualified_name.h"
#include "procedures/parser/parser.h"
#include "procedures/parser/tree_reader.h"
#include "procedures/parser/written_names.h"

namespace mneme {

namespace {

using Names = std::vector<MnemeParser::NameContext*>;
using antlr4::tree::ParseTree;

enum class NameOf { kRelation, kRoutine, kType };

std::string text_of_name(antlr4::tree::ParseTree* name) {
  return read_written_name(name->getText());
}

// Calls what a subclass does with each name of an object.
class NameWalk {
 public:
  virtual ~NameWalk() = default;

  void walk(ParseTree* node) {
    look_at(node);
    for (ParseTree* child : node->children) walk(child);
  }

 protected:
  // The name of an object, perhaps behind its schema; `is_new`: the statement makes it.
  virtual void name(NameOf of, const Names& names, bool is_new) = 0;
  // type 'text'.
  virtual void typed_literal(MnemeParser::NameContext* type, antlr4::Token* text) = 0;
  // A sequence's or a relation's name in a string.
  virtual void in_string(antlr4::Token* string) = 0;
  // The table of OWNED BY table.column.
  virtual void owner(antlr4::Token* table) = 0;

 private:
  void look_at(ParseTree* node) {
    if (auto* relation = dynamic_cast<MnemeParser::RelationContext*>(node)) return look_at_relation(relation);
    if (auto* queried = dynamic_cast<MnemeParser::QueriedRelationContext*>(node)) {
      const bool is_common =
          queried->name().size() == 1 && is_common_table(queried, text_of_name(queried->name(0)));
      if (!is_common) name(NameOf::kRelation, queried->name(), false);
    } else if (auto* table = dynamic_cast<MnemeParser::FunctionTableContext*>(node)) {
      name(NameOf::kRoutine, table->name(), false);
    } else if (auto* call = dynamic_cast<MnemeParser::CallContext*>(node)) {
      look_at_call(call);
    } else if (auto* type = dynamic_cast<MnemeParser::BaseTypeContext*>(node)) {
      if (!type->name().empty()) name(NameOf::kType, type->name(), false);
    } else if (auto* literal = dynamic_cast<MnemeParser::TypedLiteralContext*>(node)) {
      if (literal->name() == nullptr) return;
      typed_literal(literal->name(), literal->STRING()->getSymbol());
      if (text_of_name(literal->name()) == "regclass") in_string(literal->STRING()->getSymbol());
    } else if (auto* row = dynamic_cast<MnemeParser::RowTypeContext*>(node)) {
      // t%ROWTYPE, and no variable's %TYPE.
      if (text_of_name(row->name(1)) == "rowtype") name(NameOf::kRelation, {row->name(0)}, false);
    } else if (auto* column = dynamic_cast<MnemeParser::ColumnTypeContext*>(node)) {
      // s.t%ROWTYPE, or t.c%TYPE
      Names names = column->name();
      const bool is_row = text_of_name(names.back()) == "rowtype";
      names.resize(names.size() - (is_row ? 1 : 2));
      name(NameOf::kRelation, names, false);
    } else if (auto* cast = dynamic_cast<MnemeParser::CastContext*>(node)) {
      look_at_cast(cast);
    } else if (auto* commented = dynamic_cast<MnemeParser::CommentedContext*>(node)) {
      Names names = commented->name();
      if (!commented->COLUMN() || names.size() < 2) return;
      names.pop_back();
      name(NameOf::kRelation, names, false);
    } else if (auto* options = dynamic_cast<MnemeParser::SequenceOptionsContext*>(node)) {
      look_at_options(options);
    } else if (auto* command = dynamic_cast<MnemeParser::CommandContext*>(node)) {
      look_at_command(command);
    }
  }

  void look_at_relation(MnemeParser::RelationContext* relation) {
    ParseTree* around = relation->parent;
    const auto is = [&]<typename Context>(Context*) { return dynamic_cast<Context*>(around) != nullptr; };
    const bool is_new = is(static_cast<MnemeParser::CreateTableContext*>(nullptr)) ||
                        is(static_cast<MnemeParser::CreateTableAsContext*>(nullptr)) ||
                        is(static_cast<MnemeParser::CreateSequenceContext*>(nullptr)) ||
                        is(static_cast<MnemeParser::CreateViewContext*>(nullptr));
    if (is(static_cast<MnemeParser::CreateProcedureContext*>(nullptr)))
      return name(NameOf::kRoutine, relation->name(), true);
    if (is(static_cast<MnemeParser::CreateEnumContext*>(nullptr)))
      return name(NameOf::kType, relation->name(), true);
    NameOf of = NameOf::kRelation;
    if (is(static_cast<MnemeParser::CallProcedureContext*>(nullptr)) ||
        is(static_cast<MnemeParser::AlterRoutineContext*>(nullptr)))
      of = NameOf::kRoutine;
    if (is(static_cast<MnemeParser::AlterEnumContext*>(nullptr))) of = NameOf::kType;
    if (auto* drop = dynamic_cast<MnemeParser::DropContext*>(around)) {
      if (drop->TYPE()) of = NameOf::kType;
      if (drop->PROCEDURE() || drop->FUNCTION() || drop->ROUTINE()) of = NameOf::kRoutine;
    }
    if (auto* comment = dynamic_cast<MnemeParser::CommentedContext*>(around)) {
      if (comment->PROCEDURE() || comment->FUNCTION() || comment->ROUTINE()) of = NameOf::kRoutine;
    }
    name(of, relation->name(), is_new);
  }

  void look_at_call(MnemeParser::CallContext* call) {
    auto* function = call->functionName()->name();
    if (function == nullptr) return;
    Names names;
    if (call->name()) names.push_back(call->name());
    names.push_back(function);
    name(NameOf::kRoutine, names, false);
    const std::string text = text_of_name(function);
    if (text != "nextval" && text != "currval" && text != "setval") return;
    if (call->argument().empty()) return;
    antlr4::Token* first = call->argument(0)->getStart();
    if (first == call->argument(0)->getStop() && first->getType() == MnemeLexer::STRING) in_string(first);
  }

  void look_at_cast(MnemeParser::CastContext* cast) {
    if (cast->children.size() < 3 || cast->CAST_OPERATOR().empty() || cast->typeName().empty()) return;
    const bool is_first = cast->children[2] == cast->typeName(0);
    const std::string type = lowered(cast->typeName(0)->getText());
    antlr4::Token* first = cast->primary()->getStart();
    if (!is_first || (type != "regclass" && type != "pg_catalog.regclass")) return;
    if (first == cast->primary()->getStop() && first->getType() == MnemeLexer::STRING) in_string(first);
  }

  void look_at_options(MnemeParser::SequenceOptionsContext* options) {
    std::vector<antlr4::Token*> tokens;
    for (ParseTree* child : options->children) {
      if (auto* context = dynamic_cast<antlr4::ParserRuleContext*>(child))
        tokens.push_back(context->getStart());
      if (auto* word = dynamic_cast<antlr4::tree::TerminalNode*>(child)) tokens.push_back(word->getSymbol());
    }
    const auto is = [&](size_t at, std::string_view word) {
      return at < tokens.size() && lowered(tokens[at]->getText()) == word;
    };
    for (size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (is(i, "owned") && is(i + 1, "by") && is(i + 3, ".") && !is(i + 5, ".")) owner(tokens[i + 2]);
    }
  }

  // SELECT INTO makes a table.
  void look_at_command(MnemeParser::CommandContext* command) {
    if (!command->query() || !command->query()->selectCore()) return;
    const auto into = command->query()->selectCore()->into();
    if (!into.empty() && into[0]->target().size() == 1)
      name(NameOf::kRelation, into[0]->target(0)->name(), true);
  }

  static MnemeParser::WithContext* with_of(ParseTree* node) {
    if (auto* query = dynamic_cast<MnemeParser::QueryContext*>(node)) return query->with();
    if (auto* query = dynamic_cast<MnemeParser::NestedQueryContext*>(node)) return query->with();
    if (auto* query = dynamic_cast<MnemeParser::SelectQueryContext*>(node)) return query->with();
    if (auto* insert = dynamic_cast<MnemeParser::InsertContext*>(node)) return insert->with();
    if (auto* update = dynamic_cast<MnemeParser::UpdateContext*>(node)) return update->with();
    if (auto* erase = dynamic_cast<MnemeParser::DeleteRowsContext*>(node)) return erase->with();
    if (auto* merge = dynamic_cast<MnemeParser::MergeContext*>(node)) return merge->with();
    return nullptr;
  }

  // Whether the name is that of a table of a WITH around it. Without RECURSIVE those before it count alone.
  static bool is_common_table(ParseTree* node, const std::string& name) {
    const ParseTree* below = node;
    for (ParseTree* around = node->parent; around != nullptr; below = around, around = around->parent) {
      MnemeParser::WithContext* with = with_of(around);
      if (with == nullptr) continue;
      const bool is_inside = below == with;
      for (auto* table : with->commonTable()) {
        if (is_inside && with->IDENTIFIER() == nullptr && holds(table, node)) break;
        if (text_of_name(table->name()) == name) return true;
      }
    }
    return false;
  }

  static bool holds(const ParseTree* outer, const ParseTree* node) {
    while (node != nullptr && node != outer) node = node->parent;
    return node != nullptr;
  }
};

// Edits of a text.
class Edits {
 public:
  explicit Edits(std::string_view source) : text_(source) {}

  void insert(antlr4::Token* before, std::string text) {
    edits_[before->getStartIndex()] = {0, std::move(text)};
  }
  void replace(antlr4::Token* token, std::string text) {
    edits_[token->getStartIndex()] = {token->getStopIndex() + 1 - token->getStartIndex(), std::move(text)};
  }
  std::string made() const {
    std::string text;
    size_t at = 0;
    for (const auto& [begin, edit] : edits_) {
      text += text_.substr(at, begin - at);
      text += edit.second;
      at = begin + edit.first;
    }
    return text += text_.substr(at);
  }

 private:
  const std::string_view text_;
  std::map<size_t, std::pair<size_t, std::string>> edits_;
};

class Qualifier final : public NameWalk {
 public:
  Qualifier(std::string_view source, const NamePath& path) : edits_(source), path_(path) {}
  std::string made() const { return edits_.made(); }

 private:
  void name(NameOf of, const Names& names, bool is_new) override {
    if (names.size() != 1) return;
    std::string schema = is_new ? path_.creates_in : schema_of_found(of, text_of_name(names[0]));
    // PostgreSQL looks for the names of a routine's body as it is called, by the caller's path.
    if (!is_new && schema == kNowhere && is_in_routine(names[0])) schema = kPublicSchema;
    if (schema != kPublicSchema) edits_.insert(names[0]->getStart(), written_name(schema) + ".");
  }
  // The grammar has no schema in such a literal: it becomes a cast.
  void typed_literal(MnemeParser::NameContext* type, antlr4::Token* text) override {
    const std::string schema = schema_of_found(NameOf::kType, text_of_name(type));
    if (schema == kPublicSchema) return;
    edits_.replace(type->getStart(), "");
    edits_.replace(text, "(" + text->getText() + "::" + written_name(schema) + "." + type->getText() + ")");
  }
  void in_string(antlr4::Token* string) override {
    const std::string quoted = string->getText();
    std::string written = quoted.substr(1, quoted.size() - 2);
    for (size_t at = 0; (at = written.find("''", at)) != written.npos; ++at) written.erase(at, 1);
    if (end_of_written_name(written, 0) != written.size()) return;
    const std::string schema = schema_of_found(NameOf::kRelation, read_written_name(written));
    if (schema != kPublicSchema) edits_.replace(string, written_string(written_name(schema) + "." + written));
  }
  void owner(antlr4::Token* first) override {
    const std::string schema = schema_of_found(NameOf::kRelation, read_written_name(first->getText()));
    if (schema != kPublicSchema) edits_.insert(first, written_name(schema) + ".");
  }

  static bool is_in_routine(const ParseTree* node) {
    while (node != nullptr && dynamic_cast<const MnemeParser::CreateProcedureContext*>(node) == nullptr)
      node = node->parent;
    return node != nullptr;
  }

  std::string schema_of_found(NameOf of, const std::string& name) const {
    const auto& find = of == NameOf::kRelation  ? path_.relation
                       : of == NameOf::kRoutine ? path_.routine
                                                : path_.type;
    return find(name);
  }

  Edits edits_;
  const NamePath& path_;
};

}  // namespace

std::string with_schemas(antlr4::tree::ParseTree* tree, std::string_view source, const NamePath& path) {
  Qualifier qualifier(source, path);
  qualifier.walk(tree);
  return qualifier.made();
}

}  // namespace mneme
