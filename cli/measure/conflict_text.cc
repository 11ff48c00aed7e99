#include "cli/measure/conflict_text.h"

#include <fmt/ranges.h>

#include <vector>

#include "cli/output/text.h"

namespace mneme {

std::string causes_text(const ProcedureReport& part) {
  std::vector<std::string> causes;
  for (size_t i = 0; i < part.conflicts.size(); ++i) {
    if (part.conflicts[i] == 0) continue;
    causes.push_back(fmt::format("{} {}", kConflictCauseNames[i], thousands(part.conflicts[i])));
  }
  return fmt::format("{}", fmt::join(causes, ", "));
}

Json causes_json(const ProcedureReport& part) {
  Json causes = Json::object();
  for (size_t i = 0; i < part.conflicts.size(); ++i)
    causes[std::string(kConflictCauseNames[i])] = part.conflicts[i];
  causes["rollback"] = part.user_aborts;
  return causes;
}

}  // namespace mneme
