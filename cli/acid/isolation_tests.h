// TPC-C's nine isolation tests (clause 3.4.2), on a server whose tables nobody else changes meanwhile. What
// is seen is judged by isolation_rules.h.
#pragma once

#include <random>

#include "base/result.h"
#include "cli/acid/acid_report.h"
#include "cli/acid/acid_session.h"

namespace mneme {

// Adds its clauses to the report. Fails where the server can't be asked.
Result<void> test_isolation(const AcidTarget& target, std::mt19937_64& random, AcidReport& report);

}  // namespace mneme
