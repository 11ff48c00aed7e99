// Provided tables: tables that a query reads and that are none of the database's: what describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/function_ref.h"
#include "engine/schema/value.h"
#include "procedures/query/query_plan.h"

namespace mneme::query {

class ProvidedTables {
 public:
  virtual ~ProvidedTables() = default;

  // The number of such a table; nothing where there is none. `schema`: as written, empty where it is not.
  virtual std::optional<uint32_t> find(const std::string& schema, const std::string& name) const = 0;
  virtual std::span<const Column> columns(uint32_t table) const = 0;
  // Visits the table's rows; their text lives until `visit` returns.
  virtual void visit(uint32_t table, FunctionRef<void(std::span<const Value>)> visit) const = 0;
};

}  // namespace mneme::query
