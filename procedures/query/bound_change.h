// Bound change: a session's INSERT ... SELECT and its INSERT of several rows ON CONFLICT DO UPDATE, and its
// UPDATE and DELETE whose rows a query finds: with FROM, USING, subqueries, or numbers that are divided.
//
// Flow        the rows: a query (bound_select.h) of what each change needs -> each: an INSERT of the row's
//             values, or an UPDATE or DELETE of the row with a primary key
// Invariants  all rows are found before the first is changed. A row that is found more than once is changed
//             once, by the first, as PostgreSQL does with one of them.
#pragma once

#include <memory>
#include <optional>

#include "procedures/binder/command_binder.h"
#include "procedures/query/bound_select.h"

namespace mneme {

struct BoundChange {
  std::unique_ptr<BoundSelect> rows;
  // Its parameters are the columns of the rows.
  BoundQuery each;
  // So many of the first columns are the changed row's primary key; 0: of an INSERT.
  size_t key_columns = 0;
  // The columns that are the key of ON CONFLICT DO UPDATE. Two rows with the same key are an error, as the
  // second would change a row that the statement has already changed.
  std::vector<size_t> conflict_columns = {};
};

// `parameters`: as bind_select() has them. Throws SourceError.
std::unique_ptr<BoundChange> bind_change(const Program& program, const syntax::Operation& operation,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider);

}  // namespace mneme
