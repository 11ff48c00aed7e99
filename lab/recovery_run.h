// RecoveryRun: a data directory after a crash, recovered step by step.
//
// Flow        manifest -> catalog -> checkpoint -> log, to its end -> CLR: call by call; or CLR-P: analysis, then the lane scheduler's
//             tasks on virtual threads (virtual_threads.h), a step each -> recover() itself, whose digest must be the same
// Invariants  the directory stays as it is. The same request gives the same steps.
// Threads     one.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "lab/table_view.h"
#include "recovery/log/replay.h"

namespace mneme::lab {

struct RecoveryRequest {
  std::string scheme = "clr-p";  // or clr
  ReplayLevel level = ReplayLevel::kPipelined;
  uint32_t threads = 3;
  uint32_t lanes = 4;  // of a block that can be cut
  uint32_t batch = 4;  // transactions
  uint64_t seed = 1;   // of the schedule
};

// What the recovery was, for the page:
//   "disk"     [{"segment", "file", "blocks": [{"block", "state": "whole" | "torn" | "empty", "begin", "used"}]}] as the crash left it
//   "log"      {"end", "durable_seen", "dropped_bytes", "dropped_reason", "records": [{"lsn", "record", "text"}]}
//   "first_rows"  of the checkpoint, as TableView::changes() has them
//   "graph"    CLR-P: blocks, with "lanes" in words, and edges
//   "steps"    each has "kind", "changes" and, of CLR-P, "thread" and "waiting" (virtual_threads.h):
//     replay   record           CLR: the record's number, whose transaction has run whole
//     load     batch, records
//     fill     block, batch, pieces: [{"record", "part", "lanes"}]
//     arrive   block, lane, batch, record, lanes
//     run      block, lane, batch, record, part
//     finish   block, batch
//     retire   batch
//   "digest"   of all rows at the end; "recover_digest": recover()'s, in one go
//   "rows"     as TableView::rows() has them
Result<Json> run_recovery(const RecoveryRequest& request, const std::string& directory);

// Of a program: {"blocks": [{"name", "tables", "lanes", "predecessors", "members": [{"procedure", "slice"}]}], "edges", "procedures"}.
Json describe_graph(const Program& program, const DependencyGraph& graph);

}  // namespace mneme::lab
