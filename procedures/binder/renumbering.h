// Renumbering: adapts a bound procedure to a program in which tables, indexes, procedures or lines have other
// numbers.
//
// It copies the IR, which takes a fraction of the time that binding the procedure again would take.
#pragma once

#include <memory>
#include <vector>

#include "procedures/binder/program.h"

namespace mneme {

// Maps the numbers of tables and indexes in the catalog `from` to their numbers in `to`. A table or index
// that `to` lacks maps to an id that is not valid.
struct Renumbering {
  Renumbering(const Catalog& from, const Catalog& to);
  // Whether each has the number that it had.
  bool is_same() const;

  std::vector<TableId> tables;
  std::vector<IndexId> indexes;
};

// Returns a copy of the procedure that has the number `id` and the new table and index numbers, and whose
// text lies `lines` further down. Returns `procedure` itself if nothing differs. The procedure must not use a
// table or index that the new catalog lacks.
std::shared_ptr<const BoundProcedure> renumbered(const std::shared_ptr<const BoundProcedure>& procedure,
                                                 const Renumbering& numbers, ProcedureId id, int64_t lines);

}  // namespace mneme
