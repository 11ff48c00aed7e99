// The workloads' .sql files, built into the program by workloads/embed.cmake so that it needs no file beside
// it.
#pragma once

#include <string_view>

namespace mneme {

extern const std::string_view kTpccSql;
extern const std::string_view kSmallbankSql;
extern const std::string_view kTatpSql;
extern const std::string_view kTpcbSql;
extern const std::string_view kYcsbSql;

}  // namespace mneme
