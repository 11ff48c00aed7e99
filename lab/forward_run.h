// ForwardRun: a script at work on a database in a data directory, step by step, until it ends or the power
// fails.
//
// Flow        setup script -> checkpoint -> close -> open -> calls, each an event or several (journal.h) ->
//             the power fails: the directory is copied as the medium has it, and the fate of each sector in
//             the disk's cache is drawn
// Invariants  the engine's own code does it all: sessions, transactions, buffer, flusher, device,
//             checkpointer. The same request gives the same events.
// Threads     one, and the engine makes none.
// Errors      a statement of the setup that fails ends the run; one of the calls is an answer like any other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "lab/table_view.h"

namespace mneme::lab {

struct ForwardRequest {
  std::string setup;  // tables, procedures, first rows
  std::string calls;
  uint32_t group = 4;                    // records that are flushed together
  uint32_t segment_blocks = 16;          // of 4 KiB; a log's file
  uint64_t disk_seed = 1;                // the order in which a sync writes sectors
  std::optional<uint64_t> crash_behind;  // events
  uint64_t crash_seed = 1;               // the fate of sectors in the cache
};

// What the run was, for the page:
//   tables      describe_tables()
//   first_rows  TableView::changes()
//   begin       where its log begins
//   buffer      {"bytes", "block_bytes", "sector_bytes"}
//   steps       below
//   crash       {"behind", "sectors": [{"segment", "offset", "kept"}]}: of the disk's cache
// A step has "kind" and:
//   begin       statement, line, text
//   reserve     lsn, bytes: the record's place in the commit order is drawn
//   fill        lsn, record, text, bytes, changes: it is in the buffer, and the rows are as the
//               transaction left them
//   answer      statement, ok, tag, columns, rows or message, sqlstate; waits, lsn, changes: nobody is told
//               before the log is durable up to there
//   write       segment, offset, bytes, blocks: [{"block", "begin", "used", "durable"}]: into the
//               disk's cache
//   sector      segment, offset: on the medium
//   synced      segment
//   durable     lsn, acknowledged: [STATEMENT...]
//   checkpoint  lsn, rows
//   end
struct ForwardRun {
  Json report;
  // After each record, by its LSN, and before the first one (0): the digest of all rows.
  std::vector<std::pair<uint64_t, std::string>> digests;
  std::vector<std::pair<uint64_t, uint32_t>> acknowledged;  // before the power failed: LSN, statement
};

// `directory` is made, and `crashed` where the power fails.
Result<ForwardRun> run_forward(const ForwardRequest& request, const std::string& directory,
                               const std::string& crashed);

}  // namespace mneme::lab
