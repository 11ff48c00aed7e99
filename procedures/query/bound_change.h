// Bound change: a session's INSERT ... SELECT and its INSERT of several rows ON CONFLICT DO UPDATE, and its
// UPDATE and DELETE whose rows a query finds: with FROM, USING, subqueries, or numbers that are divided.
//
// Flow        the rows: a query (bound_select.h) of what each change needs -> each: an INSERT of the row's
//             values, or an UPDATE or DELETE of the row with a primary key
// Invariants  all rows are found before the first is changed. A row that is found more than once is changed
//             once, by the first, as PostgreSQL does with one of them.
// No key      in a table without a primary key a row is named by all of its values. Rows that are equal are
//             found together, as the same query finds them, and are deleted together. An UPDATE deletes all
//             rows that it found, and then inserts each with its new values, as often as it was deleted: so
//             no new row is taken for one that was found.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "procedures/binder/command_binder.h"
#include "procedures/ir/source_error.h"
#include "procedures/query/bound_select.h"

namespace mneme {

struct BoundChange {
  TableId table;
  std::unique_ptr<BoundSelect> rows;
  // Its parameters are so many of the rows' first columns and, behind them, the statement's.
  BoundQuery each;
  size_t parameters = 0;
  // So many of the first columns are the changed row's primary key, or all of its values; 0: an INSERT.
  size_t key_columns = 0;
  // An UPDATE of a table without a primary key: deletes the rows that equal the first columns; `each`
  // inserts.
  std::optional<BoundQuery> erase = {};
  // The columns that are the key of ON CONFLICT DO UPDATE. Two rows with the same key are an error, as the
  // second would change a row that the statement has already changed.
  std::vector<size_t> conflict_columns = {};
  // RETURNING where it has what queries have alone, or may speak of other tables: a query of one row, whose
  // parameters are the statement's and, behind them, the columns of the changed row, which are all that
  // `each` returns then, and those of `rows` behind its `parameters`.
  std::unique_ptr<BoundSelect> returned = nullptr;
  // An INSERT into a table that refers to itself, and returns nothing: a row may come before the one that it
  // refers to.
  bool may_wait = false;
  // A DELETE in WITH returns the columns of the rows behind the key. Without a primary key the change itself
  // returns them, as equal rows are found once.
  bool returns_in_rows = false;

  std::span<const ResultColumn> columns() const { return returned ? returned->columns : each.columns; }
};

// `parameters` and `given`: as bind_select() has them. `in_with`: it is a table of WITH itself.
// Throws SourceError.
std::unique_ptr<BoundChange> bind_change(const Program& program, const syntax::Operation& operation,
                                         std::vector<Type>& parameters, const SessionValues* session,
                                         const query::ProvidedTables* provider,
                                         const std::vector<query::GivenTable>* given = nullptr,
                                         bool in_with = false);

}  // namespace mneme
