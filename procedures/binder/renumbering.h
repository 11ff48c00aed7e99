// Renumbering: a bound procedure in a program where tables, indexes, procedures or lines have other numbers.
//
// It copies the IR, which takes a fraction of the time of binding the procedure again.
#pragma once

#include <memory>
#include <vector>

#include "procedures/binder/program.h"

namespace mneme {

// The numbers that the tables and indexes of one catalog have in another, by their former ones. What is gone
// has none.
struct Renumbering {
  Renumbering(const Catalog& from, const Catalog& to);

  std::vector<TableId> tables;
  std::vector<IndexId> indexes;
};

// The procedure with the number `id`, and its text `lines` further down: the same object where nothing
// differs. It uses nothing that is gone.
std::shared_ptr<const BoundProcedure> renumbered(const std::shared_ptr<const BoundProcedure>& procedure,
                                                 const Renumbering& numbers, ProcedureId id, int64_t lines);

}  // namespace mneme
