// ChildProcess: this program again, as a child that may be killed at any moment.
//
// Threads     one owner.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/crash/call_channel.h"

namespace mneme {

class ChildProcess {
 public:
  // Starts this program with `arguments`, followed by the inherited ends of `channel_count` socket pairs:
  // --channel FD once for each.
  static Result<ChildProcess> start(std::vector<std::string> arguments, size_t channel_count);
  // The same without channels; its standard output comes here, and it is killed when the caller's thread
  // ends.
  static Result<ChildProcess> start_told(std::vector<std::string> arguments);
  // The next line of it, without its end. Empty: the child has closed it.
  std::string read_line();

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills what still runs.
  ~ChildProcess();

  // The parent's ends, in order.
  std::vector<CallChannel>& channels() { return channels_; }

  pid_t pid() const { return pid_; }

  void kill_now();
  // Waits for the end.
  struct Ending {
    bool killed = false;  // by SIGKILL
    // as a shell reports it: for a child killed by another signal 128 more than the signal
    int exit_status = 0;
  };
  Ending wait();
  // The same, and kills what has not ended by then.
  Ending wait(std::chrono::milliseconds limit);

 private:
  ChildProcess(pid_t pid, std::vector<CallChannel> channels) : pid_(pid), channels_(std::move(channels)) {}

  pid_t pid_ = -1;
  std::vector<CallChannel> channels_;
  int told_ = -1;  // the pipe's end to read; -1: standard output is this process's
};

}  // namespace mneme
