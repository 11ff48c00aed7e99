// Dependency graph: what replay needs to know about a set of stored procedures, found from their IR alone.
//
// Flow        Program -> flow and data dependencies -> slices of each procedure (local graph, Algorithm 1) ->
//             blocks over all procedures (global graph, Algorithm 2) -> what each slice runs, and its lanes.
// Invariants  Two slices that are data-dependent are in one block; a block holds at most one slice of a
//             procedure. The blocks form a directed acyclic graph, listed predecessors first, and so do a
//             procedure's slices. A slice's body performs its own replayed operations, recalls outputs of
//             slices in ancestor blocks, and computes all between them anew: it runs by itself, with
//             variables of its own. Every row that a slice reads or writes in a table that its block writes
//             lies in a lane that its locate body reports, or the access is wide (LocatedAccess). A column to
//             which slices of several blocks add is added to atomically (SharedColumn), and no replayed
//             operation does anything else to it.
// Threads     constant once made. The Program must outlive it: text constants point into its string pool.
// Source      PACMAN (SIGMOD 2017), sections 4.1 and 4.3, Algorithms 1 and 2.
#pragma once

#include <string>
#include <vector>

#include "analyzer/analysis_options.h"
#include "base/strong_id.h"
#include "engine/schema/catalog.h"
#include "procedures/binder/program.h"
#include "procedures/ir/ir.h"
#include "procedures/ir/marked_body.h"

namespace mneme {

using SliceId = StrongId<struct SliceIdTag>;  // counts within its procedure, predecessors first
using BlockId = StrongId<struct BlockIdTag>;  // counts within the graph, predecessors first

// `to` cannot run before `from` has: it uses a value that `from` found, or `from` decides whether it runs.
struct FlowDependency {
  OperationId from;
  OperationId to;
  bool loop_carried =
      false;           // `to` in one iteration depends on `from` in an earlier one of the outermost loop
  std::string reason;  // variable or condition, and lines, for listings
};

struct DataDependency {
  OperationId first;  // in program order
  OperationId second;
  std::string reason;
};

// What a locate body reports of one access.
struct LocatedAccess {
  OperationId operation;
  uint32_t access;
  TableId table;
  // Whose values it reports: of the columns of the table's lane ways (LaneTable) those that it fixes.
  std::vector<ColumnId> columns;
  // By way: which rows it touches does not follow from the way's columns, or it moves rows between lanes. Its
  // piece concerns all of the block's lanes.
  std::vector<bool> is_wide;
  // By way: the same for a call whose record has a hint of the operation (told_key(), lane_plan.h).
  std::vector<bool> is_wide_hinted{};
  // Where these differ: the operation under whose number the hint stands, and the columns of its keys.
  OperationId hint{};
  std::vector<ColumnId> hint_columns{};
};

struct SliceEdge {
  SliceId from;
  SliceId to;
  std::vector<std::string> reasons;  // of the flow dependencies behind it, each once
};

// A part of a slice that nothing flows to or from within the slice.
struct SlicePart {
  std::vector<OperationId> replayed;
  ir::MarkedBody body;  // as Slice::body, of these operations alone
};

struct Slice {
  SliceId id;
  std::string label;                    // "T1": the procedure's initial and a number, for listings
  BlockId block;                        // not valid in a read-only procedure, which is never logged
  std::vector<OperationId> operations;  // in program order
  std::vector<std::string> merges;      // why they are one slice
  // The `operations` that replay performs: all writes, and the reads that some write depends on. The other
  // reads feed results or the guards of RAISE only; a slice of nothing else is not replayed and has empty
  // bodies.
  std::vector<OperationId> replayed;
  bool is_replayed() const { return !replayed.empty(); }

