// Array text: {1,NULL,"a, b"}: arrays as PostgreSQL's input and output functions have them, of one dimension.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

// The elements as text; nothing: NULL.
using ArrayElements = std::vector<std::optional<std::string>>;

// Returns the array's elements, or nothing where the text is no array.
std::optional<ArrayElements> array_elements(std::string_view text);

// Returns whether the text is a vector's, which is written as 1 2 3. Its elements are counted from 0.
inline bool is_vector(std::string_view text) {
  return !text.starts_with('{');
}

// Returns the elements of an array, or of a vector.
std::optional<ArrayElements> array_or_vector_elements(std::string_view text);

// Appends an element that is not NULL, in quotes where it needs them.
void append_array_element(std::string_view element, fmt::memory_buffer& out);

}  // namespace mneme
