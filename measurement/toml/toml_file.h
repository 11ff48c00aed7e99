// A TOML file as a tree whose every key and value knows where it stands, in the file's order.
//
// Bounds      a file is at most 64 KiB; the parser refuses arrays and inline tables nested deeper than 256.
// Source      TOML 1.0 (https://toml.io/en/v1.0.0), by toml++.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "measurement/toml/file_place.h"

namespace mneme {

struct TomlValue {
  enum class Kind { kText, kInteger, kFloat, kBoolean, kTime, kArray, kTable };
  struct Member;

  Kind kind = Kind::kTable;
  FilePlace place{};
  std::string text{};  // of kText
  int64_t integer = 0;
  double number = 0;  // of kFloat; of kInteger as well
  bool boolean = false;
  std::vector<TomlValue> items{};  // of kArray
  std::vector<Member> members;     // of kTable

  // "a text", "a whole number", ...
  static std::string_view name_of(Kind kind);
  std::string_view kind_name() const { return name_of(kind); }
};

struct TomlValue::Member {
  std::string name{};
  FilePlace place{};
  TomlValue value{};
};

// `file` is what errors name. Fails with kInvalidArgument where the text is no TOML.
Result<TomlValue> parse_toml(std::string_view text, std::string_view file);

}  // namespace mneme
