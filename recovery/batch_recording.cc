#include "recovery/batch_recording.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <type_traits>

#include "base/check.h"

namespace mneme {
namespace {

constexpr uint32_t kNotRecorded = std::numeric_limits<uint32_t>::max();

// As many as an order has lines.
constexpr uint32_t kFirstIterations = 16;

void collect_recorded(std::span<const ir::Statement> body, std::vector<OperationId>& into) {
  for (const ir::Statement& statement : body) {
    if (statement.mode == ir::OperationMode::kPerformAndRecord) into.push_back(statement.operation);
    collect_recorded(statement.body, into);
    collect_recorded(statement.else_body, into);
  }
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
    std::set<OperationId> in_loop;
    collect_repeated(local.replay.body, false, in_loop);

    auto& places = places_.emplace_back(local.replay.operations.size(), kNotRecorded);
    auto& operations = operations_.emplace_back();
    for (const OperationId id : recorded) {
      places[id.value] = static_cast<uint32_t>(operations.size());
      Operation operation;
      operation.id = id;
      for (const ir::Output& output : local.replay.operations[id.value].outputs) {
        if (output.expr.type.is_string()) operation.texts.push_back(operation.outputs);
        ++operation.outputs;
      }
      if (in_loop.contains(id)) operation.first_iterations = kFirstIterations;
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
  const RecordedOperations::Operation& recorded = batch_->operations_.of(procedure)[place];
  DCHECK(values.size() == size_t{rows} * recorded.outputs);

  // The values lie behind what says so.
  using Execution = BatchRecording::Execution;
  static_assert(sizeof(Execution) % alignof(Value) == 0 && std::is_trivially_copyable_v<Value>);
  auto* memory = static_cast<std::byte*>(arena_->allocate(sizeof(Execution) + values.size_bytes()));
  auto* kept = reinterpret_cast<Value*>(memory + sizeof(Execution));
  std::uninitialized_copy(values.begin(), values.end(), kept);
  for (size_t row = 0; row < rows; ++row) {
    for (const uint32_t text : recorded.texts) {
      Value& value = kept[row * recorded.outputs + text];
      if (!value.is_null()) value = Value::of_text(arena_->copy(value.as_text()));
    }
  }
  auto* execution = new (memory) Execution{nullptr, rows, {kept, values.size()}};

  std::span<BatchRecording::Iteration>& iterations = transaction_->operations[place];
  if (iteration >= iterations.size()) {
    batch_->grow(iterations, std::max(iteration + 1, recorded.first_iterations), *arena_);
  }
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
