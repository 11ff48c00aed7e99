// GROUP BY and FOR UPDATE of the syntax tree.
#include <algorithm>

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

syntax::SourceLocation read_lock(MnemeParser::ForUpdateContext* context,
                                 const std::vector<std::string>& tables) {
  std::vector<std::string> words;
  for (auto* child : context->children) words.push_back(lowered(child->getText()));
  size_t at = 1;
  if (context->KEY() && words[at] != "key") {
    expect_word(context->IDENTIFIER(0), {"no"});
    at += 3;
  } else if (words[at] == "key") {
    expect_word(context->IDENTIFIER(0), {"share"});
    at += 2;
  } else {
    if (!context->UPDATE()) expect_word(context->IDENTIFIER(0), {"share"});
    at += 1;
  }
  const bool waits = at == words.size() || words[at] == "of";
  if (!waits || (!context->name().empty() && words.back() == "nowait")) {
    refuse_as(sqlstate::kNotSupported, location(context),
              "NOWAIT and SKIP LOCKED are not supported; FOR UPDATE alone is accepted");
  }
  for (auto* name : context->name()) {
    const syntax::Name table = read_name(name);
    if (std::ranges::find(tables, table.text) != tables.end()) continue;
    refuse_as(sqlstate::kUndefinedTable, table.where,
              "relation \"{}\" in FOR UPDATE clause not found in FROM clause", table.text);
  }
  return location(context);
}

}  // namespace mneme
