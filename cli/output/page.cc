#include "cli/output/page.h"

#include "base/check.h"
#include "cli/output/output.h"

namespace mneme {

PageParts parts_of(std::string_view page) {
  constexpr std::string_view kPlace = "@DATA@";
  const size_t at = page.find(kPlace);
  CHECK(at != std::string_view::npos);
  return {page.substr(0, at), page.substr(at + kPlace.size())};
}

std::string in_page(const Json& data) {
  std::string text;
  for (const char c : data.dump()) {
    if (c == '/' && text.ends_with('<')) text.push_back('\\');
    text.push_back(c);
  }
  return text;
}

Result<void> write_page(std::string_view page, const Json& data, const std::string& path) {
  const PageParts parts = parts_of(page);
  return write_user_file("the page", path,
                         std::string(parts.before) + in_page(data) + std::string(parts.behind));
}

}  // namespace mneme
