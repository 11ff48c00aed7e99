// AcidReport: what a test of TPC-C's clause 3 came to, clause by clause, as text and as JSON.
//
// JSON        {"command":"acid","workload","warehouses","target","server_version","isolation","ok",
//             "clauses":[{"clause","name","outcome":"passed"|"failed"|"not run","detail"}]}
// Invariants  a clause that was not run is no success: it stands in the report, with the reason.
// Source      TPC Benchmark C, revision 5.11, clause 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/target_connection.h"
#include "cli/output/output.h"

namespace mneme {

enum class AcidOutcome : uint8_t { kPassed, kFailed, kNotRun };
std::string_view name_of(AcidOutcome outcome);

// What a test found: whether it is as the clause wants it, and what was seen.
struct AcidFinding {
  bool ok = true;
  std::string detail;
};

struct ClauseReport {
  std::string clause;  // 3.4.2.1
  std::string name;
  AcidOutcome outcome = AcidOutcome::kNotRun;
  std::string detail;
};

struct AcidReport {
  uint32_t warehouses = 1;
  std::string target;  // without its password
  ServerDescription server;
  std::string isolation;  // of the sessions; empty: the server's own
  std::vector<ClauseReport> clauses;
  bool is_partial = false;

  void add(std::string clause, std::string name, const AcidFinding& finding);
  void add_not_run(std::string clause, std::string name, std::string reason);
  size_t count(AcidOutcome outcome) const;
  // The first clause that failed; null: none did.
  const ClauseReport* first_failure() const;
  std::string text() const;
  Json json() const;
};

}  // namespace mneme
