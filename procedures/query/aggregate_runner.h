// Aggregate runner: what an aggregate has made of the rows so far, and what it gives for them. Private to the
// runner.
#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "procedures/query/query_runner.h"

namespace mneme::query {

struct AggregateState {
  uint64_t count = 0;  // of values that are not NULL; of rows for count(*)
  int128 exact_sum = 0;
  Value squares;          // of variances of exact numbers: the sum of squares
  double double_sum = 0;  // of variances of doubles
  double deviations = 0;  // and the sum of the squares of what the values differ by from their mean
  // A regression has both sums for each of x and y: x's are the two above, y's the next two. The last one
  // sums, over the pairs, x's difference from its mean times y's.
  double sum_of_y = 0;
  double deviations_of_y = 0;
  double deviations_of_both = 0;
  Value value;
  std::string text;
  std::unordered_set<std::string> distinct;
  // With ORDER BY: the keys, then the argument and the separator.
  std::unique_ptr<RowStore> rows;
};

// Each method that returns a bool returns false where the run has failed.
class AggregateRunner {
 public:
  explicit AggregateRunner(QueryRunner& runner) : runner_(runner) {}

  // Adds the row at hand.
  [[nodiscard]] bool add_row(const Aggregate& aggregate, AggregateState& state);
  // Gives the result for the rows so far. An aggregate without ORDER BY may be given more rows after it.
  [[nodiscard]] bool finish(const Aggregate& aggregate, AggregateState& state, Value& result);

  // Whether remove_row() gives the same digits as an aggregate that has never seen the row.
  static bool can_remove(const Aggregate& aggregate);
  // Takes the row at hand, which was added, out again.
  [[nodiscard]] bool remove_row(const Aggregate& aggregate, AggregateState& state);
  // Forgets all rows.
  void clear(AggregateState& state);

 private:
  bool add_value(const Aggregate& aggregate, AggregateState& state, const Value& value,
                 const Value& separator);
  bool sum(const Aggregate& aggregate, AggregateState& state, const Value& value);
  bool add_in_order(const Aggregate& aggregate, AggregateState& state);
  bool add_to_variance(const Aggregate& aggregate, AggregateState& state, const Value& value);
  [[nodiscard]] bool add_pair(const Aggregate& aggregate, AggregateState& state, double y, double x);
  static Value regression(const Aggregate& aggregate, const AggregateState& state);
  bool variance(const Aggregate& aggregate, AggregateState& state, Value& result);
  std::vector<uint32_t> sorted_rows(const Aggregate& aggregate, const AggregateState& state) const;
  bool pick_in_order(const Aggregate& aggregate, AggregateState& state, Value& result);

  QueryRunner& runner_;
};

}  // namespace mneme::query
