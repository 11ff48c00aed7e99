// Row store: rows that a query keeps for a while, to sort, join or look them up; and the bytes by which
// values are told apart in hash tables.
//
// Invariants  text is copied into an arena, unless it lives as long as the transaction. Equal values, as
//             SQL's = has them and with NULL equal to itself, have equal bytes.
// Counts      how many rows each node of a plan gave in a run, for EXPLAIN ANALYZE.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "engine/schema/value.h"

namespace mneme::query {

class RowStore {
 public:
  explicit RowStore(size_t width = 0) : width_(width) {}

  // `arena`: for its text; nullptr: the text outlives the store.
  void add(std::span<const Value> row, Arena* arena);
  std::span<const Value> row(size_t i) const { return {values_.data() + i * width_, width_}; }
  // Sets a value, whose text the caller keeps.
  void set(size_t i, size_t column, const Value& value) { values_[i * width_ + column] = value; }
  size_t size() const { return rows_; }
  void clear() {
    values_.clear();
    rows_ = 0;
  }
  // The bytes that a row takes, without its text.
  size_t row_bytes() const { return width_ * sizeof(Value); }

 private:
  size_t width_;
  size_t rows_ = 0;
  std::vector<Value> values_;
};

struct NodeRows {
  // A step of FROM: the rows that its source gave. A SELECT: those of its FROM, or its groups, that HAVING
  // leaves. A query: those of its SELECT, behind DISTINCT.
  uint64_t source = 0;
  uint64_t sorted = 0;  // a query: those that were taken from its sort
  uint64_t given = 0;   // what the node gave in the end
};

// By the address of the FromStep, SelectPlan or QueryPlan.
using RowCounts = std::unordered_map<const void*, NodeRows>;

void append_key(TypeKind kind, const Value& value, std::string& key);

}  // namespace mneme::query
