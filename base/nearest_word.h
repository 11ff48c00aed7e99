// The word that was meant by one that is unknown: for errors that end with "did you mean ...?".
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// Returns how many characters must be put in, left out or exchanged to make one of the other.
inline size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t exchanged = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, exchanged});
    }
  }
  return row.back();
}

// Returns the nearest of `words`, the first of several; empty if none is near, or has a character in common.
inline std::string nearest_word(std::string_view word, std::span<const std::string> words) {
  std::string nearest;
  size_t least = std::min(std::max<size_t>(2, word.size() / 3) + 1, word.size());
  for (const std::string& other : words) {
    const size_t distance = edit_distance(word, other);
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest;
}

}  // namespace mneme
