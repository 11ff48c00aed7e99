// DefinitionReader's tables that are made of others: CREATE TABLE AS, SELECT INTO, and LIKE.
#include "procedures/ir/source_error.h"
#include "procedures/parser/definition_reader.h"

namespace mneme {

syntax::Table DefinitionReader::table(MnemeParser::CreateTableAsContext* context) {
  syntax::Table table;
  table.name = read_relation(context->relation());
  table.if_not_exists = context->EXISTS() != nullptr;
  if (context->storage()) check_storage(context->storage());
  if (context->nameList()) table.column_names = names(context->nameList());
  table.query = std::make_shared<const syntax::Query>(read_query(context->query()));
  const auto words = context->IDENTIFIER();
  if (words.size() == 2) expect_word(words[0], {"no"});
  if (!words.empty()) expect_word(words.back(), {"data"});
  table.with_data = words.size() < 2;
  return table;
}

MnemeParser::IntoContext* DefinitionReader::into_of(MnemeParser::CommandContext* context) {
  if (!context->query() || !context->query()->selectCore()) return nullptr;
  const auto written = context->query()->selectCore()->into();
  return written.empty() ? nullptr : written[0];
}

syntax::Definition DefinitionReader::table_of_select(MnemeParser::QueryContext* query,
                                                     MnemeParser::IntoContext* into) const {
  const bool is_name = !into->STRICT() && into->target().size() == 1 && !into->target(0)->expression();
  if (!is_name) refuse(location(into), "SELECT INTO names one table");
  syntax::Definition definition;
  syntax::Table& table = definition.table.emplace();
  const auto names = into->target(0)->name();
  table.name = read_qualified(names);
  table.query = std::make_shared<const syntax::Query>(read_query(query));
  definition.text = source_of(query->getStart(), query->getStop());
  return definition;
}

syntax::LikeTable DefinitionReader::like(MnemeParser::LikeTableContext* context) {
  syntax::LikeTable like;
  like.table = read_relation(context->relation());
  bool includes = false;
  for (size_t i = 2; i < context->children.size(); ++i) {
    const std::string word = lowered(context->children[i]->getText());
    if (i % 2 == 0) {
      includes = word == "including";
      if (!includes && word != "excluding")
        refuse(location(context), "\"{}\" is not understood here", context->children[i]->getText());
      continue;
    }
    const bool all = word == "all";
    if (all || word == "defaults") like.defaults = includes;
    if (all || word == "constraints") like.constraints = includes;
    if (all || word == "identity") like.identity = includes;
    if (all || word == "indexes") like.indexes = includes;
    if (all || word == "comments") like.comments = includes;
    if (all || word == "generated") like.generated = includes;
    // Tables here have nothing of these.
    const bool is_other =
        word == "generated" || word == "storage" || word == "statistics" || word == "compression";
    if (all || is_other || word == "defaults" || word == "constraints" || word == "identity" ||
        word == "indexes" || word == "comments")
      continue;
    refuse(location(context), "\"{}\" is not understood here", context->children[i]->getText());
  }
  return like;
}

}  // namespace mneme
