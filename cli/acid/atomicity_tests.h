// TPC-C's atomicity tests (clause 3.2.2): a Payment that is committed changes its customer, district,
// warehouse and the history; one that is rolled back changes nothing. So does a New-Order with an unused item
// (2.4.1.4).
#pragma once

#include <random>

#include "base/result.h"
#include "cli/acid/acid_report.h"
#include "cli/acid/acid_session.h"

namespace mneme {

// Adds its clauses to the report. Fails where the server can't be asked.
Result<void> test_atomicity(const AcidTarget& target, std::mt19937_64& random, AcidReport& report);

}  // namespace mneme
