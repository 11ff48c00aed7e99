#include "recovery/batch_recording.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace mneme {
namespace {

constexpr uint32_t kNotRecorded = std::numeric_limits<uint32_t>::max();

void collect_recorded(std::span<const ir::Statement> body, std::vector<OperationId>& into) {
  for (const ir::Statement& statement : body) {
    if (statement.mode == ir::OperationMode::kPerformAndRecord) into.push_back(statement.operation);
    collect_recorded(statement.body, into);
    collect_recorded(statement.else_body, into);
  }
}

}  // namespace

std::vector<OperationId> recorded_operations(const Slice& slice) {
  std::vector<OperationId> recorded;
  collect_recorded(slice.body, recorded);
  std::ranges::sort(recorded);
  recorded.erase(std::ranges::unique(recorded).begin(), recorded.end());
  return recorded;
}

RecordedOperations::RecordedOperations(const DependencyGraph& graph) {
  for (const LocalGraph& local : graph.procedures) {
    std::vector<OperationId> recorded;
    for (const Slice& slice : local.slices)
      std::ranges::copy(recorded_operations(slice), std::back_inserter(recorded));
    std::ranges::sort(recorded);

    auto& places = places_.emplace_back(local.replay.operations.size(), kNotRecorded);
    auto& operations = operations_.emplace_back();
    for (const OperationId id : recorded) {
      places[id.value] = static_cast<uint32_t>(operations.size());
      Operation operation{id, {}};
      for (const ir::Output& output : local.replay.operations[id.value].outputs) {
        operation.output_is_text.push_back(output.expr.type.is_string());
      }
      operations.push_back(std::move(operation));
    }
  }
}

void BatchRecording::reset() {
  transactions_.clear();
  transactions_arena_.reset();
  for (Arena& arena : arenas_) arena.reset();
}

void BatchRecording::add(ProcedureId procedure) {
  const size_t count = operations_.of(procedure).size();
  transactions_.push_back({procedure, transactions_arena_.make_array<std::span<Iteration>>(count)});
}

void BatchRecording::reserve_iterations(uint32_t transaction, OperationId operation, uint32_t count,
                                        ReplayThreadId thread) {
  Transaction& of = transactions_[transaction];
  grow(of.operations[operations_.place(of.procedure, operation)], count, arenas_[thread.value]);
}

void BatchRecording::grow(std::span<Iteration>& iterations, size_t count, Arena& arena) {
  const std::span<Iteration> grown = arena.make_array<Iteration>(std::max(count, 2 * iterations.size()));
  std::copy(iterations.begin(), iterations.end(), grown.begin());
  iterations = grown;
}

void TransactionRecording::record(OperationId operation, uint32_t iteration, uint32_t rows,
                                  std::span<const Value> values) {
  const ProcedureId procedure = transaction_->procedure;
  const uint32_t place = batch_->operations_.place(procedure, operation);
  CHECK(place != kNotRecorded);
  const std::vector<bool>& is_text = batch_->operations_.of(procedure)[place].output_is_text;
  DCHECK(values.size() == rows * is_text.size());

  const std::span<Value> kept = arena_->make_array<Value>(values.size());
  for (size_t i = 0, column = 0; i < values.size(); ++i) {
    const Value& value = values[i];
    kept[i] = is_text[column] && !value.is_null() ? Value::of_text(arena_->copy(value.as_text())) : value;
    if (++column == is_text.size()) column = 0;
  }
  auto* execution = new (arena_->allocate(sizeof(BatchRecording::Execution)))
      BatchRecording::Execution{nullptr, rows, kept};

  std::span<BatchRecording::Iteration>& iterations = transaction_->operations[place];
  if (iteration >= iterations.size()) batch_->grow(iterations, iteration + 1, *arena_);
  BatchRecording::Iteration& of = iterations[iteration];
  (of.first == nullptr ? of.first : of.last->next) = execution;
  of.last = execution;
}

Recording::Recorded TransactionRecording::recall(OperationId operation, uint32_t iteration,
                                                 uint32_t execution) {
  // The slice that performs the operation went through the same iterations and executions.
  const std::optional<Recorded> found = find(operation, iteration, execution);
  CHECK(found.has_value());
  return *found;
}

std::optional<Recording::Recorded> TransactionRecording::find(OperationId operation, uint32_t iteration,
                                                              uint32_t execution) {
  const uint32_t place = batch_->operations_.place(transaction_->procedure, operation);
  CHECK(place != kNotRecorded);
  const std::span<BatchRecording::Iteration> iterations = transaction_->operations[place];
  if (iteration >= iterations.size()) return std::nullopt;
  const BatchRecording::Execution* found = iterations[iteration].first;
  for (; found != nullptr && execution > 0; --execution) found = found->next;
  if (found == nullptr) return std::nullopt;
  return Recorded{found->rows, found->values};
}

}  // namespace mneme
