// RowBuilder: one row of a population, column by column. The row and its text are valid until the next
// start().
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/memory/arena.h"
#include "engine/schema/value.h"

namespace mneme {

class RowBuilder {
 public:
  RowBuilder& start() {
    values_.clear();
    text_.reset();
    return *this;
  }
  RowBuilder& integer(int64_t v) { return add(Value::of_int(v)); }
  // Scaled by 10^(the column's scale): 1234 is 12.34 in a NUMERIC(p,2).
  RowBuilder& numeric(int64_t v) { return add(Value::of_numeric(v)); }
  RowBuilder& timestamp(int64_t microseconds) { return add(Value::of_int(microseconds)); }
  RowBuilder& text(std::string_view v) { return add(Value::of_text(text_.copy(v))); }
  RowBuilder& null() { return add(Value::null()); }

  std::span<const Value> row() const { return values_; }

 private:
  RowBuilder& add(Value value) {
    values_.push_back(value);
    return *this;
  }

  std::vector<Value> values_;
  Arena text_;
};

}  // namespace mneme
