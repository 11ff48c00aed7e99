// Tools for consistency checks: reading some columns of a table, and counting the violations of a condition.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "workloads/shared/rows.h"
#include "workloads/shared/workload.h"

namespace mneme {

// Visits every row of `table`, with the values of `columns` only, in that order.
void scan_columns(const RowSource& rows, std::string_view table,
                  std::initializer_list<std::string_view> columns,
                  FunctionRef<void(std::span<const Value>)> visit);

// One condition of a check. The check calls holds() for each case, then result() once.
class Condition {
 public:
  explicit Condition(std::string name) : name_(std::move(name)) {}

  // The text is made only for the first violation.
  template <typename... Args>
  void holds(bool ok, fmt::format_string<Args...> text, Args&&... args) {
    ++cases_;
    if (ok) return;
    if (++violations_ == 1) first_ = fmt::format(text, std::forward<Args>(args)...);
  }

  Check result() const;

 private:
  std::string name_;
  uint64_t cases_ = 0;
  uint64_t violations_ = 0;
  std::string first_;
};

// Returns an amount given in hundredths as decimal text: "-12.34".
std::string money(int128 hundredths);

}  // namespace mneme
