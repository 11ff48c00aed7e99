// Random programs: for tests, schemas and procedures made at random, and the ad-hoc transactions beside their
// calls.
#pragma once

#include <fmt/format.h>

#include <string>

#include "analyzer/testing/random_procedures.h"
#include "procedures/testing/random_sql.h"
#include "recovery/testing/replay_fixture.h"

namespace mneme {

// Half of them of random schemas (random_sql.h), half of procedures that flow and jump as no person would
// write them (random_procedures.h).
inline std::string random_program(uint64_t seed) {
  if (seed % 2 == 0) return RandomProcedures(seed, 4 + seed / 2 % 9).program(1 + seed / 2 % 5);
  RandomSql sql(seed);
  const std::string schema = sql.schema();
  std::string program = schema;
  for (uint64_t left = 1 + seed / 2 % 5; left > 0;) {
    const std::string procedure = sql.procedure(fmt::format("p{}", left));
    if (!compile(schema + procedure, "one.sql").ok()) continue;
    program += procedure;
    --left;
  }
  return program;
}

inline ReplayFixture::AdHoc ad_hoc_of(uint64_t seed) {
  constexpr uint32_t kOfCalls[] = {0, 10, 30};
  constexpr uint32_t kStatements[] = {0, 0, 15, 40};
  return {kOfCalls[seed % 3], kStatements[seed % 4], seed % 5 < 3 ? TupleImage::kFull : TupleImage::kChanged,
          RecordContent::kCommand};
}

}  // namespace mneme
