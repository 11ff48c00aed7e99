// Key values: in which order, and how often, the values of an IN or = ANY are looked up.
#pragma once

#include <algorithm>
#include <span>

#include "procedures/values/comparison.h"

namespace mneme {

// Sorts `values` in place, in the order of the index or backwards, and leaves out NULLs and what is there
// twice.
inline std::span<const Value> sort_key_values(std::span<Value> values, TypeKind kind, bool backward) {
  const auto end =
      std::remove_if(values.begin(), values.end(), [](const Value& value) { return value.is_null(); });
  std::sort(values.begin(), end,
            [&](const Value& a, const Value& b) { return compare_values(kind, a, b) < 0; });
  const auto last = std::unique(
      values.begin(), end, [&](const Value& a, const Value& b) { return compare_values(kind, a, b) == 0; });
  if (backward) std::reverse(values.begin(), last);
  return {values.begin(), last};
}

}  // namespace mneme
