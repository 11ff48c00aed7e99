// GROUP BY and FOR UPDATE of the syntax tree.
#include <algorithm>

#include "engine/schema/qualified_name.h"
#include "procedures/ir/source_error.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

namespace {

using Sets = std::vector<std::vector<syntax::Expr>>;

constexpr size_t kMostSets = 4096;
constexpr size_t kMostCubed = 12;

// An item of ROLLUP or CUBE may be several columns in parentheses.
std::vector<syntax::Expr> cubed_parts_of(const syntax::Expr& expr) {
  if (expr.kind != syntax::ExprKind::kRow) return {expr};
  return {expr.args.begin(), expr.args.end()};
}

Sets sets_of_function(const syntax::Expr& call) {
  Sets sets;
  const size_t count = call.args.size();
  const auto add = [&](auto&& takes) {
    std::vector<syntax::Expr>& set = sets.emplace_back();
    for (size_t i = 0; i < count; ++i) {
      if (!takes(i)) continue;
      for (syntax::Expr& part : cubed_parts_of(call.args[i])) set.push_back(std::move(part));
    }
  };
  if (call.text == "rollup") {
    for (size_t taken = count + 1; taken-- > 0;) add([&](size_t i) { return i < taken; });
    return sets;
  }
  if (count > kMostCubed) refuse_as("54011", call.where, "CUBE is limited to {} elements", kMostCubed);
  for (size_t mask = size_t{1} << count; mask-- > 0;)
    add([&](size_t i) { return (mask >> (count - 1 - i) & 1) != 0; });
  return sets;
}

Sets sets_of(MnemeParser::GroupItemContext* item) {
  if (item->expression()) {
    const syntax::Expr expr = read_expression(item->expression());
    const bool is_function = expr.kind == syntax::ExprKind::kCall && expr.qualifier.empty() && !expr.star &&
                             (expr.text == "rollup" || expr.text == "cube");
    return is_function ? sets_of_function(expr) : Sets{cubed_parts_of(expr)};
  }
  if (item->groupItem().empty()) return Sets(1);
  expect_word(item->IDENTIFIER(0), {"grouping"});
  expect_word(item->IDENTIFIER(1), {"sets"});
  Sets sets;
  for (auto* inner : item->groupItem()) {
    for (auto& set : sets_of(inner)) sets.push_back(std::move(set));
  }
  return sets;
}

}  // namespace

// Items beside each other combine: each set of one with each of the other.
Sets read_grouping_sets(const std::vector<MnemeParser::GroupItemContext*>& items,
                        syntax::SourceLocation where) {
  Sets sets(1);
  for (auto* item : items) {
    const Sets more = sets_of(item);
    if (sets.size() * more.size() > kMostSets)
      refuse_as("54001", where, "too many grouping sets present (maximum {})", kMostSets);
    Sets both;
    for (const auto& left : sets) {
      for (const auto& right : more) {
        both.push_back(left);
        both.back().insert(both.back().end(), right.begin(), right.end());
      }
    }
    sets = std::move(both);
  }
  return sets;
}

namespace {

struct LockStrength {
  std::vector<std::string_view> words;
  std::string_view clause;
  bool is_shared;
};

const LockStrength kLockStrengths[] = {
    {{"update"}, "FOR UPDATE", false},
    {{"no", "key", "update"}, "FOR NO KEY UPDATE", false},
    {{"share"}, "FOR SHARE", true},
    {{"key", "share"}, "FOR KEY SHARE", true},
};

[[noreturn]] void refuse_lock_word(antlr4::tree::ParseTree* at, MnemeParser::ForUpdateContext* context) {
  if (auto* word = dynamic_cast<antlr4::tree::TerminalNode*>(at))
    refuse_as(sqlstate::kSyntaxError, location(word->getSymbol()), "syntax error at or near \"{}\"",
              word->getText());
  refuse_as(sqlstate::kSyntaxError, location(context), "syntax error at or near \"{}\"", at->getText());
}

}  // namespace

syntax::LockClause read_lock(MnemeParser::ForUpdateContext* context, const std::vector<std::string>& tables) {
  const std::vector<antlr4::tree::ParseTree*>& parts = context->children;
  std::vector<std::string> words;
  for (auto* part : parts) words.push_back(lowered(part->getText()));
  size_t at = 1;
  const auto begins = [&](const LockStrength& strength) {
    return words.size() >= at + strength.words.size() &&
           std::equal(strength.words.begin(), strength.words.end(),
                      words.begin() + static_cast<ptrdiff_t>(at));
  };
  const auto* const strength = std::ranges::find_if(kLockStrengths, begins);
  if (strength == std::end(kLockStrengths)) refuse_lock_word(parts[at], context);
  syntax::LockClause lock;
  lock.where = location(context);
  lock.words = strength->clause;
  lock.is_shared = strength->is_shared;
  at += strength->words.size();
  if (at < words.size() && words[at] == "of") {
    do {
      auto* name = at + 1 < parts.size() ? dynamic_cast<MnemeParser::NameContext*>(parts[at + 1]) : nullptr;
      if (name == nullptr) refuse_lock_word(parts[at], context);
      lock.tables.push_back(read_name(name));
      at += 2;
    } while (at < words.size() && words[at] == ",");
  }
  if (at < words.size() && words[at] == "nowait") {
    lock.wait = ir::LockWait::kNoWait;
    ++at;
  } else if (at + 1 < words.size() && words[at] == "skip" && words[at + 1] == "locked") {
    lock.wait = ir::LockWait::kSkipsLocked;
    at += 2;
  }
  if (at < words.size()) refuse_lock_word(parts[at], context);
  for (const syntax::Name& table : lock.tables) {
    const auto is_it = [&](const std::string& each) { return names_source(table.text, each); };
    if (std::ranges::any_of(tables, is_it)) continue;
    refuse_as(sqlstate::kUndefinedTable, table.where, "relation \"{}\" in {} clause not found in FROM clause",
              table.text, lock.words);
  }
  return lock;
}

}  // namespace mneme
