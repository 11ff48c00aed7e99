// RowFinder: finds the rows of one table access: its path's keys, then its filter.
//
// Order       that of the index, forwards or backwards: the values of an IN or = ANY are sorted and taken
//             once each.
// Not here    joins, ordering, what becomes of a row (operation_runner.h).
#pragma once

#include <optional>
#include <span>

#include "base/function_ref.h"
#include "procedures/interpreter/run_state.h"
#include "procedures/ir/ir.h"

namespace mneme {

class RowFinder {
 public:
  // Called with the row at hand as the context's row `source`. False: no more rows, or the run has failed.
  using Visitor = FunctionRef<bool(const RowRef&)>;

  RowFinder(RunState& state, const ir::Operation& operation, uint32_t source);

  // False: the run has failed.
  [[nodiscard]] bool visit_all(bool backward, Visitor visit);

 private:
  enum class Next { kGoOn, kEnough, kFailed };

  bool prepare_values();
  bool prepare_bounds();
  bool prepare_bound(const std::optional<ir::AccessPath::Bound>& bound,
                     std::optional<KeyCodec::Bound>& prepared);
  bool collect_values(const ir::AccessPath::Equality& equality, std::span<const Value>& values);
  Next visit_from(size_t column);
  Next visit_keys();
  Next visit_row(const RowRef& row);
  Next ended_with(AccessStatus status);
  Purpose purpose() const;

  RunState& state_;
  const ir::Operation& operation_;
  const uint32_t source_;
  const ir::TableAccess& access_;
  const KeyCodec& codec_;

  bool backward_ = false;
  bool empty_ = false;                        // a condition on the key can hold for no row
  std::span<std::span<const Value>> values_;  // of each equality, in order, without NULLs and duplicates
  std::span<Value> prefix_;                   // the key at hand
  std::optional<KeyCodec::Bound> lower_;
  std::optional<KeyCodec::Bound> upper_;
  Visitor* visit_ = nullptr;
};

}  // namespace mneme
