// RecoveryRun: a data directory after a crash, recovered step by step.
//
// Flow        manifest -> catalog -> checkpoint -> log, to its end -> CLR: call by call; or CLR-P: analysis,
//             then the lane scheduler's tasks on virtual threads (virtual_threads.h), a step each ->
//             recover() itself, whose digest must be the same
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
//   disk        as the crash left it: [{"segment", "file", "blocks": [{"block", "state", "sectors", "begin",
//               "used"}]}]; a block is whole, torn or empty, a sector is zeros (0) or not (1)
//   tables      describe_tables()
//   checkpoint  {"lsn", "rows"}
//   first_rows  of the checkpoint, as TableView::changes() has them
//   log         {"end", "durable_seen", "dropped_bytes", "dropped_reason", "records": [{"lsn", "text"}]}
//   graph       CLR-P: describe_graph()
//   lane_counts CLR-P: by block, and of the rows that no block owns
//   alone       CLR-P: records that stand in no batch
//   steps       below
//   digest      of all rows at the end; recover_digest: recover()'s, in one go
//   rows        as TableView::rows() has them
// A step has "kind", "changes" and, of CLR-P, "thread" and "waiting" (virtual_threads.h):
//   replay      record: CLR: its transaction has run, whole
//   load        batch, first_record
//   fill        block, batch, pieces: [{"record", "part", "lanes"}]
//   arrive, run block, lane, batch, record, part
//   finish      block, batch
//   retire      batch
Result<Json> run_recovery(const RecoveryRequest& request, const std::string& directory);

// {"blocks": [{"name", "tables", "lanes", "members": [{"procedure", "slice", "replayed"}], "predecessors",
// "merges"}], "edges": [{"from", "to", "reasons"}]}
Json describe_graph(const Program& program, const DependencyGraph& graph);

}  // namespace mneme::lab
