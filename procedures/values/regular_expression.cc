#include "procedures/values/regular_expression.h"

#include <re2/re2.h>

#include <memory>
#include <string>

namespace mneme {

namespace {

// The patterns that a thread used last: a statement's few are compiled once.
struct CompiledPattern {
  std::string pattern;
  bool any_case = false;
  std::unique_ptr<re2::RE2> compiled;
};

const re2::RE2& compiled(std::string_view pattern, bool any_case) {
  constexpr size_t kKept = 8;
  thread_local CompiledPattern kept[kKept];
  thread_local size_t next = 0;
  for (const CompiledPattern& each : kept) {
    if (each.compiled && each.any_case == any_case && each.pattern == pattern) return *each.compiled;
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_case_sensitive(!any_case);
  options.set_dot_nl(true);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);
  CompiledPattern& place = kept[next++ % kKept];
  place = {std::string(pattern), any_case,
           std::make_unique<re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options)};
  return *place.compiled;
}

}  // namespace

bool matches(std::string_view text, std::string_view pattern, bool any_case, Arena& arena, Value& result,
             SqlError& error) {
  const re2::RE2& regex = compiled(pattern, any_case);
  if (!regex.ok())
    return fail(error, arena, sqlstate::kInvalidPattern, "invalid regular expression: {}", regex.error());
  result = Value::of_bool(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), regex));
  return true;
}

}  // namespace mneme