  // The body that replay runs against LocalGraph::replay; its marks say how it treats each operation. Where
  // hints say the lanes of an access (LocatedAccess::hint), it tells the key before.
  ir::MarkedBody body;
  // Dispatch runs it to learn the lanes: operations of the slice are marked kLocate, one for each access
  // to a table whose rows are spread over lanes, with one value of the lane key for each of
  // LocatedAccess::columns (an access with the same key as the one before is left out). It recalls from
  // ancestor blocks only. Where it depends on the slice's own reads whether an access happens, the access is
  // reported as if it did. A run that reports nothing may go to any lane.
  ir::MarkedBody locate_body;
  std::vector<LocatedAccess> located;  // in program order
  // All replayed operations lie in one outermost FOR loop, marked in `body` and `locate_body`, and each of
  // its iterations can run apart from the others. Iterations that the locate body does not report have
  // nothing to do.
  bool iterations_independent = false;
  // The parts that `replayed` falls into, in program order; none where it is of one piece. Each can run apart
  // from the others wherever their rows have different lanes: data that two of them share is ordered by the
  // lanes, as that of two calls is. (PACMAN's Figure 8: Amy's account and Bob's.)
  std::vector<SlicePart> parts;
  const ir::Statement* iteration_loop() const;  // that loop in `body`, or null
};

// A procedure's slices and what orders them.
struct LocalGraph {
  ProcedureId procedure;
  // The procedure with operations cut to the outputs that replay uses; what slices' bodies refer to.
  ir::Procedure replay;
  std::vector<FlowDependency> flow;
  std::vector<DataDependency> data;
  std::vector<Slice> slices;
  std::vector<SliceEdge> edges;
};

// Why a table can't be cut into lanes by one of its columns.
struct LostColumn {
  std::string column;
  uint32_t line = 0;      // of the statement that costs it; 0 where an index or the column's type does
  std::string statement;  // that statement's text, or empty
  std::string reason;
  std::string advice;  // what would give the column back; may be empty

  // "id: line 3 takes its value from what the slice itself reads; a parameter would be known".
  std::string text() const { return column + ": " + reason + (advice.empty() ? "" : "; " + advice); }
};

// How a block's rows of one table are spread over lanes. A table that no replayed operation of the block
// writes has none: its rows do not change while the block runs.
struct LaneTable {
  TableId table;
  // A row's lane follows from its values in these columns, which every access fixes. None: all of the table's
  // rows are in one lane.
  std::vector<ColumnId> columns;
  // Other ways to cut, by more columns than these: some accesses are wide then. Which way pays depends on how
  // often each access is met, so replay chooses (lane_planner.h).
  std::vector<std::vector<ColumnId>> finer;
  // Where `columns` are none: each column that could cut the table.
  std::vector<LostColumn> lost;
  // How many of the last of `finer` are there because hints let accesses follow them that are wide without.
  size_t by_hint = 0;
  // The block only inserts, into a table without a unique key: nothing orders the rows, any lane will do, and
  // locate bodies do not report them.
  bool any_lane = false;

  // Way 0 is `columns`, then come the finer ones.
  size_t ways() const { return 1 + finer.size(); }
  // They come first, and need no hints.
  size_t plain_ways() const { return ways() - by_hint; }
  const std::vector<ColumnId>& way(size_t number) const { return number == 0 ? columns : finer[number - 1]; }
};

struct BlockMember {
  ProcedureId procedure;
  SliceId slice;
};

struct Block {
  BlockId id;
  std::string name;  // a Greek letter, as the paper names them
  std::vector<BlockMember> members;
  std::vector<std::string> merges;  // why they are one block
  std::vector<TableId> tables;      // touched, sorted
  std::vector<LaneTable> lanes;
  std::vector<BlockId> predecessors;  // direct ones, sorted
  std::vector<BlockId> successors;

  const LaneTable* lane_table(TableId table) const;
};

struct BlockEdge {
  BlockId from;
  BlockId to;
  std::vector<std::string> reasons;
};

// A column to which several blocks add.
struct SharedColumn {
  TableId table;
  ColumnId column;
  std::vector<BlockId> blocks;
};

struct DependencyGraph {
  std::vector<LocalGraph> procedures;  // by ProcedureId
  std::vector<Block> blocks;           // by BlockId
  std::vector<BlockEdge> edges;
  // Conflicts that order nothing and were used as such: for listings, and to find columns that are added to
  // atomically.
  std::vector<TableId> insert_only;
  std::vector<SharedColumn> shared_columns;

  const LocalGraph& local(ProcedureId id) const { return procedures[id.value]; }
  const Block& block(BlockId id) const { return blocks[id.value]; }

  bool is_shared(TableId table, ColumnId column) const;

  // Walks it all and stops the program where an invariant does not hold.
  void verify() const;
};

DependencyGraph analyze(const Program& program, const AnalysisOptions& options = {});

}  // namespace mneme
