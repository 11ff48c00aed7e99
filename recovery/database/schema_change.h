// Schema change: CREATE and DROP on a database at work, logged in order, and replayed.
//
// Flow        change_schema(): changed_program -> the tables for it -> schema record, durable -> the new
//             program and
//             tables are the database's. replay: all records before -> program_after(), change_tables() ->
//             the rest
// Tables      those that stay keep their rows, and the indexes that stay their entries: a change takes the
//             time for what it makes. A new index of a table that has rows is built from them.
// Invariants  a change happens whole or not at all: what can fail is done before the record is written. calls
//             and rows in the log mean what the catalog says that the records before them have made: a call
//             that was logged under a former version of a procedure replays with that.
// Threads     any, one change at a time, beside sessions that enter the schema's latch
//             (engine/transaction/schema_latch.h, live_session.h): a change waits until their transactions
//             have ended, and holds others off. Other users of program and database have ended that before,
//             and begin anew with working.program(), which is another object, and working.database(), which
//             has other tables. The change itself uses `threads`.
// Waiting     for transactions that are open, all of them or for `lock_timeout`; others wait for the change
//             only while the tables are made and the record becomes durable; a change that is refused stops
//             no session, unless rows forbid it. It never waits for a transaction of the thread that asks for
//             it, which could not end: that is refused.
// Errors      in PostgreSQL's words, with its codes (catalog_change.h). A record that cannot be replayed:
//             kDamaged.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "engine/transaction/database.h"
#include "logging/reading/log_reader.h"
#include "procedures/binder/program.h"
#include "procedures/session/catalog_change.h"
#include "recovery/database/data_directory.h"

namespace mneme {

// Runs a CREATE or DROP, whose text is `text`. Its result is reported only when it is durable.
StatementResult change_schema(WorkingDatabase& working, const syntax::Command& command, std::string_view text,
                              uint32_t threads, std::optional<std::chrono::milliseconds> lock_timeout = {});

// Returns the program after a schema record.
Result<std::unique_ptr<Program>> program_after(const Program& program, const RecordView& record);

// Returns whether tables have changed so that a database must have those of `before` when it gets those of
// `after`: some are gone, or have other names or columns, which the next change may give to others.
bool is_to_be_followed(const Catalog& before, const Catalog& after);

// Returns whether a database of the one catalog serves the other as it is.
bool same_tables(const Catalog& a, const Catalog& b);

// At replay: gives the database tables for another catalog, if need be. `with_indexes`: false where all
// indexes are built at replay's end.
Result<void> change_tables(Database& database, const Catalog& catalog, bool with_indexes, uint32_t threads);

}  // namespace mneme
