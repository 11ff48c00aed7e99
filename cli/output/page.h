// Pages: single HTML files that commands write: script and style inside, data as JSON, nothing fetched from
// anywhere.
//
// Source      cli/output/pages/*.html, and of experiments/page/ the design and the drawing of graphs, which
//             all pages share; built into the program (cli/embed.cmake).
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/output/output.h"

namespace mneme {

extern const std::string_view kSlicePage;
extern const std::string_view kReplayPage;
extern const std::string_view kBenchPage;

// The texts before a page's data and behind it.
struct PageParts {
  std::string_view before;
  std::string_view behind;
};
PageParts parts_of(std::string_view page);
// JSON as it may stand in a page: a "</" in it might end the script.
std::string in_page(const Json& data);

// Writes a page with its data to a file.
Result<void> write_page(std::string_view page, const Json& data, const std::string& path);

}  // namespace mneme
