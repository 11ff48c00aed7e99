// Random scenarios: a schema, procedures, rows, and statements about them, by PostgreSQL's grammar.
//
// The generator does not know what Mneme's binder accepts. It draws from what PostgreSQL 15's manual offers,
// and its weights see to it that most statements are within Mneme's subset.
// Threads     a generator belongs to one. The same seed makes the same scenario.
#pragma once

#include <cstdint>

#include "tests/differential/two_databases.h"

namespace mneme::differential {

Scenario random_scenario(uint64_t seed);

// Tables, views and rows, and then mostly queries: joins, subqueries, groups, windows, WITH.
Scenario random_queries(uint64_t seed);

}  // namespace mneme::differential
