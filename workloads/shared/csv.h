// CSV: a file's records, one at a time: fields separated by commas, in quotes where they hold commas, quotes
// or line ends, a quote written twice (RFC 4180). Empty lines are left out, and lines that begin with #.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/function_ref.h"
#include "base/result.h"

namespace mneme {

struct CsvField {
  std::string text;
  bool quoted = false;  // distinguishes an empty text from nothing
};

// `line` counts from 1, where the record begins. The fields are valid during the call. The first error ends
// it.
using CsvVisitor = FunctionRef<Result<void>(size_t line, std::span<const CsvField> fields)>;

// `name` is the file's, for errors.
Result<void> for_each_csv_record(std::string_view text, std::string_view name, CsvVisitor visit);

}  // namespace mneme
