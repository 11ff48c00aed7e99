#include "recovery/calls/batch_recording.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <type_traits>

#include "base/check.h"

namespace mneme {
namespace {

// Room for so many is made at once: as many as an order has lines.
constexpr uint32_t kFirstIterations = 16;

void collect(ir::BodyView body, ir::OperationMode mode, std::vector<OperationId>& into) {
  for (const ir::Statement& statement : body.statements) {
    const bool is_in_mode = body.marks.of(statement).mode == mode;
    if (statement.operation.valid() && is_in_mode) into.push_back(statement.operation);
    collect(body.inner(statement.body), mode, into);
    collect(body.inner(statement.else_body), mode, into);
  }
}

std::vector<OperationId> operations_in_mode(const Slice& slice, ir::OperationMode mode) {
  std::vector<OperationId> operations;
  collect(slice.body, mode, operations);
  std::ranges::sort(operations);
  operations.erase(std::ranges::unique(operations).begin(), operations.end());
  return operations;
}

bool is_loop(ir::StatementKind kind) {
  return kind == ir::StatementKind::kForRange || kind == ir::StatementKind::kForQuery ||
         kind == ir::StatementKind::kWhile;
}

// The operations inside loops.
void collect_repeated(std::span<const ir::Statement> body, bool in_loop, std::set<OperationId>& into) {
  for (const ir::Statement& statement : body) {
    if (in_loop && statement.operation.valid()) into.insert(statement.operation);
    collect_repeated(statement.body, in_loop || is_loop(statement.kind), into);
    collect_repeated(statement.else_body, in_loop, into);
  }
}

}  // namespace

std::vector<OperationId> recorded_operations(const Slice& slice) {
  return operations_in_mode(slice, ir::OperationMode::kPerformAndRecord);
}

std::vector<OperationId> recalled_operations(const Slice& slice) {
  return operations_in_mode(slice, ir::OperationMode::kRecall);
}

RecordedOperations::RecordedOperations(const DependencyGraph& graph) {
  for (const LocalGraph& local : graph.procedures) {
    std::vector<OperationId> recorded;
    for (const Slice& slice : local.slices)
      std::ranges::copy(recorded_operations(slice), std::back_inserter(recorded));
    std::ranges::sort(recorded);
    std::set<OperationId> in_loop;
    for (const Slice& slice : local.slices) collect_repeated(slice.body.statements, false, in_loop);

    OfProcedure& procedure = procedures_.emplace_back();
    procedure.operations.resize(local.replay.operations.size());
    for (const OperationId id : recorded) {
      Operation& operation = procedure.operations[id.value];
      if (operation.is_recorded) continue;
      operation.is_recorded = true;
      operation.is_in_loop = in_loop.contains(id);
      for (const ir::Output& output : local.replay.operations[id.value].outputs) {
        if (output.expr.type.is_string()) operation.texts.push_back(operation.outputs);
        ++operation.outputs;
      }
      operation.place = static_cast<uint32_t>(procedure.block_bytes);
      procedure.block_bytes += operation.is_in_loop ? sizeof(BatchRecording::Iterations)
                                                    : BatchRecording::iteration_bytes(operation.outputs);
    }
  }
}

void BatchRecording::reset() {
  transactions_.clear();
  transactions_arena_.reset();
  for (Arena& arena : std::span(arenas_.get(), threads_)) arena.reset();
}

void BatchRecording::add(ProcedureId procedure) {
  transactions_.push_back(make(procedure, transactions_arena_));
}

BatchRecording::Transaction BatchRecording::make(ProcedureId procedure, Arena& arena) const {
  const size_t bytes = operations_.of(procedure).block_bytes;
  if (bytes == 0) return {procedure};
  auto* const block = static_cast<std::byte*>(arena.allocate(bytes));
  std::memset(block, 0, bytes);
  return {procedure, block};
}

void BatchRecording::reserve_iterations(uint32_t transaction, OperationId operation, uint32_t count,
                                        ReplayThreadId thread) {
  Transaction& of = transactions_[transaction];
  const RecordedOperations::Operation& recorded = operations_.of(of.procedure).of(operation);
  // In no loop it has its one iteration.
  if (recorded.is_in_loop) grow(of.iterations(recorded), recorded.outputs, count, arenas_[thread.value]);
}

// Executions that are linked stay where they are, and so do a first one's values, in the places left behind.
void BatchRecording::grow(Iterations& iterations, uint32_t outputs, uint32_t count, Arena& arena) {
  static_assert(alignof(Iteration) >= alignof(Value) && std::is_trivially_copyable_v<Value>);
  Iterations grown;
  grown.stride = iteration_bytes(outputs);
  grown.count = std::max(count, 2 * iterations.count);
  const size_t used = size_t{iterations.count} * grown.stride;
  const size_t bytes = size_t{grown.count} * grown.stride;
  grown.places = static_cast<std::byte*>(arena.allocate(bytes));
  if (used > 0) std::memcpy(grown.places, iterations.places, used);
  std::memset(grown.places + used, 0, bytes - used);
  iterations = grown;
}

[[gnu::always_inline]] inline BatchRecording::Iteration& TransactionRecording::iteration_of(
    const RecordedOperations::Operation& operation, uint32_t iteration) {
  if (!operation.is_in_loop) {
    CHECK(iteration == 0);
    return transaction_->iteration(operation);
  }
  BatchRecording::Iterations& iterations = transaction_->iterations(operation);
  if (iteration >= iterations.count) [[unlikely]]
    BatchRecording::grow(iterations, operation.outputs, std::max(iteration + 1, kFirstIterations), *arena_);
  return iterations.at(iteration);
}

[[gnu::always_inline]] inline const BatchRecording::Execution* TransactionRecording::find_execution(
    const RecordedOperations::Operation& operation, uint32_t iteration, uint32_t execution) const {
  const BatchRecording::Iteration* of = nullptr;
  if (!operation.is_in_loop) {
    CHECK(iteration == 0);
    of = &transaction_->iteration(operation);
  } else {
    const BatchRecording::Iterations& iterations = transaction_->iterations(operation);
    if (iteration >= iterations.count) return nullptr;
    of = &iterations.at(iteration);
  }
  if (!of->is_recorded) return nullptr;
  const BatchRecording::Execution* found = &of->first;
  for (; found != nullptr && execution > 0; --execution) found = found->next;
  return found;
}

void TransactionRecording::record(OperationId operation, uint32_t iteration, uint32_t rows,
                                  std::span<const Value> values) {
  using Execution = BatchRecording::Execution;
  const RecordedOperations::Operation& recorded = operations_->of(operation);
  DCHECK(values.size() == size_t{rows} * recorded.outputs);

  BatchRecording::Iteration& of = iteration_of(recorded, iteration);
  Value* kept = of.values();
  if (of.is_recorded || rows > 1) [[unlikely]]
    kept = static_cast<Value*>(arena_->allocate(values.size_bytes()));
  // Few, so the call that std::copy becomes would take longer than the work.
  for (size_t i = 0; i < values.size(); ++i) new (kept + i) Value(values[i]);
  for (size_t row = 0; row < rows; ++row) {
    for (const uint32_t text : recorded.texts) {
      Value& value = kept[row * recorded.outputs + text];
      if (!value.is_null()) value = Value::of_text(arena_->copy(value.as_text()));
    }
  }
  if (!of.is_recorded) {
    of.is_recorded = true;
    of.first = {nullptr, rows, kept};
    return;
  }
  auto* execution = new (arena_->allocate(sizeof(Execution))) Execution{nullptr, rows, kept};
  (of.last == nullptr ? of.first : *of.last).next = execution;
  of.last = execution;
}

Recording::Recorded TransactionRecording::recall(OperationId operation, uint32_t iteration,
                                                 uint32_t execution) {
  // The slice that performs the operation went through the same iterations and executions.
  const RecordedOperations::Operation& recorded = operations_->of(operation);
  const BatchRecording::Execution* const found = find_execution(recorded, iteration, execution);
  CHECK(found != nullptr);
  return {found->rows, {found->values, size_t{found->rows} * recorded.outputs}};
}

std::optional<Recording::Recorded> TransactionRecording::find(OperationId operation, uint32_t iteration,
                                                              uint32_t execution) {
  const RecordedOperations::Operation& recorded = operations_->of(operation);
  const BatchRecording::Execution* const found = find_execution(recorded, iteration, execution);
  if (found == nullptr) return std::nullopt;
  return Recorded{found->rows, {found->values, size_t{found->rows} * recorded.outputs}};
}

}  // namespace mneme
