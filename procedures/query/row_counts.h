// Row counts: how many rows each node of a plan gave in a run, for EXPLAIN ANALYZE.
//
// Threads  the runner's.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace mneme::query {

struct NodeRows {
  // A step of FROM: the rows that its source gave. A SELECT: those of its FROM, or its groups, that HAVING
  // leaves. A query: those of its SELECT, behind DISTINCT.
  uint64_t source = 0;
  uint64_t sorted = 0;  // a query: those that were taken from its sort
  uint64_t given = 0;   // what the node gave in the end
};

// By the address of the FromStep, SelectPlan or QueryPlan.
using RowCounts = std::unordered_map<const void*, NodeRows>;

}  // namespace mneme::query
