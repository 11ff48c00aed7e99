#include "cli/acid/acid_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace mneme {

std::string_view name_of(AcidOutcome outcome) {
  switch (outcome) {
    case AcidOutcome::kPassed:
      return "passed";
    case AcidOutcome::kFailed:
      return "failed";
    case AcidOutcome::kNotRun:
      return "not run";
  }
  return "";
}

void AcidReport::add(std::string clause, std::string name, const AcidFinding& finding) {
  clauses.push_back({std::move(clause), std::move(name),
                     finding.ok ? AcidOutcome::kPassed : AcidOutcome::kFailed, finding.detail});
}

void AcidReport::add_not_run(std::string clause, std::string name, std::string reason) {
  clauses.push_back({std::move(clause), std::move(name), AcidOutcome::kNotRun, std::move(reason)});
}

size_t AcidReport::count(AcidOutcome outcome) const {
  return static_cast<size_t>(std::ranges::count(clauses, outcome, &ClauseReport::outcome));
}

const ClauseReport* AcidReport::first_failure() const {
  const auto found = std::ranges::find(clauses, AcidOutcome::kFailed, &ClauseReport::outcome);
  return found == clauses.end() ? nullptr : &*found;
}

std::string AcidReport::text() const {
  std::string text = fmt::format("TPC-C clause 3 on {} ({}), isolation {}\n", target, server.version,
                                 isolation.empty() ? "of the server's choice" : isolation);
  for (const ClauseReport& each : clauses)
    text +=
        fmt::format("  {:<7}  {:<10} {}: {}\n", name_of(each.outcome), each.clause, each.name, each.detail);
  text += fmt::format("{} passed, {} failed, {} not run{}\n", count(AcidOutcome::kPassed),
                      count(AcidOutcome::kFailed), count(AcidOutcome::kNotRun),
                      is_partial ? "; interrupted before the others" : "");
  return text;
}

Json AcidReport::json() const {
  Json list = Json::array();
  for (const ClauseReport& each : clauses) {
    list.push_back({{"clause", each.clause},
                    {"name", each.name},
                    {"outcome", name_of(each.outcome)},
                    {"detail", each.detail}});
  }
  return {{"command", "acid"},
          {"workload", "tpcc"},
          {"warehouses", warehouses},
          {"target", target},
          {"server_version", server.version},
          {"isolation", isolation.empty() ? "default" : isolation},
          {"partial", is_partial},
          {"ok", count(AcidOutcome::kFailed) == 0 && !is_partial},
          {"clauses", list}};
}

}  // namespace mneme
