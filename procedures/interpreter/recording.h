// Recording: the values that one slice of a transaction hands to later slices of it.
//
// A slice runs with variables of its own. What crosses slices are the outputs of database operations: the
// slice that performs an operation records its outputs (one set an execution), and a later slice that needs
// them recalls them in place of performing it, recomputing what lies between. So each value is assigned once,
// by one slice.
//
// Invariants  within one iteration of the procedure's outermost loop, a recalling slice meets the executions
//             of an operation in the order in which they were recorded. Different iterations may be recorded
//             in any order, by different threads, and stand apart (iteration 0 where the operation is in no
//             loop).
// Threads     see the implementation in recovery/; the interpreter only calls.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "engine/schema/value.h"
#include "procedures/interpreter/recorded_block.h"
#include "procedures/ir/ir.h"

namespace mneme {

class Recording {
 public:
  virtual ~Recording() = default;

  // One execution of the operation: it returned (without outputs: changed) `rows` rows, `values` holds their
  // outputs row by row. A row was found iff rows > 0. Text lives as long as the run that records it: the
  // recording copies it. `iteration` counts from 0.
  virtual void record(OperationId operation, uint32_t iteration, uint32_t rows,
                      std::span<const Value> values) = 0;

  // The executions of (operation, iteration) in order: `execution` counts from 0 within the iteration.
  struct Recorded {
    uint32_t rows;
    std::span<const Value> values;  // rows x outputs
  };
  virtual Recorded recall(OperationId operation, uint32_t iteration, uint32_t execution) = 0;
  // The same for a caller that is not sure that there is one.
  virtual std::optional<Recorded> find(OperationId operation, uint32_t iteration, uint32_t execution) = 0;

  // The same three for machine code, which records and recalls several times a piece: without a virtual call
  // where the transaction has a block, and its usual case is at hand.
  void put(OperationId operation, uint32_t iteration, uint32_t rows, std::span<const Value> values) {
    if (!block_.put(operation.value, iteration, rows, values.data())) [[unlikely]]
      record(operation, iteration, rows, values);
  }
  Recorded get(OperationId operation, uint32_t iteration, uint32_t execution) {
    if (execution == 0) [[likely]] {
      if (const RecordedExecution* first = block_.first(operation.value, iteration)) [[likely]]
        return recorded(operation, *first);
    }
    return recall(operation, iteration, execution);
  }
  std::optional<Recorded> find_first(OperationId operation, uint32_t iteration) {
    if (const RecordedExecution* first = block_.first(operation.value, iteration)) [[likely]]
      return recorded(operation, *first);
    return find(operation, iteration, 0);
  }

 protected:
  Recorded recorded(OperationId operation, const RecordedExecution& execution) const {
    return {execution.rows, {execution.values, size_t{execution.rows} * block_.outputs(operation.value)}};
  }

  RecordedBlock block_;  // of no transaction where recordings lie elsewhere
};

}  // namespace mneme
