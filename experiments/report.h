// The report: all figures of a folder of results as one HTML file that needs nothing beside it. Page, style
// and libraries are built into the program (embed.cmake), if npm had fetched them when it was built.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiments/store.h"

namespace mneme {

inline constexpr const char* kNoReport =
    "this program was built without the report's plotting libraries, so there is no report.html, but the "
    "JSON and CSV are there; install "
    "npm, run scripts/setup, and build anew";

bool has_report();
// False where the program was built without its libraries.
Result<bool> write_report_file(const ResultStore& store, const std::string& path);
// The page around `data`, which is any JSON.
std::string report_html(const nlohmann::ordered_json& data);

// Built in; empty where the program was built without them.
extern const std::string_view kReportPage;
extern const std::string_view kReportStyle;
extern const std::string_view kReportScript;
extern const std::string_view kReportLibraries;

}  // namespace mneme
