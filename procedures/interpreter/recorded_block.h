// RecordedBlock: where the recordings of one transaction lie in memory, for code that writes and reads many
// of them.
//
// Layout      a transaction has one block of memory, in which each recorded operation has its place. An
//             operation in no loop has its one iteration there, one in a loop the table of its iterations of
//             the outermost loop. An iteration's first execution lies in it, with the values of one row; what
//             comes after, or is more, is linked to it.
// Invariants  a block is zero where nothing was recorded. An execution of one row that is the first of an
//             iteration for which there is room is written by put(), without memory of its own but for text;
//             anything else goes by Recording::record().
// Threads     as Recording has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/memory/arena.h"
#include "engine/schema/value.h"

namespace mneme {

// One execution of an operation.
struct RecordedExecution {
  RecordedExecution* next;
  uint32_t rows;
  const Value* values;  // rows x outputs
};
// What one iteration recorded, with room for the values of one row behind it.
struct alignas(Value) RecordedIteration {
  RecordedExecution first;
  RecordedExecution* last;  // of those behind the first; none: nullptr
  bool is_recorded;

  Value* values() { return reinterpret_cast<Value*>(this + 1); }
  static constexpr uint32_t bytes(uint32_t outputs) {
    return static_cast<uint32_t>(sizeof(RecordedIteration) + outputs * sizeof(Value));
  }
};
struct RecordedIterations {
  std::byte* places = nullptr;
  uint32_t count = 0;
  uint32_t stride = 0;

  RecordedIteration& at(uint32_t iteration) const {
    return *reinterpret_cast<RecordedIteration*>(places + size_t{iteration} * stride);
  }
};

// An operation of a procedure, if it is recorded: where blocks have it.
struct RecordedOperation {
  bool is_recorded = false;
  bool is_in_loop = false;
  uint32_t place = 0;  // in the block, in bytes
  uint32_t outputs = 0;
};

class RecordedBlock {
 public:
  RecordedBlock() = default;  // of no transaction
  // `operations`: of the transaction's procedure, by their numbers. Text is kept in `arena`.
  RecordedBlock(std::byte* block, std::span<const RecordedOperation> operations, Arena& arena)
      : block_(block), operations_(operations), arena_(&arena) {}

  const RecordedOperation& operation(uint32_t number) const {
    const RecordedOperation& recorded = operations_[number];
    CHECK(recorded.is_recorded);
    return recorded;
  }
  Arena& arena() const { return *arena_; }

  RecordedIterations& iterations(const RecordedOperation& operation) const {
    return *reinterpret_cast<RecordedIterations*>(block_ + operation.place);
  }
  // Returns nullptr where the table of iterations does not reach so far.
  RecordedIteration* iteration(const RecordedOperation& operation, uint32_t number) const {
    if (!operation.is_in_loop) {
      CHECK(number == 0);
      return reinterpret_cast<RecordedIteration*>(block_ + operation.place);
    }
    const RecordedIterations& iterations = this->iterations(operation);
    return number < iterations.count ? &iterations.at(number) : nullptr;
  }

  // Records an execution of at most one row, with these outputs. Returns false where Recording::record() has
  // to, and has done nothing then.
  [[nodiscard]] bool put(uint32_t operation, uint32_t number, uint32_t rows, const Value* values) const {
    if (block_ == nullptr || rows > 1) return false;
    const RecordedOperation& recorded = this->operation(operation);
    RecordedIteration* const iteration = this->iteration(recorded, number);
    if (iteration == nullptr || iteration->is_recorded) return false;
    Value* const kept = iteration->values();
    const uint32_t count = rows * recorded.outputs;
    for (uint32_t i = 0; i < count; ++i) new (kept + i) Value(outliving(values[i]));
    iteration->is_recorded = true;
    iteration->first = {nullptr, rows, kept};
    return true;
  }
  // Returns the iteration's first execution, or nullptr if none is recorded there.
  const RecordedExecution* first(uint32_t operation, uint32_t number) const {
    if (block_ == nullptr) return nullptr;
    const RecordedIteration* const iteration = this->iteration(this->operation(operation), number);
    return iteration != nullptr && iteration->is_recorded ? &iteration->first : nullptr;
  }
  uint32_t outputs(uint32_t operation) const { return operations_[operation].outputs; }

 private:
  Value outliving(const Value& value) const {
    return value.kind() == Value::Kind::kText ? Value::of_text(arena_->copy(value.as_text())) : value;
  }

  std::byte* block_ = nullptr;
  std::span<const RecordedOperation> operations_;
  Arena* arena_ = nullptr;
};

}  // namespace mneme
