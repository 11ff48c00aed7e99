#include "cli/crash/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace mneme {
namespace {

// This program's path, and `arguments` behind it as a child's.
struct Restart {
  explicit Restart(std::vector<std::string>& arguments) : path(4096, '\0') {
    const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
    CHECK(length > 0);
    path.resize(static_cast<size_t>(length));
    argv = {path.data()};
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
  }

  std::string path;
  std::vector<char*> argv;
};

}  // namespace

Result<ChildProcess> ChildProcess::start(std::vector<std::string> arguments, size_t channel_count) {
  std::vector<CallChannel> channels;
  std::vector<int> child_ends;
  const auto close_child_ends = [&] {
    for (const int descriptor : child_ends) close(descriptor);
  };
  for (size_t i = 0; i < channel_count; ++i) {
    int ends[2];
    // Close-on-exec on ours only: the kernel must close the parent's end in the child, or no end of file
    // would tell the parent that the child has died.
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      const int reason = errno;
      close_child_ends();
      return failed("cannot make a socket pair for the child process: {}", std::strerror(reason));
    }
    fcntl(ends[1], F_SETFD, 0);
    channels.emplace_back(ends[0]);
    child_ends.push_back(ends[1]);
    arguments.push_back("--channel");
    arguments.push_back(std::to_string(ends[1]));
  }

  Restart program(arguments);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.path.c_str(), nullptr, nullptr, program.argv.data(), environ);
  close_child_ends();
  if (error != 0) return failed("cannot start {}: {}", program.path, std::strerror(error));
  return ChildProcess(pid, std::move(channels));
}

Result<ChildProcess> ChildProcess::start_told(std::vector<std::string> arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failed("cannot make a pipe for the child process: {}", std::strerror(errno));
  Restart program(arguments);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    // It ends with this process, however that ends, and with the thread that has started it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(ends[1], STDOUT_FILENO) < 0) _exit(1);
    execv(program.path.c_str(), program.argv.data());
    _exit(1);
  }
  const int reason = errno;
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return failed("cannot start {}: {}", program.path, std::strerror(reason));
  }
  ChildProcess child(pid, {});
  child.told_ = ends[0];
  return child;
}

std::string ChildProcess::read_line() {
  std::string line;
  for (char c = 0;;) {
    const ssize_t got = read(told_, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || c == '\n') return line;
    line += c;
  }
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      channels_(std::move(other.channels_)),
      told_(std::exchange(other.told_, -1)) {}

ChildProcess::~ChildProcess() {
  if (told_ >= 0) close(told_);
  if (pid_ < 0) return;
  kill_now();
  wait();
}

void ChildProcess::kill_now() {
  CHECK(pid_ > 0);  // -1 would be every process of this user's
  ::kill(pid_, SIGKILL);
}

ChildProcess::Ending ChildProcess::wait() {
  CHECK(pid_ > 0);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  const bool by_signal = WIFSIGNALED(status);
  return {by_signal && WTERMSIG(status) == SIGKILL, by_signal ? 128 + WTERMSIG(status) : WEXITSTATUS(status)};
}

ChildProcess::Ending ChildProcess::wait(std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  siginfo_t ended{};
  // WNOWAIT: a child that has ended remains to be waited for.
  while (waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended.si_pid == 0) kill_now();
  return wait();
}

}  // namespace mneme
