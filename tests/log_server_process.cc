// A log server for tests to kill, with few words: mneme_test_log_server DIRECTORY PORT uring|poll
// MEMORY_BYTES [KEY_FILE] It prints its port once it serves, and ends with the process that started it.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "network/log_server.h"

namespace {

mneme::LogServer* served = nullptr;

}  // namespace

int main(int count, char** arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (count < 5) return 2;
  mneme::LogServerOptions options;
  options.directory = arguments[1];
  options.listen.port = static_cast<uint16_t>(std::stoul(arguments[2]));
  options.network =
      arguments[3] == std::string("poll") ? mneme::SocketMethod::kPoll : mneme::SocketMethod::kUring;
  options.without_key = true;
  options.memory_bytes = std::stoull(arguments[4]);
  if (count > 5) {
    auto key = mneme::read_key_file(arguments[5]);
    if (!key.ok()) {
      fmt::print(stderr, "{}\n", key.error().message);
      return 1;
    }
    options.key = std::move(*key);
  }
  auto server = mneme::LogServer::start(options);
  if (!server.ok()) {
    fmt::print(stderr, "{}\n", server.error().message);
    return 1;
  }
  served = server->get();
  std::signal(SIGTERM, [](int) { served->stop(); });
  fmt::print("{}\n", (*server)->port());
  std::fflush(stdout);
  return (*server)->run().ok() ? 0 : 1;
}
