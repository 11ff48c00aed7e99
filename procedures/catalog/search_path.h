// Search path: the schemas through which a session looks for names without one.
//
// Invariants  it has those schemas of the setting that there are, in its order. "$user" stands for the one
//             that is named as the user. pg_catalog is looked through first, wherever it stands.
// Threads     one owner; the program outlives it.
// Source      PostgreSQL 15, section 5.9.3 (the schema search path).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema/qualified_name.h"
#include "procedures/binder/program.h"

namespace mneme {

inline constexpr std::string_view kUsualSearchPath = "\"$user\", public";

class SearchPath {
 public:
  // `setting`: as SHOW search_path has it.
  SearchPath(const Program& program, std::string_view setting, std::string_view user);

  const std::vector<std::string>& schemas() const { return schemas_; }
  // Whether a name without a schema means an object of public, and nothing else.
  bool is_usual() const { return schemas_.size() == 1 && schemas_[0] == kPublicSchema; }
  // Where objects without a schema are made: kNowhere if the path has no schema.
  std::string_view creates_in() const { return schemas_.empty() ? kNowhere : schemas_[0]; }

  // The schema in which an object of this name is found first; nothing where none has it.
  std::optional<std::string> of_relation(std::string_view name) const;
  std::optional<std::string> of_routine(std::string_view name) const;
  std::optional<std::string> of_type(std::string_view name) const;
  // Whether the relation is found without its schema.
  bool shows_relation(const std::string& object) const;
  bool shows_routine(const std::string& object) const;
  bool shows_type(const std::string& object) const;

 private:
  template <typename Has>
  std::optional<std::string> find(std::string_view name, Has&& has) const;

  const Program& program_;
  std::vector<std::string> schemas_;
};

// The statement with its names behind the schemas that the path leads to (parser.h): the text itself under
// the usual path. Throws SourceError where the text is no statement.
std::string with_schemas(std::string_view statement, const Program& program, const SearchPath& path);

// The place in the text that the statement was before with_schemas().
ir::SourceLocation place_before(std::string_view text, std::string_view with_schemas,
                                ir::SourceLocation where);

}  // namespace mneme
