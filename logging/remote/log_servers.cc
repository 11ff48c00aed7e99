#include "logging/remote/log_servers.h"

#include <fmt/format.h>

namespace mneme {

namespace {

constexpr size_t kMostServers = 3;

}  // namespace

Result<std::vector<ServerAddress>> log_server_addresses(std::string_view text) {
  auto servers = server_addresses(text);
  if (!servers.ok() || servers->size() <= kMostServers) return servers;
  return invalid_argument("{} log servers: there are {} at most", servers->size(), kMostServers);
}

std::string same_server_text(const ServerAddress& one, const ServerAddress& other) {
  return fmt::format(
      "the log servers {} and {} are one, which counts once: name servers on machines of their own",
      one.text(), other.text());
}

}  // namespace mneme
