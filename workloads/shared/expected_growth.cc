#include "workloads/shared/expected_growth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace mneme {
namespace {

constexpr uint64_t kSampleCalls = 1000;
constexpr double kUnknownRounds = 10;
// Index nodes are about so many times as large as what is in them.
constexpr double kIndexRoom = 1.7;

struct RowCounts {
  double inserted = 0;
  double deleted = 0;

  // Inserted minus deleted rows; 0 if a sample deletes as many.
  double added() const {
    const double chance = deleted > 0 ? 2 * std::sqrt(inserted + deleted) : 0;
    return inserted - deleted > chance ? inserted - deleted : 0;
  }
};
using RowsByTable = std::map<TableId, RowCounts>;

// The rows that one call inserts and deletes.
class CallRows {
 public:
  CallRows(const ir::Procedure& procedure, const Call& call, RowsByTable& rows)
      : procedure_(procedure), call_(call), rows_(rows) {}

  void count() { count(procedure_.body, 1); }

 private:
  void count(const std::vector<ir::Statement>& body, double times) {
    for (const ir::Statement& statement : body) {
      if (statement.kind == ir::StatementKind::kOperation || statement.kind == ir::StatementKind::kForQuery)
        count(procedure_.operations[statement.operation.value], times);
      count(statement.body, times * rounds(statement));
      count(statement.else_body, times);
    }
  }

  void count(const ir::Operation& operation, double times) {
    if (operation.kind == ir::OperationKind::kInsert) rows_[operation.access[0].table].inserted += times;
    if (operation.kind == ir::OperationKind::kDelete) rows_[operation.access[0].table].deleted += times;
  }

  // How often a statement runs its body.
  double rounds(const ir::Statement& statement) const {
    switch (statement.kind) {
      case ir::StatementKind::kIf:
        return 1;
      case ir::StatementKind::kForRange: {
        const auto from = number(*statement.expr);
        const auto to = number(*statement.limit);
        if (statement.step || !from || !to) return kUnknownRounds;
        return std::max(0.0, (statement.reverse ? *from - *to : *to - *from) + 1);
      }
      default:
        return kUnknownRounds;
    }
  }

  std::optional<double> number(const ir::Expr& expr) const {
    switch (expr.kind) {
      case ir::ExprKind::kConstant:
        if (!expr.type.is_integer() || expr.constant.is_null()) return std::nullopt;
        return static_cast<double>(expr.constant.as_int());
      case ir::ExprKind::kCast:
        return number(expr.args[0]);
      case ir::ExprKind::kVariable: {
        const Argument* const argument = argument_of(expr.variable);
        if (argument == nullptr || !expr.type.is_integer() || argument->scalar.is_null()) return std::nullopt;
        return static_cast<double>(argument->scalar.as_int());
      }
      case ir::ExprKind::kFunction: {
        const Argument* const argument = argument_of(expr.variable);
        if (expr.function != ir::Function::kCardinality || argument == nullptr) return std::nullopt;
        return static_cast<double>(argument->array.size());
      }
      default:
        return std::nullopt;
    }
  }

  const Argument* argument_of(VariableId variable) const {
    for (size_t i = 0; i < procedure_.parameters.size(); ++i) {
      if (procedure_.parameters[i].variable == variable) return &call_.arguments[i];
    }
    return nullptr;
  }

  const ir::Procedure& procedure_;
  const Call& call_;
  RowsByTable& rows_;
};

double bytes_of_row(const IndexedTable& table) {
  double bytes = static_cast<double>(table.rows().slot_bytes());
  for (const TableIndex& index : table.indexes())
    bytes += kIndexRoom * static_cast<double>((index.index->key_words() + 1) * sizeof(uint64_t));
  return bytes;
}

}  // namespace

double expected_growth_per_call(const Workload& workload, const Program& program, const Database& database) {
  RowsByTable rows;
  const auto calls = workload.generator({});
  for (uint64_t position = 0; position < kSampleCalls; ++position) {
    const Call& call = calls->call(position);
    CallRows(program.procedure(call.procedure), call, rows).count();
  }
  double bytes = 0;
  for (const auto& [table, counts] : rows) bytes += counts.added() * bytes_of_row(database.table(table));
  return bytes / kSampleCalls;
}

}  // namespace mneme
