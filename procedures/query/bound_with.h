// Bound WITH: the INSERTs, UPDATEs and DELETEs in a statement's WITH.
//
// Snapshot    all parts, and the statement itself, find their rows in the state before the statement, and
//             what a part before them returns. Then the changes are carried out, one part after the other.
// Order       parts come in the order of WITH, the statement last, unless a foreign key asks for another one.
//             Two parts that change one table are refused, unless one reads the other, or both insert: their
//             order is open.
// Source      PostgreSQL 15, section 7.8.4 (data-modifying statements in WITH).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "procedures/query/bound_change.h"

namespace mneme {

struct BoundWith {
  struct Part {
    std::string name;
    ir::OperationKind kind = ir::OperationKind::kSelect;
    std::unique_ptr<BoundChange> change;
    bool is_read = false;  // by another part, or by the statement
  };

  std::vector<Part> parts;               // in the order of WITH
  std::vector<query::GivenTable> given;  // what each returns
  // In which order the changes are carried out: the parts' numbers, and behind the last one the statement's.
  std::vector<size_t> order;
};

// Whether a statement's WITH changes rows. `operation`: of any kind.
bool changes_in_with(const syntax::Operation& operation);

// Binds the parts. The statement itself is bound behind them, by bind_select() or bind_change() with `given`.
std::unique_ptr<BoundWith> bind_with(const Program& program, const syntax::Operation& operation,
                                     std::vector<Type>& parameters, const SessionValues* session,
                                     const query::ProvidedTables* provider);
// Tells it what the statement reads, and, of an INSERT, UPDATE or DELETE, what it changes.
void finish_with(const Program& program, const syntax::Operation& operation, const BoundSelect& rows,
                 BoundWith& with);

}  // namespace mneme
