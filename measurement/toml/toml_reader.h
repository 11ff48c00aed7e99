// TomlReader: takes texts, numbers and lists out of a TOML file's tables, and collects what is wrong with
// them, so that a reader of the file learns of all mistakes at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "measurement/toml/toml_file.h"

namespace mneme {

bool is_among(std::span<const std::string> words, std::string_view word);

class TomlReader {
 public:
  explicit TomlReader(std::string file) : file_(std::move(file)) {}

  void problem(FilePlace place, std::string_view text);
  bool has_problems() const { return !problems_.empty(); }
  // kInvalidArgument with all problems, in the file's order.
  Error error() const;

  std::string place_text(FilePlace place) const { return mneme::place_text(file_, place); }

  static const TomlValue* find(const TomlValue& table, std::string_view key);
  // Every member must be one of `keys`. `what`: "a plot".
  void check_keys(const TomlValue& table, std::string_view what, std::span<const std::string> keys);
  // Whether the value is of this kind; a problem if it isn't.
  bool is(const TomlValue& value, TomlValue::Kind kind, std::string_view name);
  // The texts are on one line. Empty, with a problem, where the key is missing or no such text.
  std::string required_text(const TomlValue& table, std::string_view key, std::string_view what);
  std::string text(const TomlValue& table, std::string_view key);
  // A text, or a list of texts, of any number of lines, which become one.
  std::vector<std::string> prose_list(const TomlValue& table, std::string_view key);
  std::string prose(const TomlValue& table, std::string_view key);
  // The tables of a list, which is missing or holds nothing else. `what`: "a plot".
  std::vector<const TomlValue*> tables(const TomlValue& table, std::string_view key, std::string_view list,
                                       std::string_view what);
  uint64_t number(const TomlValue& table, std::string_view key, uint64_t missing, uint64_t least,
                  uint64_t most);
  bool boolean(const TomlValue& table, std::string_view key);
  // One of `choices`; `missing` where the key is.
  std::string choice(const TomlValue& table, std::string_view key, std::span<const std::string> choices,
                     const std::string& missing);
  // "; did you mean X? There are: X, Y", or "; there are: X, Y".
  static std::string advice(std::string_view word, std::span<const std::string> words);

 private:
  struct Problem {
    FilePlace place;
    std::string text;
    auto operator<=>(const Problem&) const = default;
  };

  std::string file_;
  std::vector<Problem> problems_;
};

}  // namespace mneme
