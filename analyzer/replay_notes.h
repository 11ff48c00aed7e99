// Analyzed notes: how a client's change is logged, and which slice, block and lane replay runs it in, as
// EXPLAIN says it.
//
// Flow        LiveSession::explain() -> AnalyzedNotes -> explain() (procedures/session/explanation.h)
// Calls       their slices and lanes are those of a log of calls alone, as `mneme slice` prints them.
// Statements  a client's statement is logged by the rows that it changes. Its lane is that of the block which
//             owns the rows in a log that holds calls, too (change_owners.h).
// Threads     constant once made; the analysis is made at the first question about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/change_owners.h"
#include "analyzer/dependency_graph.h"
#include "procedures/session/explanation.h"

namespace mneme {

class AnalyzedNotes final : public ReplayNotes {
 public:
  // `logs_calls`: the log holds calls, not only rows. `in_block`: the statement is a part of a BEGIN block.
  AnalyzedNotes(const Program& program, bool logs_calls, bool in_block)
      : program_(program), logs_calls_(logs_calls), in_block_(in_block) {}

  std::vector<std::string> of_call(const ir::Procedure& procedure) const override;
  std::vector<std::string> of_operation(const ir::Procedure& procedure,
                                        const ir::Operation& operation) const override;
  std::vector<std::string> of_statement(const ir::Operation& change) const override;

 private:
  bool is_logged_as_call(const ir::Procedure& procedure) const {
    return procedure.is_logged_by_call() && logs_calls_ && !in_block_;
  }
  // Returns where replay puts changed rows.
  std::vector<std::string> lanes_of_rows(const ir::Operation& change) const;

  const Program& program_;
  const bool logs_calls_;
  const bool in_block_;
  mutable std::optional<DependencyGraph> calls_;
  mutable std::optional<DependencyGraph> rows_;  // with ad-hoc transactions among the calls
};

}  // namespace mneme
