// For tests: a log server in a process of its own, which can be killed, ended in order, and started again at
// its place.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "network/pre_shared_key.h"
#include "network/server_address.h"
#include "network/socket_loop.h"

namespace mneme::test {

class ServerProcess {
 public:
  explicit ServerProcess(SocketMethod network = SocketMethod::kUring,
                         const std::shared_ptr<const PreSharedKey>& key = nullptr,
                         uint64_t memory_bytes = 1u << 30)
      : network_(network), memory_bytes_(memory_bytes) {
    // In memory where that is to be had: how long a disk syncs is no part of these tests.
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path base =
        ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
    std::string name = (base / "mneme-logd-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    if (key != nullptr) {
      key_file_ = directory_ + "/key";
      { std::ofstream(key_file_) << key->secret << '\n'; }
      ::chmod(key_file_.c_str(), 0600);
    }
    start();
  }
  ~ServerProcess() {
    kill_now();
    std::filesystem::remove_all(directory_);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  ServerAddress address() const { return {"127.0.0.1", port_}; }
  const std::string& directory() const { return directory_; }

  // At the port that it had before, if it had one. A program of its own, and no fork: other threads of this
  // process may hold locks at that moment, which a fork would leave locked for ever.
  void start() {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::vector<std::string> words = {MNEME_TEST_LOG_SERVER, directory_, std::to_string(port_),
                                      network_ == SocketMethod::kPoll ? "poll" : "uring",
                                      std::to_string(memory_bytes_)};
    if (!key_file_.empty()) words.push_back(key_file_);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const int failure =
        ::posix_spawn(&process_, MNEME_TEST_LOG_SERVER, &actions, nullptr, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string told(16, '\0');
    const ssize_t bytes = failure == 0 ? ::read(ends[0], told.data(), told.size()) : -1;
    ::close(ends[0]);
    ASSERT_GT(bytes, 0) << "the server didn't start";
    port_ = static_cast<uint16_t>(std::stoul(told));
  }
  void kill_now() { end(SIGKILL); }
  // Returns whether it ended well.
  bool terminate() { return end(SIGTERM) == 0; }
  // Stops and goes on, as a machine that hangs, or a network that is down.
  void freeze() { ::kill(process_, SIGSTOP); }
  void thaw() { ::kill(process_, SIGCONT); }
  // The most that it has ever had resident.
  uint64_t peak_memory_bytes() const {
    std::ifstream status(fmt::format("/proc/{}/status", process_));
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
    }
    ADD_FAILURE() << "the system doesn't tell how much memory a process has";
    return 0;
  }

 private:
  int end(int signal) {
    if (process_ <= 0) return -1;
    ::kill(process_, signal);
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return status;
  }

  const SocketMethod network_;
  const uint64_t memory_bytes_;
  std::string directory_;
  std::string key_file_;
  uint16_t port_ = 0;
  pid_t process_ = -1;
};

}  // namespace mneme::test
