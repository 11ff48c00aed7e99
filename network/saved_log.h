// SavedLog: a server's copy of a log, on its disk: the whole of it, or only the note that it is in memory.
//
//     DIR/ID.log   0 magic "MNLOGSRV"  8 u32 CRC32C of all behind   12 u32 version   16 u64 database id
//                  24 u32 term  28 u64 its owner  36 u32 whole term  40 u32 how many files, then of each
//                  u32 number  u32 term  u64 bytes  u64 end; then, in the same order,
//                  each one's bytes up to its end
//     DIR/ID.term  the same, without files: a term that was promised since, so that a promise costs no copy
//                  of the log
//
// Flow        start: load_logs() -> before a log's first change: note_serving() -> ... -> save_log()
//             a claim: keep_term()
// Invariants  each replaces the file at once (written under a temporary name, synced, renamed, the directory
//             synced). note_serving() leaves term and owner, whole term 0, and no files. So a server that was
//             killed knows, when it starts again, that it has lost what was in its memory, and never passes
//             an older copy for the log; and it refuses the terms that it refused before.
// Threads     any, for different databases.
// Errors      a sentence with the path. Damaged: kDamaged; nothing is changed.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "network/log_store.h"

namespace mneme {

Result<void> save_log(const std::string& directory, uint64_t database_id, const LogStore& log);
Result<void> note_serving(const std::string& directory, uint64_t database_id, const LogTerm& term);
Result<void> keep_term(const std::string& directory, uint64_t database_id, const LogTerm& term);

// Forgets the log and its term. A crash may leave what was there.
Result<void> remove_log(const std::string& directory, uint64_t database_id);

// All logs that the directory holds, by their database's id. A term without a log is none: it was promised to
// an engine that never wrote, and its file is removed.
Result<std::map<uint64_t, LogStore>> load_logs(const std::string& directory);

}  // namespace mneme
