// Words: the parts of a text between blanks and ends of lines.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

inline std::vector<std::string> words_of(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::vector<std::string> words;
  for (size_t at = text.find_first_not_of(kBlanks); at != text.npos;
       at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

}  // namespace mneme
