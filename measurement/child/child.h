// Child: this program again, as a command that measures, or as a log server beside one that does.
//
// Invariants  no child outlives this process: the kernel kills it with the thread that started it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

// Returns a command's JSON from its standard output, with the kernel's counts for the process as "process".
// Fails with kInvalidArgument if the command refuses its arguments, which it would do again. Once
// `is_interrupted` says so, which it is asked several times a second, the child is killed.
Result<nlohmann::ordered_json> measure_command(
    const std::vector<std::string>& arguments,
    const std::function<bool()>& is_interrupted = [] { return false; });

class LogServerChild {
 public:
  // On a port that the system chooses; ready for connections when it returns.
  static Result<LogServerChild> start(const std::filesystem::path& directory);
  LogServerChild(LogServerChild&& other) noexcept;
  LogServerChild& operator=(LogServerChild&&) = delete;
  ~LogServerChild();

  const std::string& address() const { return address_; }

 private:
  LogServerChild(pid_t pid, int output) : pid_(pid), output_(output) {}

  pid_t pid_ = -1;
  int output_ = -1;
  std::string address_;
};

}  // namespace mneme
