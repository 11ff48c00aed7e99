#include "measurement/child/child.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/clock.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kServerStartMs = 60000;
constexpr int kInterruptCheckMs = 100;
constexpr int kRefusedStatus = 2;

struct Started {
  pid_t pid = -1;
  int output = -1;
  int errors = -1;
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

Result<Started> start(const std::vector<std::string>& arguments) {
  int output[2], errors[2];
  if (pipe2(output, O_CLOEXEC) != 0)
    return failed("cannot make a pipe for a child process: {}", std::strerror(errno));
  if (pipe2(errors, O_CLOEXEC) != 0) {
    const int reason = errno;
    close(output[0]);
    close(output[1]);
    return failed("cannot make a pipe for a child process: {}", std::strerror(reason));
  }
  std::vector<std::string> words = {"mneme"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(output[1], STDOUT_FILENO);
    dup2(errors[1], STDERR_FILENO);
    execv("/proc/self/exe", argv.data());
    _exit(127);
  }
  const int reason = errno;
  close(output[1]);
  close(errors[1]);
  if (pid < 0) {
    close(output[0]);
    close(errors[0]);
    return failed("cannot start a child process: {}", std::strerror(reason));
  }
  return Started{pid, output[0], errors[0]};
}

// Reads both to their ends, closes them.
std::array<std::string, 2> read_all(const Started& child, const std::function<bool()>& is_interrupted) {
  std::array<std::string, 2> texts;
  std::array<pollfd, 2> open = {pollfd{child.output, POLLIN, 0}, pollfd{child.errors, POLLIN, 0}};
  std::array<char, 65536> buffer;
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (is_interrupted()) ::kill(child.pid, SIGKILL);
    if (poll(open.data(), open.size(), kInterruptCheckMs) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    for (size_t i = 0; i < open.size(); ++i) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      const ssize_t got = read(open[i].fd, buffer.data(), buffer.size());
      if (got > 0) {
        texts[i].append(buffer.data(), static_cast<size_t>(got));
      } else if (got == 0 || errno != EINTR) {
        open[i].fd = -1;
      }
      open[i].revents = 0;
    }
  }
  close(child.output);
  close(child.errors);
  return texts;
}

std::string last_lines(const std::string& text) {
  constexpr size_t kMost = 1000;
  return text.size() <= kMost ? text : "..." + text.substr(text.size() - kMost);
}

}  // namespace

Result<Json> measure_command(const std::vector<std::string>& arguments,
                             const std::function<bool()>& is_interrupted) {
  const uint64_t begin_ns = monotonic_ns();
  const Result<Started> child = start(arguments);
  if (!child) return child.error();
  const auto [output, errors] = read_all(*child, is_interrupted);
  int status = 0;
  rusage usage{};
  while (wait4(child->pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const double wall_seconds = static_cast<double>(monotonic_ns() - begin_ns) / 1e9;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefusedStatus)
    return invalid_argument("mneme {} was refused: {}", fmt::join(arguments, " "), last_lines(errors));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return failed("mneme {} {}:\n{}", fmt::join(arguments, " "),
                  WIFSIGNALED(status) ? fmt::format("was ended by signal {}", WTERMSIG(status))
                                      : fmt::format("ended with status {}", WEXITSTATUS(status)),
                  last_lines(errors));
  }
  Json result = Json::parse(output, nullptr, /*allow_exceptions=*/false);
  if (!result.is_object()) {
    return failed("mneme {} printed no JSON object: {}", fmt::join(arguments, " "), last_lines(output));
  }
  result["process"] = {{"wall_seconds", wall_seconds},
                       {"user_seconds", seconds_of(usage.ru_utime)},
                       {"system_seconds", seconds_of(usage.ru_stime)},
                       {"context_switches", usage.ru_nvcsw + usage.ru_nivcsw},
                       {"voluntary_context_switches", usage.ru_nvcsw}};
  return result;
}

Result<LogServerChild> LogServerChild::start(const std::filesystem::path& directory) {
  const Result<Started> child =
      mneme::start({"logd", "--listen", "127.0.0.1:0", "--no-key", "--data-dir", directory.string()});
  if (!child) return child.error();
  close(child->errors);
  LogServerChild server(child->pid, child->output);
  constexpr std::string_view kListens = "listening on ";
  std::string text;
  while (true) {
    pollfd readable = {server.output_, POLLIN, 0};
    const int ready = poll(&readable, 1, kServerStartMs);
    if (ready < 0 && errno == EINTR) continue;
    std::array<char, 512> buffer;
    const ssize_t got = ready > 0 ? read(server.output_, buffer.data(), buffer.size()) : 0;
    if (got <= 0) return failed("a log server did not start: {}", text.empty() ? "it told nothing" : text);
    text.append(buffer.data(), static_cast<size_t>(got));
    const size_t at = text.find(kListens);
    const size_t end = at == std::string::npos ? at : text.find_first_of(",\n", at);
    if (end == std::string::npos) continue;
    server.address_ = text.substr(at + kListens.size(), end - at - kListens.size());
    return server;
  }
}

LogServerChild::LogServerChild(LogServerChild&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      output_(std::exchange(other.output_, -1)),
      address_(std::move(other.address_)) {}

LogServerChild::~LogServerChild() {
  if (output_ >= 0) close(output_);
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace mneme
