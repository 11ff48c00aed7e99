// BatchRecording: the outputs that the pieces of one batch hand to later pieces of the same transactions.
//
// Layout      recorded_block.h
// Invariants  an entry is written by the piece that performs it and read by pieces of later blocks only.
// Threads     pieces of one transaction record at the same time where they are different operations, or
//             different iterations of one whose table of iterations was made by reserve_iterations(). Memory
//             comes from an arena a thread. The scheduler orders a reader after the writer (lane_scheduler.h,
//             invariant 2).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/dependency_graph.h"
#include "base/cache_line.h"
#include "base/check.h"
#include "base/memory/arena.h"
#include "base/memory/prefetch.h"
#include "procedures/interpreter/recorded_block.h"
#include "procedures/interpreter/recording.h"
#include "recovery/calls/lane_scheduler.h"

namespace mneme {

// The operations that the slice's body records, and those that it recalls, sorted.
std::vector<OperationId> recorded_operations(const Slice& slice);
std::vector<OperationId> recalled_operations(const Slice& slice);

// Which operations of each procedure are recorded, what they put out, and where a transaction's block has
// them.
class RecordedOperations {
 public:
  struct OfProcedure {
    std::vector<RecordedOperation> operations;  // by operation of the procedure
    size_t block_bytes = 0;

    // The operation is one that some slice records.
    const RecordedOperation& of(OperationId operation) const {
      const RecordedOperation& recorded = operations[operation.value];
      CHECK(recorded.is_recorded);
      return recorded;
    }
  };

  explicit RecordedOperations(const DependencyGraph& graph);

  const OfProcedure& of(ProcedureId procedure) const { return procedures_[procedure.value]; }

 private:
  std::vector<OfProcedure> procedures_;  // by ProcedureId
};

class BatchRecording {
 public:
  BatchRecording(const RecordedOperations& operations, uint32_t threads)
      : operations_(operations), arenas_(std::make_unique<Arena[]>(threads)), threads_(threads) {}

  // Forgets everything. Then one thread calls add() for each transaction of the batch, in order, or
  // add_nothing() for an ad-hoc one.
  void reset();
  void add(ProcedureId procedure);
  void add_nothing() { transactions_.push_back({}); }
  // Afterwards: several threads may, of different transactions to which nothing was added.
  void add_late(uint32_t transaction, ProcedureId procedure, ReplayThreadId thread) {
    transactions_[transaction] = make(procedure, arenas_[thread.value]);
  }
  // The thread's memory, which is given back with the recordings.
  Arena& arena(ReplayThreadId thread) { return arenas_[thread.value]; }

  // Asks for where the next one looks, and that one for where an operation's recordings begin.
  void prefetch_operations(uint32_t transaction) const {
    const Transaction& of = transactions_[transaction];
    prefetch_lines(of.block, std::min(kPrefetchedBytes, operations_.of(of.procedure).block_bytes));
  }
  void prefetch_recorded(uint32_t transaction, OperationId operation) const {
    const Transaction& of = transactions_[transaction];
    const RecordedOperation& recorded = operations_.of(of.procedure).of(operation);
    if (!recorded.is_in_loop) return;
    const RecordedIterations& iterations = of.iterations(recorded);
    prefetch_lines(iterations.places,
                   std::min(kPrefetchedBytes, size_t{iterations.count} * iterations.stride));
  }

  // Several threads may then record iterations below `count` of the operation.
  void reserve_iterations(uint32_t transaction, OperationId operation, uint32_t count, ReplayThreadId thread);

 private:
  friend class TransactionRecording;

  // Where the processor sees a sequence it goes on by itself.
  static constexpr size_t kPrefetchedBytes = size_t{4} * kCacheLineBytes;

  struct Transaction {
    ProcedureId procedure;
    std::byte* block = nullptr;  // none where nothing is recorded

    RecordedIterations& iterations(const RecordedOperation& operation) const {
      return *reinterpret_cast<RecordedIterations*>(block + operation.place);
    }
  };

  Transaction make(ProcedureId procedure, Arena& arena) const;
  static void grow(RecordedIterations& iterations, uint32_t outputs, uint32_t count, Arena& arena);

  const RecordedOperations& operations_;
  Arena transactions_arena_;
  std::vector<Transaction> transactions_;
  std::unique_ptr<Arena[]> arenas_;  // by thread
  const uint32_t threads_;
};

// One transaction's recording, as the interpreter of one thread sees it.
class TransactionRecording final : public Recording {
 public:
  void bind(BatchRecording& batch, uint32_t transaction, ReplayThreadId thread) {
    const BatchRecording::Transaction& of = batch.transactions_[transaction];
    block_ =
        RecordedBlock(of.block, batch.operations_.of(of.procedure).operations, batch.arenas_[thread.value]);
  }

  void record(OperationId operation, uint32_t iteration, uint32_t rows,
              std::span<const Value> values) override;
  Recorded recall(OperationId operation, uint32_t iteration, uint32_t execution) override;
  std::optional<Recorded> find(OperationId operation, uint32_t iteration, uint32_t execution) override;

 private:
  // Returns nullptr if none is recorded there.
  const RecordedExecution* find_execution(OperationId operation, uint32_t iteration,
                                          uint32_t execution) const;
};

}  // namespace mneme
