// Values of a command's JSON: an expression over the numbers in it, from left to right, with spaces between
// all its words.
//
// Errors      kFailed, with the name that is not there, or the word that is none.
// Threads     any.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mneme {

// `text` as a number, if the whole of it is one.
std::optional<double> number_in(std::string_view text);
// The part of that name, "latency_us.p50", or nothing.
const nlohmann::ordered_json* part_of(const nlohmann::ordered_json& result, std::string_view name);
// "60e-9 * log_bytes / seconds", "latency_us.p50", "schedules.2.makespan_seconds", "a / ( a + b )".
Result<double> value_of(std::string_view expression, const nlohmann::ordered_json& result);
// The names that an expression reads, without any JSON. Fails where it is no expression.
Result<std::vector<std::string>> names_of_expression(std::string_view expression);
// A list of numbers by its name.
Result<std::vector<double>> list_of(std::string_view name, const nlohmann::ordered_json& result);

struct Spread {
  double median = 0;
  double min = 0;
  double max = 0;
};
// `runs` holds at least one number.
Spread spread_of(std::vector<double> runs);

}  // namespace mneme
