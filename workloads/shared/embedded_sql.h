// The workloads' .sql files, built into the program by workloads/embed.cmake so that it needs no file beside
// it.
#pragma once

#include <string_view>

namespace mneme {

// The text of workloads/NAME/NAME.sql, which must exist.
std::string_view embedded_sql(std::string_view workload);

}  // namespace mneme
