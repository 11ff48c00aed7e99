// Keywords: the words that the grammar knows, for a shell that completes what is typed.
#pragma once

#include <string>
#include <vector>

namespace mneme {

// In upper case, sorted.
std::vector<std::string> keywords();

}  // namespace mneme
