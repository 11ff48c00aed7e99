// Formats a recovery's report as text and as JSON, and shows a recovery's progress.
#pragma once

#include <string>

#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "engine/transaction/database.h"
#include "recovery/database/recover.h"

namespace mneme {

// Returns the number of cores that this process may use; 1 if it is unknown.
uint32_t default_threads();

// Makes a recovery with these options show its progress. `progress` must outlive the recovery.
void show_progress(RecoverOptions& options, Progress& progress);

// Returns the digest of the database's state as 32 hexadecimal digits.
std::string digest_text(const Database& database, uint32_t threads);

// `digest`: empty for a recovery that was interrupted, which has none.
std::string recovery_text(const RecoveryReport& report, const std::string& digest);
Json recovery_json(const RecoveryReport& report, const std::string& digest);

}  // namespace mneme
