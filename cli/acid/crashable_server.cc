#include "cli/acid/crashable_server.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
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
  if (!child_) return {};  // it has ended by itself
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

namespace {

// Whether the user's command has done what it was for. What it prints is no part of the result.
bool does(const std::string& command) {
  const int status =
      std::system(fmt::format("( {} ) >&2", command).c_str());  // NOLINT(cert-env33-c): the user's own
  // While it ran, Ctrl-C was for it alone.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) std::raise(SIGINT);
  return status == 0;
}

}  // namespace

Result<void> CommandServer::crash() {
  if (!does(kill_)) return failed("the command of --kill-command failed: {}", kill_);
  if (TargetConnection::open(target_)) {
    return failed("the command of --kill-command did not end the server, which still answers: {}", kill_);
  }
  return {};
}

Result<Target> CommandServer::start() {
  if (!does(start_)) return failed("the command of --start-command failed: {}", start_);
  const auto deadline = std::chrono::steady_clock::now() + kLongestStart;
  for (;;) {
    const Result<std::unique_ptr<TargetConnection>> connection = TargetConnection::open(target_);
    if (connection) return target_;
    if (std::chrono::steady_clock::now() >= deadline) return connection.error();
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace mneme
