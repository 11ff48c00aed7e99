// CrashableServer: the server under test, which a durability test ends as a crash would, and starts again.
//
// OwnServer       this program again as `mneme serve`, on a free port of the loopback interface, ended by
//                 SIGKILL. With a log device that loses what was never synced (`lossy`) that is a failure of
//                 the power, too.
// CommandServer   any other: the user's shell commands end and start it.
// Threads         one owner.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/bench/target_connection.h"
#include "cli/crash/child_process.h"

namespace mneme {

class CrashableServer {
 public:
  virtual ~CrashableServer() = default;

  // Ends it without a chance to write anything more. Returns once it is gone.
  virtual Result<void> crash() = 0;
  // Starts it, waits until it answers, and returns where.
  virtual Result<Target> start() = 0;
};

class OwnServer final : public CrashableServer {
 public:
  // `directory` holds a database, or the first start makes one with `warehouses`. `options` go to `mneme
  // serve`.
  OwnServer(std::string directory, uint32_t warehouses, const std::vector<std::string>& options);

  Result<void> crash() override;
  Result<Target> start() override;

 private:
  std::vector<std::string> arguments_;
  std::optional<ChildProcess> child_;
};

class CommandServer final : public CrashableServer {
 public:
  CommandServer(Target target, std::string kill_command, std::string start_command)
      : target_(std::move(target)), kill_(std::move(kill_command)), start_(std::move(start_command)) {}

  Result<void> crash() override;
  Result<Target> start() override;

 private:
  const Target target_;
  const std::string kill_;
  const std::string start_;
};

}  // namespace mneme
