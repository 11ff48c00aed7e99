// For tests: log servers in processes of their own, logs in their memories, and engines that are killed.
#pragma once

#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "logging/testing/crash_child.h"
#include "logging/testing/test_remote_log.h"
#include "network/testing/test_log_server.h"

namespace mneme::test {

using Servers = std::vector<std::unique_ptr<ServerProcess>>;

inline Servers start_servers(size_t count, const std::shared_ptr<const PreSharedKey>& key = nullptr) {
  Servers servers;
  for (size_t i = 0; i < count; ++i)
    servers.push_back(std::make_unique<ServerProcess>(SocketMethod::kUring, key));
  return servers;
}

inline DurableLogOptions remote_log(const Servers& servers) {
  DurableLogOptions options = small_log();
  options.device = LogDeviceKind::kRemote;
  options.device_options.remote.files = 200;  // no checkpoints are taken
  for (const auto& server : servers) {
    options.device_options.remote.servers +=
        (options.device_options.remote.servers.empty() ? "" : ",") + server->address().text();
  }
  return options;
}

// Runs an engine that is killed while it appends, from record `begin` on; returns behind the last that it
// knew to be durable.
inline uint64_t run_killed_engine(
    const std::string& directory, const DurableLogOptions& options, uint64_t begin, uint64_t seed,
    uint64_t batch = 3, const std::function<void()>& meanwhile = [] {}) {
  const auto engine = [&](int report) {
    auto opened = open_remote(directory, options);
    for (uint64_t number = begin; opened.ok(); number += batch) {
      if (!append_durably(*opened->log, number, number + batch)) break;
      const uint64_t durable = number + batch;
      if (::write(report, &durable, sizeof durable) != sizeof durable) break;
    }
    ::_exit(1);
  };
  const auto reports = run_and_kill<uint64_t>(seed, engine, meanwhile);
  return reports.empty() ? begin : reports.back();
}

}  // namespace mneme::test
