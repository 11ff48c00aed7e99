#include "cli/option/analysis_option.h"

#include <sstream>

#include "base/check.h"
#include "cli/option/option_table.h"

namespace mneme {
namespace {

// In the order of Elisions.
struct ElisionName {
  const char* name;
  bool Elisions::*member;
};
constexpr ElisionName kElisions[] = {{"unwritten", &Elisions::unwritten},
                                     {"insert-only", &Elisions::insert_only},
                                     {"increments", &Elisions::increments}};

struct DecompositionName {
  const char* name;
  Decomposition kind;
};
constexpr DecompositionName kDecompositions[] = {{"pacman", Decomposition::kPacman},
                                                 {"chopping", Decomposition::kChopping},
                                                 {"whole", Decomposition::kWhole}};

Result<Elisions> elisions(const std::string& list) {
  Elisions chosen{false, false, false};
  if (list == "none") return chosen;
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    const auto* known = std::ranges::find(kElisions, name, &ElisionName::name);
    if (known == std::end(kElisions)) {
      return invalid_argument(
          "--elide {}: there are none, and lists of unwritten, insert-only and increments", list);
    }
    chosen.*(known->member) = true;
  }
  return chosen;
}

}  // namespace

void AnalysisOption::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--conflicts", conflicts);
  take("--elide", elide);
  take("--decompose", decompose);
  take("--coalesce", coalesce);
}

Result<AnalysisOptions> AnalysisOption::get() const {
  const auto* const way = std::ranges::find(kDecompositions, decompose, &DecompositionName::name);
  CHECK(way != std::end(kDecompositions));
  AnalysisOptions options = conflicts == "table" ? AnalysisOptions::paper() : AnalysisOptions();
  if (elide != "default") {
    const Result<Elisions> chosen = elisions(elide);
    if (!chosen) return chosen.error();
    options.elide = *chosen;
  }
  if (coalesce != "default") options.coalesce = coalesce == "on";
  options.decompose = way->kind;
  return options;
}

void add_analysis(Json& object, const AnalysisOptions& options) {
  object["conflicts"] = options.conflicts == ConflictGrain::kColumn ? "column" : "table";
  Json names = Json::array();
  for (const ElisionName& elision : kElisions) {
    if (options.elide.*(elision.member)) names.push_back(elision.name);
  }
  object["elide"] = std::move(names);
  object["decompose"] = std::ranges::find(kDecompositions, options.decompose, &DecompositionName::kind)->name;
  object["coalesce"] = options.coalesce ? "on" : "off";
}

}  // namespace mneme
