// The tables and procedures of smallbank.sql by number, how large a database is, and what its customers are
// called.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme::smallbank {

// In the order of smallbank.sql.
enum class Table : uint32_t { kAccount, kSavings, kChecking };
enum class Procedure : uint32_t {
  kBalance,
  kDepositChecking,
  kTransactSavings,
  kAmalgamate,
  kWriteCheck,
  kSendPayment,
};

constexpr TableId id_of(Table table) {
  return TableId(static_cast<uint32_t>(table));
}
constexpr ProcedureId id_of(Procedure procedure) {
  return ProcedureId(static_cast<uint32_t>(procedure));
}

// The paper's number of customers; a database has a multiple of it.
inline constexpr int64_t kCustomersPerScale = 18'000;

// Most calls choose among a few customers, the first ones (the paper: 90 percent among 1,000, 100 or 10).
struct Hotspot {
  uint32_t percent = 90;
  uint32_t customers = 1'000;
};

// Customers are numbered from 1.
inline std::string customer_name(int64_t customer) {
  return fmt::format("customer{:08}", customer);
}

}  // namespace mneme::smallbank
