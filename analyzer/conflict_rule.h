// Conflict rule: which two operations must replay in commit order because they may touch the same data.
//
// The dependency graph asks nothing else about data, so how finely conflicts are seen is decided here alone.
// Invariants  symmetric. A rule that says no must be sure: replay then runs the two in any order, or at once.
// Source      PACMAN (SIGMOD 2017), section 4.1.1, for TableConflicts.
#pragma once

#include <optional>
#include <string>

#include "engine/catalog.h"
#include "procedures/ir.h"

namespace mneme {

class ConflictRule {
 public:
  virtual ~ConflictRule() = default;

  // Why the two operations are data-dependent, or nothing if they are not.
  virtual std::optional<std::string> conflict(const ir::Operation& first,
                                              const ir::Operation& second) const = 0;
};

// The paper's rule: both access the same table and at least one modifies it.
class TableConflicts final : public ConflictRule {
 public:
  explicit TableConflicts(const Catalog& catalog) : catalog_(catalog) {}

  std::optional<std::string> conflict(const ir::Operation& first, const ir::Operation& second) const override;

 private:
  const Catalog& catalog_;
};

}  // namespace mneme
