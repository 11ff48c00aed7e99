// Definition reader: the parse trees of definitions, and of a session's commands, to the syntax tree. Private
// to the parser.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "procedures/parser/tree_reader.h"

namespace mneme {

class DefinitionReader {
 public:
  DefinitionReader(std::string_view source, antlr4::CommonTokenStream& tokens)
      : source_(source), tokens_(tokens) {}

  syntax::File read(MnemeParser::FileContext* context);

  syntax::Command read(MnemeParser::CommandContext* context);

 private:
  uint32_t count_parameters() const;

  std::shared_ptr<const syntax::ChangeBlock> change_block(MnemeParser::ChangeBlockContext* context) const;
  std::vector<syntax::ChangeStep> change_steps(
      const std::vector<MnemeParser::ChangeStepContext*>& contexts) const;

  // Several for an ALTER TABLE of several actions.
  std::vector<syntax::Definition> definitions(MnemeParser::DefinitionContext* context);

  // What is taken out leaves blanks, so that places in the text stay as they are.
  void take_out_foreign_keys(MnemeParser::CreateTableContext* context, size_t begin,
                             syntax::Definition& definition) const;

  static std::vector<syntax::Name> names(MnemeParser::NameListContext* context);

  template <typename Context>
  static syntax::UniqueConstraint constraint(Context* context, MnemeParser::NameContext* name,
                                             std::vector<syntax::Name> columns) {
    return {name ? read_name(name) : syntax::Name(), std::move(columns), location(context)};
  }

  // The modes of a block. Every isolation level is accepted, as what runs is serializable, and so at least as
  // strict. Returns whether the last one says READ ONLY.
  static void read_modes(const std::vector<MnemeParser::TransactionModeContext*>& modes,
                         syntax::Command& command);

  std::string source_of(antlr4::Token* first, antlr4::Token* last) const;
  // One for each action, in the order in which PostgreSQL takes them.
  std::vector<syntax::Definition> alterations(MnemeParser::AlterTableContext* context) const;
  // Returns the definitions of its foreign keys, which it takes out of `text`, the action's.
  std::vector<syntax::Definition> added_column(MnemeParser::AddColumnContext* context,
                                               syntax::Alteration& made, std::string& text) const;
  void added_constraint(MnemeParser::TableConstraintContext* item, syntax::Alteration& made) const;
  void changed(MnemeParser::AlterActionContext* action, syntax::Alteration& made) const;
  static syntax::Alteration renaming(MnemeParser::RelationContext* relation, bool if_exists,
                                     antlr4::tree::TerminalNode* word, MnemeParser::NameContext* name);

  static syntax::Sequence sequence(MnemeParser::CreateSequenceContext* context);
  static syntax::Sequence sequence(MnemeParser::AlterSequenceContext* context);
  static void read_options(MnemeParser::SequenceOptionsContext* context, syntax::Sequence& made);
  static syntax::EnumChange created_enum(MnemeParser::CreateEnumContext* context);
  static syntax::EnumChange altered_enum(MnemeParser::AlterEnumContext* context);
  static syntax::SchemaChange schema_change(MnemeParser::CreateSchemaContext* context);
  [[noreturn]] static void refuse_new_name(MnemeParser::AlterSchemaContext* context);
  syntax::View view(MnemeParser::CreateViewContext* context) const;
  syntax::Definition commented(MnemeParser::CommentContext* context) const;
  void read_comment(MnemeParser::CommentContext* context, syntax::Command& command) const;

  syntax::Check read_check(MnemeParser::CheckContext* context, MnemeParser::NameContext* name) const;

  static syntax::ForeignKey foreign_key(MnemeParser::ReferencesContext* context,
                                        MnemeParser::NameContext* name, std::vector<syntax::Name> columns);

  // MATCH SIMPLE, [NOT] DEFERRABLE, INITIALLY ...: in lower case.
  static void read_reference_words(std::span<const std::string> words, syntax::ForeignKey& key);

  static ForeignKeyAction reference_action(MnemeParser::ReferenceActionContext* context);

  static void set_primary_key(syntax::Table& table, syntax::UniqueConstraint key);

  // SERIAL is an integer that draws its DEFAULT from a sequence.
  static void make_serial(syntax::ColumnDefinition& column);

  static void check_operators(antlr4::tree::TerminalNode* name);
  static Identity identity(const std::vector<antlr4::tree::TerminalNode*>& words, bool is_by_default);

  // The DEFAULT of a SERIAL column.
  static void draw_from_sequence(const syntax::Table& table, syntax::ColumnDefinition& column);

  void column(MnemeParser::ColumnContext* context, syntax::Table& table) const;

  syntax::Table table(MnemeParser::CreateTableContext* context) const;
  static syntax::Table table(MnemeParser::CreateTableAsContext* context);
  static syntax::LikeTable like(MnemeParser::LikeTableContext* context);
  // The INTO of a SELECT that makes a table; nullptr where the command is another one.
  static MnemeParser::IntoContext* into_of(MnemeParser::CommandContext* context);
  syntax::Definition table_of_select(MnemeParser::QueryContext* query, MnemeParser::IntoContext* into) const;

  // How full PostgreSQL packs its pages means nothing to rows in memory.
  static void check_storage(MnemeParser::StorageContext* context);

  static void check_method(MnemeParser::NameContext* context);

  syntax::Index index(MnemeParser::CreateIndexContext* context) const;
  // What the source has there.
  std::string written(antlr4::ParserRuleContext* context) const;

  syntax::Procedure procedure(MnemeParser::CreateProcedureContext* context);

  // PostgreSQL ends the body at the first repetition of its opening quote, be it in a string, a comment or a
  // name.
  void check_dollar_quotes(MnemeParser::BodyClauseContext* context);

  const std::string_view source_;
  antlr4::CommonTokenStream& tokens_;
};

}  // namespace mneme
