// mneme logd: the remote log server (SepLog): engines' logs in this machine's memory.
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <climits>
#include <memory>

#include "cli/command/commands.h"
#include "cli/command/stop_signals.h"
#include "cli/option/option_table.h"
#include "logging/directory/database_files.h"
#include "network/log_connection.h"
#include "network/log_server.h"

namespace mneme {
namespace {

constexpr const char* kTcpPlace = "127.0.0.1:7433";
// A pipe that is ready takes so many bytes at once.
constexpr size_t kMostLineBytes = PIPE_BUF;

// The server that the signals stop.
LogServer* serving = nullptr;

void stop_serving(int) {
  serving->stop();
}

// Writes a line at once, also into a file or a pipe: the process that started the server waits for it. Where
// no process listens any more, the disk is full, or a pipe that no process reads, the server goes on without:
// logs are worth more than its words.
void tell(const std::string& sentence) {
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  if (::poll(&output, 1, 0) == 0) return;
  const std::string line = sentence.substr(0, kMostLineBytes - 1) + '\n';
  (void)std::fwrite(line.data(), 1, line.size(), stdout);
  (void)std::fflush(stdout);
  std::clearerr(stdout);
}

struct LogdCommand {
  std::string listen;
  std::string socket;
  std::string directory = "./mneme-logd";
  std::string key_file;
  bool without_key = false;
  uint64_t memory_mib = 4096;
  std::string network = "uring";
  std::string shut_down;

  Result<void> run(const CLI::App& command) const {
    if (without_key && !key_file.empty())
      return invalid_argument("--no-key and --key FILE say the opposite: leave one of them out");
    std::shared_ptr<const PreSharedKey> key;
    if (!key_file.empty()) {
      auto read = read_key_file(key_file);
      if (!read) return read.error();
      key = std::move(*read);
    }
    if (!shut_down.empty()) return end_another(command, key);
    const auto address = place(command);
    if (!address) return address.error();
    const auto files = database_files(directory);
    if (!files) return files.error();
    if (!files->empty()) {
      return invalid_argument(
          "{} holds files of a database, as {}, and a log server keeps its own: give another --data-dir",
          directory, files->front());
    }
    LogServerOptions options;
    options.listen = *address;
    options.without_key = without_key;
    options.directory = directory;
    options.key = key;
    options.memory_bytes = memory_mib << 20;
    options.network = network == "poll" ? SocketMethod::kPoll : SocketMethod::kUring;
    options.tell = tell;
    auto server = LogServer::start(options);
    if (!server) return server.error();
    serving = server->get();
    stop_on_signals(stop_serving);
    tell(fmt::format("listening on {}{}", (*server)->address().text(), key == nullptr ? "" : ", with TLS"));
    return (*server)->run();
  }

 private:
  // A Unix socket, unless something is said of TCP.
  Result<ServerAddress> place(const CLI::App& command) const {
    const bool says_tcp = !listen.empty() || !key_file.empty() || without_key;
    auto address = says_tcp && socket.empty()
                       ? server_address(listen.empty() ? kTcpPlace : listen)
                       : server_address("unix:" + (socket.empty() ? directory + "/socket" : socket));
    if (!address || !address->is_local()) return address;
    for (const char* option : {"--listen", "--key", "--no-key"}) {
      if (command.count(option) == 0 || (option == std::string("--listen") && socket.empty())) continue;
      return invalid_argument(
          "a Unix socket is for its own user's engines, and has no use for {}: leave it or the socket out",
          option);
    }
    return address;
  }

  Result<void> end_another(const CLI::App& command, const std::shared_ptr<const PreSharedKey>& key) const {
    for (const char* option : {"--listen", "--socket", "--no-key", "--data-dir", "--memory", "--network"}) {
      if (command.count(option) > 0) {
        return invalid_argument(
            "--shut-down ends another server, and {} is for one that starts: leave one of them out", option);
      }
    }
    const auto address = server_address(shut_down);
    if (!address) return address.error();
    auto connection = LogConnection::open(*address, key, HelloMessage{}, std::chrono::minutes(1));
    if (!connection) return connection.error();
    RETURN_IF_ERROR(connection->shut_down());
    tell(fmt::format("{} has saved its logs and ends", address->text()));
    return {};
  }
};

}  // namespace

void add_logd_command(CLI::App& program, Action& chosen) {
  auto command = std::make_shared<LogdCommand>();
  CLI::App* app =
      program.add_subcommand("logd", "the remote log server: engines' logs in this machine's memory");
  const OptionTaker take(*app);
  take("--listen", command->listen);
  take("--socket", command->socket);
  take("--data-dir", command->directory);
  take("--key", command->key_file);
  take("--no-key", command->without_key);
  take("--memory", command->memory_mib);
  take("--network", command->network);
  take("--shut-down", command->shut_down);
  app->callback([&chosen, command, app] { chosen = [command, app] { return command->run(*app); }; });
}

}  // namespace mneme
