#include "analyzer/rewriting/constant_reads.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "procedures/binder/operation_binder.h"
#include "procedures/ir/ir_walk.h"

namespace mneme {

bool finds_one_row(const ir::Operation& operation) {
  const bool is_read = operation.kind == ir::OperationKind::kSelect;
  if (!is_read && operation.kind != ir::OperationKind::kUpdate) return false;
  if (operation.access.size() != 1 || !operation.by_chance.empty()) return false;
  if (!operation.aggregates.empty() || !operation.groups.empty() || operation.limit || operation.offset)
    return false;
  const ir::AccessPath& path = operation.access[0].path;
  return path.kind == ir::AccessPath::Kind::kPoint &&
         std::ranges::all_of(path.equalities, [](const ir::AccessPath::Equality& equality) {
           return !equality.array.valid() && equality.values.size() == 1;
         });
}

namespace {

class ConstantColumns {
 public:
  explicit ConstantColumns(const Program& program) {
    for (const ir::Procedure& procedure : program.procedures) {
      for (const ir::Operation& operation : procedure.operations) {
        if (operation.kind == ir::OperationKind::kSelect) continue;
        const TableId table = operation.access[0].table;
        if (operation.kind != ir::OperationKind::kUpdate) changing_.insert(table);
        for (const ColumnId column : operation.columns_written) written_.emplace(table, column);
      }
    }
  }

  bool keeps_its_rows(TableId table) const { return !changing_.contains(table); }
  bool is_constant(TableId table, ColumnId column) const { return !written_.contains({table, column}); }
  // Returns whether the expression reads at least one column, and only constant columns of the table's row.
  bool reads_constants(TableId table, const ir::Expr& whole) const {
    bool reads = false;
    bool stays = true;
    ir::walk(whole, [&](const ir::Expr& part) {
      if (part.kind == ir::ExprKind::kAggregate || part.kind == ir::ExprKind::kQuery) stays = false;
      if (part.kind != ir::ExprKind::kColumn) return;
      reads = true;
      stays &= part.source == 0 && is_constant(table, part.column);
    });
    return reads && stays;
  }

 private:
  std::set<TableId> changing_;  // rows come or go
  std::set<std::pair<TableId, ColumnId>> written_;
};

// Returns whether the operation finds the same row, or none, whenever it runs.
bool finds_it_always(const Catalog& catalog, const ConstantColumns& constants,
                     const ir::Operation& operation) {
  const ir::TableAccess& access = operation.access[0];
  if (!constants.keeps_its_rows(access.table)) return false;
  const auto is_constant = [&](ColumnId column) { return constants.is_constant(access.table, column); };
  if (!std::ranges::all_of(catalog.index(access.path.index).columns, is_constant)) return false;
  return !access.filter || constants.reads_constants(access.table, *access.filter);
}

bool share_any(const std::vector<VariableId>& sorted, const std::vector<VariableId>& others) {
  return std::ranges::any_of(others, [&](VariableId v) { return std::ranges::binary_search(sorted, v); });
}

// Moves the constant outputs of `operation` into a new SELECT, which it returns. Returns nullopt if there are
// no constant outputs, or if `operation` is a SELECT of nothing else.
std::optional<ir::Operation> take_constants(const Catalog& catalog, const ConstantColumns& constants,
                                            ir::Operation& operation) {
  if (!finds_one_row(operation) || !finds_it_always(catalog, constants, operation)) return std::nullopt;
  const TableId table = operation.access[0].table;
  ir::Operation read;
  ir::Operation rest = operation;
  rest.outputs.clear();
  for (const ir::Output& output : operation.outputs) {
    const bool is_taken = output.into.valid() && constants.reads_constants(table, output.expr);
    (is_taken ? read : rest).outputs.push_back(output);
  }
  const bool is_all = operation.kind == ir::OperationKind::kSelect && rest.outputs.empty();
  if (read.outputs.empty() || is_all) return std::nullopt;
  read.kind = ir::OperationKind::kSelect;
  read.where = operation.where;
  read.text = operation.text;
  read.access = operation.access;
  note_names(catalog, read);
  note_names(catalog, rest);
  // The new SELECT runs first, so the rest must neither read nor set the variables that it sets.
  if (share_any(read.defines, rest.uses) || share_any(read.defines, rest.defines)) return std::nullopt;
  operation = std::move(rest);
  return read;
}

// A procedure whose operations are being taken apart.
class TakenApart {
 public:
  TakenApart(const Catalog& catalog, const ConstantColumns& constants, ir::Procedure& procedure) {
    std::set<OperationId> is_statement;  // operations that are no FOR loop's query
    collect(procedure.body, is_statement);
    for (ir::Operation& operation : procedure.operations) {
      std::optional<ir::Operation> read;
      if (is_statement.contains(operation.id)) read = take_constants(catalog, constants, operation);
      Numbers& numbers = numbers_.emplace_back();
      if (read) numbers.read = add(std::move(*read));
      numbers.rest = add(std::move(operation));
    }
    procedure.operations = std::move(operations_);
    place(procedure.body);
  }

  bool has_any() const { return reads_ > 0; }

 private:
  // The new numbers of a former operation.
  struct Numbers {
    OperationId read;  // not valid: nothing was taken from it
    OperationId rest;
  };

  static void collect(std::span<const ir::Statement> statements, std::set<OperationId>& into) {
    for (const ir::Statement& statement : statements) {
      if (statement.kind == ir::StatementKind::kOperation) into.insert(statement.operation);
      collect(statement.body, into);
      collect(statement.else_body, into);
    }
  }

  OperationId add(ir::Operation operation) {
    operation.id = OperationId(static_cast<uint32_t>(operations_.size()));
    operations_.push_back(std::move(operation));
    return operations_.back().id;
  }

  // Renumbers the statements' operations, and puts each read before the statement that it was taken from.
  template <typename Statements>
  void place(Statements& statements) {
    Statements placed;
    for (ir::Statement& statement : statements) {
      place(statement.body);
      place(statement.else_body);
      if (statement.operation.valid()) {
        const Numbers numbers = numbers_[statement.operation.value];
        if (numbers.read.valid()) {
          ir::Statement& read = placed.emplace_back();
          read.kind = ir::StatementKind::kOperation;
          read.where = statement.where;
          read.operation = numbers.read;
          ++reads_;
        }
        statement.operation = numbers.rest;
      }
      placed.push_back(std::move(statement));
    }
    statements = std::move(placed);
  }

  std::vector<ir::Operation> operations_;
  std::vector<Numbers> numbers_;  // by former number
  size_t reads_ = 0;
};

}  // namespace

std::unique_ptr<Program> with_constant_reads_apart(const Program& program) {
  const ConstantColumns constants(program);
  auto apart = std::make_unique<Program>(program);
  apart->procedures = {};
  for (size_t p = 0; p < program.procedures.size(); ++p) {
    auto procedure = std::make_shared<BoundProcedure>(program.procedures.bound(p));
    const TakenApart taken(program.catalog, constants, procedure->procedure);
    apart->procedures.push_back(taken.has_any() ? std::move(procedure) : program.procedures.shared(p));
  }
  return apart;
}

}  // namespace mneme
