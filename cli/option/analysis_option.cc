#include "cli/option/analysis_option.h"

#include <sstream>

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
  command
      .add_option("--conflicts", conflicts,
                  "clr-p: what puts calls in order: column: a common column that one writes, or rows that "
                  "come or go; "
                  "table: a common table that one writes, as the paper has it")
      ->capture_default_str();
  command
      .add_option(
          "--elide", elide,
          "clr-p: what is known to order nothing: none, or a list of unwritten (columns that no procedure "
          "writes; "
          "implied by --conflicts column), insert-only (tables that are only inserted into), increments (of "
          "columns that are only added to); default: all of them by column, none by table; "
          "where nothing is said of these four and the log has ad-hoc transactions, all but increments")
      ->capture_default_str();
  command
      .add_option("--decompose", decompose,
                  "clr-p: pacman: procedures come apart into slices; chopping: as far as transaction "
                  "chopping allows, to "
                  "compare with")
      ->capture_default_str();
  command
      .add_option("--coalesce", coalesce,
                  "clr-p: on: slices that need not be apart for anything are joined; off; default: on by "
                  "column, off by table")
      ->capture_default_str();
}

Result<AnalysisOptions> AnalysisOption::get() const {
  if (conflicts != "column" && conflicts != "table") {
    return invalid_argument("--conflicts {}: there are column and table", conflicts);
  }
  if (decompose != "pacman" && decompose != "chopping") {
    return invalid_argument("--decompose {}: there are pacman and chopping", decompose);
  }
  if (coalesce != "default" && coalesce != "on" && coalesce != "off") {
    return invalid_argument("--coalesce {}: there are on and off", coalesce);
  }
  AnalysisOptions options = conflicts == "table" ? AnalysisOptions::paper() : AnalysisOptions();
  if (elide != "default") {
    const Result<Elisions> chosen = elisions(elide);
    if (!chosen) return chosen.error();
    options.elide = *chosen;
  }
  if (coalesce != "default") options.coalesce = coalesce == "on";
  options.decompose = decompose == "chopping" ? Decomposition::kChopping : Decomposition::kPacman;
  return options;
}

bool AnalysisOption::is_given(const CLI::App& command) {
  return command.count("--conflicts") + command.count("--elide") + command.count("--decompose") +
             command.count("--coalesce") >
         0;
}

void add_analysis(Json& object, const AnalysisOptions& options) {
  object["conflicts"] = options.conflicts == ConflictGrain::kColumn ? "column" : "table";
  Json names = Json::array();
  for (const ElisionName& elision : kElisions) {
    if (options.elide.*(elision.member)) names.push_back(elision.name);
  }
  object["elide"] = std::move(names);
  object["decompose"] = options.decompose == Decomposition::kPacman ? "pacman" : "chopping";
  object["coalesce"] = options.coalesce ? "on" : "off";
}

}  // namespace mneme
