// A recovery's report, as text for people and as JSON; and its progress on the way.
#pragma once

#include <string>

#include "cli/output/output.h"
#include "cli/output/progress.h"
#include "engine/transaction/database.h"
#include "recovery/database/recover.h"

namespace mneme {

// The cores that this process may use.
uint32_t default_threads();

// Lets a recovery with these options draw the progress line. `progress` must outlive it.
void show_progress(RecoverOptions& options, Progress& progress);

// The digest of the database's state, as 32 hexadecimal digits.
std::string digest_text(const Database& database, uint32_t threads);

std::string recovery_text(const RecoveryReport& report, const std::string& digest);
Json recovery_json(const RecoveryReport& report, const std::string& digest);

}  // namespace mneme
