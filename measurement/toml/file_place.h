// A place in a file that a user wrote, for errors.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace mneme {

struct FilePlace {
  uint32_t line = 1;  // both from 1
  uint32_t column = 1;

  auto operator<=>(const FilePlace&) const = default;
};

// "FILE:LINE:COLUMN"
inline std::string place_text(std::string_view file, FilePlace place) {
  return fmt::format("{}:{}:{}", file, place.line, place.column);
}

}  // namespace mneme
