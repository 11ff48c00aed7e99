// Renamed text: an expression's text, in which a column or its table has another name from now on. All else
// stays as it was written.
#pragma once

#include <string>

namespace mneme {

// The column `former` is named `name`. Its qualifier stays.
std::string with_column_renamed(const std::string& expression, const std::string& former,
                                const std::string& name);
// The table `former`, by which references are qualified, is named `name`.
std::string with_table_renamed(const std::string& expression, const std::string& former,
                               const std::string& name);

}  // namespace mneme
