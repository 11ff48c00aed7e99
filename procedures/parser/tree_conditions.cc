// RAISE, and the conditions of errors.
#include <algorithm>
#include <array>
#include <utility>

#include "procedures/ir/source_error.h"
#include "procedures/parser/condition_names.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

namespace {

struct Level {
  std::string_view word;
  ir::RaiseLevel level;
};

constexpr auto kLevels = std::to_array<Level>({{"debug", ir::RaiseLevel::kDebug},
                                               {"log", ir::RaiseLevel::kLog},
                                               {"info", ir::RaiseLevel::kInfo},
                                               {"notice", ir::RaiseLevel::kNotice},
                                               {"warning", ir::RaiseLevel::kWarning}});

}  // namespace

std::vector<std::string> read_condition(antlr4::tree::TerminalNode* word, antlr4::tree::TerminalNode* code) {
  const std::string name = lowered(word->getText());
  const syntax::SourceLocation where = location(word->getSymbol());
  if (code != nullptr) {
    if (name != "sqlstate")
      refuse(where, "\"{}\" is not understood here; expected SQLSTATE", word->getText());
    std::string sqlstate = read_string(code);
    if (!is_sqlstate(sqlstate)) refuse(where, "invalid SQLSTATE code");
    return {std::move(sqlstate)};
  }
  if (name == "others") return {};
  std::vector<std::string> sqlstates = sqlstates_of_condition(name);
  if (sqlstates.empty())
    refuse_as(sqlstate::kUndefinedObject, where, "unrecognized exception condition \"{}\"", name);
  return sqlstates;
}

syntax::Statement read_raise(MnemeParser::RaiseStatementContext* context) {
  syntax::Statement raise;
  raise.kind = syntax::StatementKind::kRaise;
  antlr4::tree::TerminalNode* word = context->IDENTIFIER();
  MnemeParser::RaisedContext* raised = context->raised();
  const auto* level =
      word == nullptr ? kLevels.end() : std::ranges::find(kLevels, lowered(word->getText()), &Level::word);
  if (level != kLevels.end()) {
    raise.level = level->level;
    word = nullptr;
  }
  raise.raises_again =
      !raised && !word && context->raiseOption().empty() && !context->EXCEPTION() && level == kLevels.end();
  const auto condition = [&](antlr4::tree::TerminalNode* name, antlr4::tree::TerminalNode* code) {
    const std::vector<std::string> sqlstates = read_condition(name, code);
    if (sqlstates.empty()) {
      refuse_as(sqlstate::kUndefinedObject, location(name->getSymbol()),
                "unrecognized exception condition \"others\"");
    }
    raise.sqlstate = sqlstates.front();
    raise.condition = code != nullptr ? raise.sqlstate : lowered(name->getText());
  };
  if (word != nullptr) {
    // RAISE division_by_zero, or RAISE SQLSTATE '22012'.
    if (raised != nullptr && (!raised->STRING() || !raised->expression().empty()))
      refuse(location(context), "\"{}\" is not understood here; expected a level of RAISE", word->getText());
    condition(word, raised != nullptr ? raised->STRING() : nullptr);
  } else if (raised != nullptr && raised->IDENTIFIER()) {
    condition(raised->IDENTIFIER(), raised->STRING());
  } else if (raised != nullptr) {
    raise.message = read_string(raised->STRING());
    for (auto* arg : raised->expression()) raise.args.push_back(read_expression(arg));
  }
  for (auto* option : context->raiseOption())
    raise.options.push_back({lowered(option->getStart()->getText()), read_expression(option->expression())});
  return raise;
}

}  // namespace mneme
