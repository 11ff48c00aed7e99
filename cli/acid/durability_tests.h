// TPC-C's durability tests (clause 3.5): clients make transactions, the server is ended by a crash, and
// starts again; then each New-Order that was acknowledged is there, and the consistency conditions hold.
//
// Rule        with `a` acknowledged New-Orders and `c` clients the sum of D_NEXT_O_ID has grown by at least
//             a, and by at most a + c: each client had at most one order whose answer it never saw (3.5.4).
#pragma once

#include <optional>
#include <random>

#include "base/result.h"
#include "cli/acid/acid_report.h"
#include "cli/acid/acid_session.h"
#include "cli/acid/crashable_server.h"
#include "procedures/binder/program.h"
#include "workloads/shared/workload.h"

namespace mneme {

struct DurabilityTest {
  std::string clause;
  std::string name;
  uint32_t rounds = 3;
  uint32_t clients = 4;
};

// Returns nullopt if Ctrl-C came before the first crash. The rounds are numbered from `first_round` on. No
// earlier round on these tables may have had one of these numbers, since a number chooses the calls
// (bench_driver.h).
// `target` says where the server answers; after a crash the test puts the new place there.
Result<std::optional<AcidFinding>> test_durability(const DurabilityTest& test, const Workload& workload,
                                                   const Program& program, CrashableServer& server,
                                                   AcidTarget& target, uint32_t first_round,
                                                   std::mt19937_64& random);

// The conditions 3.3.2.1 to 3.3.2.12 on the tables as they are.
Result<AcidFinding> test_consistency(const Workload& workload, const Program& program,
                                     const AcidTarget& target);

}  // namespace mneme
