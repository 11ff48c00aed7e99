#include "procedures/binder/renumbering.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/deep_stack.h"
#include "procedures/binder/statement_binder.h"
#include "procedures/ir/ir_walk.h"

namespace mneme {

namespace {

template <typename Id, typename Definition>
std::vector<Id> numbers_of(const SharedList<Definition>& from, const SharedList<Definition>& to) {
  std::vector<Id> numbers(from.size());
  const auto has = [](const SharedList<Definition>& list, const std::string& name) {
    return std::ranges::find(list, name, &Definition::name) != list.end();
  };
  size_t next = 0;
  for (size_t i = 0; i < from.size() && next < to.size(); ++i) {
    const bool is_same = from.shared(i) == to.shared(next) || from[i].name == to[next].name;
    // A change that renames one makes no other, and takes none out.
    if (is_same || (from.size() == to.size() && !has(to, from[i].name) && !has(from, to[next].name)))
      numbers[i] = Id{static_cast<uint32_t>(next++)};
  }
  return numbers;
}

class Move {
 public:
  Move(const Renumbering& numbers, int64_t lines) : numbers_(numbers), lines_(lines) {}

  void change(ir::Procedure& procedure) const {
    move(procedure.where);
    for (ir::Operation& operation : procedure.operations) {
      move(operation.where);
      for (ir::TableAccess& access : operation.access) {
        access.table = numbers_.tables[access.table.value];
        if (access.path.index.valid()) access.path.index = numbers_.indexes[access.path.index.value];
      }
      ir::for_each_expression(operation, [&](ir::Expr& expr) { move(expr); });
    }
    const ir::Statement* attempt = find_try(procedure.body);
    const bool tries = attempt != nullptr && procedure.by_chance == reason_of_try(*attempt);
    for (ir::Statement& statement : procedure.body) move(statement);
    if (tries) {
      procedure.by_chance = reason_of_try(*attempt);
      return;
    }
    const auto chance = std::ranges::find_if(
        procedure.operations, [](const ir::Operation& each) { return !each.by_chance.empty(); });
    if (chance != procedure.operations.end())
      procedure.by_chance = fmt::format("line {}: {}", chance->where.line, chance->by_chance);
  }

 private:
  static const ir::Statement* find_try(std::span<const ir::Statement> statements) {
    for (const ir::Statement& statement : statements) {
      if (statement.kind == ir::StatementKind::kTry) return &statement;
      for (const std::span<const ir::Statement> list :
           {std::span(statement.body), std::span(statement.else_body)}) {
        if (const ir::Statement* found = find_try(list)) return found;
      }
    }
    return nullptr;
  }
  void move(ir::SourceLocation& where) const {
    if (where.line > 0) where.line = static_cast<uint32_t>(where.line + lines_);
  }
  void move(ir::Expr& expr) const {
    ir::walk(expr, [&](ir::Expr& each) { move(each.where); });
  }
  void move(ir::Statement& statement) const {
    move(statement.where);
    for (auto* expr : {&statement.expr, &statement.limit, &statement.step}) {
      if (*expr) move(**expr);
    }
    for (ir::Expr& expr : statement.args) move(expr);
    for (ir::Statement& each : statement.body) move(each);
    for (ir::Statement& each : statement.else_body) move(each);
  }

  const Renumbering& numbers_;
  const int64_t lines_;
};

}  // namespace

Renumbering::Renumbering(const Catalog& from, const Catalog& to)
    : tables(numbers_of<TableId>(from.tables(), to.tables())),
      indexes(numbers_of<IndexId>(from.indexes(), to.indexes())) {}

bool Renumbering::is_same() const {
  const auto are_same = [](const auto& numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i].valid() || numbers[i].value != i) return false;
    }
    return true;
  };
  return are_same(tables) && are_same(indexes);
}

std::shared_ptr<const BoundProcedure> renumbered(const std::shared_ptr<const BoundProcedure>& bound,
                                                 const Renumbering& numbers, ProcedureId id, int64_t lines) {
  const ir::Procedure& procedure = bound->procedure;
  const bool uses_others = std::ranges::any_of(procedure.operations, [&](const ir::Operation& operation) {
    return std::ranges::any_of(operation.access, [&](const ir::TableAccess& access) {
      return access.table != numbers.tables[access.table.value] ||
             (access.path.index.valid() && access.path.index != numbers.indexes[access.path.index.value]);
    });
  });
  if (!uses_others && procedure.id == id && lines == 0) return bound;
  auto changed = std::make_shared<BoundProcedure>(*bound);
  changed->procedure.id = id;
  for (IndexId& index : changed->ordered) index = numbers.indexes[index.value];
  on_deep_stack([&] { Move(numbers, lines).change(changed->procedure); });
  return changed;
}

}  // namespace mneme
