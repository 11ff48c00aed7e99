#include "logging/replicated/server_access.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "network/secret_file.h"

namespace mneme {
namespace {

constexpr size_t kMostAccessBytes = 64 * 1024;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

}  // namespace

Result<ServerAccess> ServerAccess::read(const std::string& path, std::span<const std::string_view> names) {
  ServerAccess access;
  if (path.empty()) return access;
  const Result<std::string> text = read_secret_file(path, kMostAccessBytes);
  if (!text) return text.error();
  size_t number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = trimmed(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const size_t equals = line.find('=');
    const std::string name(trimmed(line.substr(0, equals)));
    const bool is_known = std::ranges::any_of(names, [&](std::string_view each) {
      return each.ends_with('.') ? name.starts_with(each) && name.size() > each.size() : name == each;
    });
    if (equals == line.npos || !is_known) {
      return invalid_argument(
          "--log-key {}, line {}: it is no NAME=VALUE that is known here (it is not repeated, as it may hold "
          "a "
          "password); the names are {}, and what begins with one that ends with a dot",
          path, number, fmt::join(names, ", "));
    }
    if (trimmed(line.substr(equals + 1)).empty())
      return invalid_argument("--log-key {}, line {}: {} has no value", path, number, name);
    if (!access.value(name).empty())
      return invalid_argument("--log-key {}, line {}: {} is there twice", path, number, name);
    access.values_.emplace_back(name, trimmed(line.substr(equals + 1)));
  }
  return access;
}

std::string ServerAccess::value(std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &std::pair<std::string, std::string>::first);
  return found == values_.end() ? "" : found->second;
}

}  // namespace mneme
