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
      RecordedOperation& operation = procedure.operations[id.value];
      if (operation.is_recorded) continue;
      operation.is_recorded = true;
      operation.is_in_loop = in_loop.contains(id);
      operation.outputs = static_cast<uint32_t>(local.replay.operations[id.value].outputs.size());
      operation.place = static_cast<uint32_t>(procedure.block_bytes);
      procedure.block_bytes +=
          operation.is_in_loop ? sizeof(RecordedIterations) : RecordedIteration::bytes(operation.outputs);
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
  const RecordedOperation& recorded = operations_.of(of.procedure).of(operation);
  // In no loop it has its one iteration.
  if (recorded.is_in_loop) grow(of.iterations(recorded), recorded.outputs, count, arenas_[thread.value]);
}

// Executions that are linked stay where they are, and so do a first one's values, in the places left behind.
void BatchRecording::grow(RecordedIterations& iterations, uint32_t outputs, uint32_t count, Arena& arena) {
  static_assert(alignof(RecordedIteration) >= alignof(Value) && std::is_trivially_copyable_v<Value>);
  RecordedIterations grown;
  grown.stride = RecordedIteration::bytes(outputs);
  grown.count = std::max(count, 2 * iterations.count);
  const size_t used = size_t{iterations.count} * grown.stride;
  const size_t bytes = size_t{grown.count} * grown.stride;
  grown.places = static_cast<std::byte*>(arena.allocate(bytes));
  if (used > 0) std::memcpy(grown.places, iterations.places, used);
  std::memset(grown.places + used, 0, bytes - used);
  iterations = grown;
}

const RecordedExecution* TransactionRecording::find_execution(OperationId operation, uint32_t iteration,
                                                              uint32_t execution) const {
  const RecordedExecution* found = block_.first(operation.value, iteration);
  for (; found != nullptr && execution > 0; --execution) found = found->next;
  return found;
}

// Makes room, and then takes what RecordedBlock::put() does not: more rows than one, and executions behind an
// iteration's first.
void TransactionRecording::record(OperationId operation, uint32_t iteration, uint32_t rows,
                                  std::span<const Value> values) {
  const RecordedOperation& recorded = block_.operation(operation.value);
  DCHECK(values.size() == size_t{rows} * recorded.outputs);
  if (block_.iteration(recorded, iteration) == nullptr) {
    BatchRecording::grow(block_.iterations(recorded), recorded.outputs,
                         std::max(iteration + 1, kFirstIterations), block_.arena());
  }
  if (block_.put(operation.value, iteration, rows, values.data())) return;
  const std::span<Value> kept = block_.arena().make_array<Value>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_text = values[i].kind() == Value::Kind::kText;
    kept[i] = is_text ? Value::of_text(block_.arena().copy(values[i].as_text())) : values[i];
  }
  RecordedIteration& of = *block_.iteration(recorded, iteration);
  if (!of.is_recorded) {
    of.is_recorded = true;
    of.first = {nullptr, rows, kept.data()};
    return;
  }
  auto* execution =
      new (block_.arena().allocate(sizeof(RecordedExecution))) RecordedExecution{nullptr, rows, kept.data()};
  (of.last == nullptr ? of.first : *of.last).next = execution;
  of.last = execution;
}

Recording::Recorded TransactionRecording::recall(OperationId operation, uint32_t iteration,
                                                 uint32_t execution) {
  // The slice that performs the operation went through the same iterations and executions.
  const RecordedExecution* const found = find_execution(operation, iteration, execution);
  CHECK(found != nullptr);
  return Recording::recorded(operation, *found);
}

std::optional<Recording::Recorded> TransactionRecording::find(OperationId operation, uint32_t iteration,
                                                              uint32_t execution) {
  const RecordedExecution* const found = find_execution(operation, iteration, execution);
  if (found == nullptr) return std::nullopt;
  return Recording::recorded(operation, *found);
}

}  // namespace mneme
