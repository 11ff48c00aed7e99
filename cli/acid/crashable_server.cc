#include "cli/acid/crashable_server.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace mneme {
namespace {

constexpr std::chrono::seconds kLongestStart{120};
constexpr std::chrono::milliseconds kBetweenLooks{50};

}  // namespace

OwnServer::OwnServer(std::string directory, uint32_t warehouses, const std::vector<std::string>& options)
    : arguments_{"serve",        std::move(directory),       "--create", "--workload",  "tpcc",
                 "--warehouses", std::to_string(warehouses), "--listen", "127.0.0.1:0", "--quiet"} {
  arguments_.insert(arguments_.end(), options.begin(), options.end());
}

Result<void> OwnServer::crash() {
  child_->kill_now();
  child_->wait();
  child_.reset();
  return {};
}

Result<Target> OwnServer::start() {
  Result<ChildProcess> child = ChildProcess::start_told(arguments_);
  if (!child) return child.error();
  child_.emplace(*std::move(child));
  const std::string line = child_->read_line();
  char host[64];
  unsigned port = 0;
  if (std::sscanf(line.c_str(), "ready: %63s %u", host, &port) != 2) {
    const int status = child_->wait().exit_status;
    child_.reset();
    return failed("the server for the tests has not started (status {}): its message is above", status);
  }
  return parse_target(fmt::format("postgresql://acid@{}:{}/acid", host, port));
}

Result<void> CommandServer::crash() {
  if (std::system(kill_.c_str()) == 0) return {};  // NOLINT(cert-env33-c): it is the user's own command
  return failed("the command of --kill-command failed: {}", kill_);
}

Result<Target> CommandServer::start() {
  if (std::system(start_.c_str()) != 0)  // NOLINT(cert-env33-c): it is the user's own command
    return failed("the command of --start-command failed: {}", start_);
  const auto deadline = std::chrono::steady_clock::now() + kLongestStart;
  for (;;) {
    const Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target_);
    if (connection) return target_;
    if (std::chrono::steady_clock::now() >= deadline) return connection.error();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace mneme
