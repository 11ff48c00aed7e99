// The addresses of a log's servers, of which there are at most three.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "network/server_address.h"

namespace mneme {

// As server_addresses(). Fails with kInvalidArgument, too, if there are more than a log may have.
Result<std::vector<ServerAddress>> log_server_addresses(std::string_view text);
// Returns a sentence for the user: one server under two names is one copy.
std::string same_server_text(const ServerAddress& one, const ServerAddress& other);

}  // namespace mneme
