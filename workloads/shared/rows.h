// Rows in and out of a workload: where a population's rows go, and where a consistency check's rows come
// from.
//
// Both are narrow, so that a population can be loaded into a Database, counted, or copied into another
// system, and a check can read a Database or a few rows that a test has made up.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "engine/schema/catalog.h"
#include "engine/schema/value.h"

namespace mneme {

// Takes one row: a value a column, in column order. Text is valid during the call only.
using RowSink = FunctionRef<void(TableId table, std::span<const Value> row)>;

class RowSource {
 public:
  virtual ~RowSource() = default;

  virtual const Catalog& catalog() const = 0;

  // Visits every row of the table once, in any order. No transaction writes meanwhile.
  virtual void scan(TableId table, FunctionRef<void(std::span<const Value> row)> visit) const = 0;
};

}  // namespace mneme
