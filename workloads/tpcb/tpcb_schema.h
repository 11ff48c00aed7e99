// The tables and procedures of tpcb.sql by number, how large a database is, and which branch tellers and
// accounts belong to.
#pragma once

#include <cstdint>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme::tpcb {

// In the order of tpcb.sql.
enum class Table : uint32_t { kBranch, kTeller, kAccount, kHistory };
enum class Procedure : uint32_t { kAccountUpdate };

constexpr TableId id_of(Table table) {
  return TableId(static_cast<uint32_t>(table));
}
constexpr ProcedureId id_of(Procedure procedure) {
  return ProcedureId(static_cast<uint32_t>(procedure));
}

inline constexpr int64_t kTellersPerBranch = 10;
inline constexpr int64_t kHighestDelta = 999'999;

// Branches, tellers and accounts are numbered from 1; those of a branch follow one another.
struct Scale {
  int64_t branches = 1;
  int64_t accounts_per_branch = 100'000;  // the specification's; tests have fewer

  int64_t tellers() const { return branches * kTellersPerBranch; }
  int64_t accounts() const { return branches * accounts_per_branch; }
  int64_t branch_of_teller(int64_t teller) const { return (teller - 1) / kTellersPerBranch + 1; }
  int64_t branch_of_account(int64_t account) const { return (account - 1) / accounts_per_branch + 1; }
};

}  // namespace mneme::tpcb
