// The tables and procedures of tpcc.sql by number, and how large a database is.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme::tpcc {

// In the order of tpcc.sql.
enum class Table : uint32_t {
  kWarehouse,
  kDistrict,
  kCustomer,
  kHistory,
  kNewOrder,
  kOrders,
  kOrderLine,
  kItem,
  kStock,
};
enum class Procedure : uint32_t { kNewOrder, kPayment, kOrderStatus, kDelivery, kStockLevel };

constexpr TableId id_of(Table table) {
  return TableId(static_cast<uint32_t>(table));
}
constexpr ProcedureId id_of(Procedure procedure) {
  return ProcedureId(static_cast<uint32_t>(procedure));
}

inline constexpr int64_t kDistricts = 10;  // of a warehouse; Delivery knows it as well

// Last names come from numbers below this, three syllables a number (4.3.2.3).
inline constexpr int64_t kMostLastNames = 1'000;

// The specification fixes all but the number of warehouses (1.2.1); tests make smaller ones.
struct Scale {
  int64_t warehouses = 1;
  int64_t items = 100'000;
  int64_t customers = 3'000;  // of a district, each with one order in the population

  // The population's newest orders of a district are not delivered yet: 900 of 3,000 (4.3.3.1).
  int64_t undelivered_orders() const { return customers * 3 / 10; }
  int64_t delivered_orders() const { return customers - undelivered_orders(); }
  // How many last names a district's customers share: 1,000 among 3,000, so that most names have several
  // customers.
  int64_t last_names() const { return std::clamp<int64_t>(customers / 3, 1, kMostLastNames); }
};

// The population's timestamps: 2026-01-01 00:00:00, in microseconds since 2000.
inline constexpr int64_t kPopulationTime = int64_t{9'497} * 24 * 3600 * 1'000'000;

}  // namespace mneme::tpcc
