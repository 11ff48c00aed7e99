#include "cli/option/server_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/option/option_table.h"

namespace mneme {
namespace {

constexpr const char* kServePlace = "127.0.0.1:5433";
constexpr const char* kServerOptions[] = {"--listen", "--socket", "--connections", "--blocks",  "--network",
                                          "--auth",   "--users",  "--tls-cert",    "--tls-key", "--tls"};

}  // namespace

void ServerSettings::add_options(CLI::App& command) {
  const OptionTaker take(command);
  take("--listen", listen_);
  take("--socket", socket_);
  take("--connections", connections_);
  take("--blocks", blocks_);
  take("--network", network_);
  take("--auth", auth_);
  take("--users", users_);
  take("--tls-cert", tls_certificate_);
  take("--tls-key", tls_key_);
  take("--tls", tls_);
}

Result<void> ServerSettings::refuse(const CLI::App& command, const char* without) {
  for (const char* option : kServerOptions) {
    if (command.count(option) > 0)
      return invalid_argument("{} concerns a server, and there is none without {}: leave it out", option,
                              without);
  }
  return {};
}

Result<ServerOptions> ServerSettings::choose(const CLI::App& command, uint32_t threads,
                                             const Output& output) const {
  ServerOptions options;
  if (!listen_.empty() || socket_.empty()) {
    Result<ServerAddress> address = server_address(listen_.empty() ? kServePlace : listen_);
    if (!address) return address.error();
    if (address->is_local())
      return invalid_argument("--listen is HOST:PORT; a Unix socket's directory is named by --socket");
    options.listen = *address;
  }
  options.socket_directory = socket_;
  options.connections = connections_;
  options.blocks = command.count("--blocks") > 0 ? blocks_ : std::min(blocks_, connections_);
  options.threads = threads;
  options.network = network_ == "poll" ? SocketMethod::kPoll : SocketMethod::kUring;
  options.tell = [&output](const std::string& sentence) { output.notice(sentence); };
  RETURN_IF_ERROR(choose_tls(command, options));
  if ((auth_ == "scram") != !users_.empty())
    return invalid_argument("--auth scram asks clients for a password, and --users FILE has them: say both");
  if (users_.empty()) return options;
  Result<Users> read = Users::read(users_);
  if (!read) return read.error();
  options.users = std::make_shared<const Users>(*std::move(read));
  return options;
}

Result<void> ServerSettings::choose_tls(const CLI::App& command, ServerOptions& options) const {
  if (tls_certificate_.empty() != tls_key_.empty())
    return invalid_argument(
        "--tls-cert names the server's certificate, and --tls-key its private key: say both");
  if (tls_certificate_.empty()) {
    if (command.count("--tls") == 0) return {};
    return invalid_argument("--tls needs a certificate: say --tls-cert and --tls-key, or leave it out");
  }
  if (!options.listen)
    return invalid_argument(
        "TLS is for clients over TCP, and the server listens on a Unix socket alone: say --listen, or leave "
        "--tls-cert and --tls-key out");
  Result<std::shared_ptr<const TlsCertificate>> read = TlsCertificate::read(tls_certificate_, tls_key_);
  if (!read) return read.error();
  options.tls = *std::move(read);
  options.needs_tls = tls_ == "required";
  return {};
}

void tell_ready(const Server& server) {
  if (const std::optional<ServerAddress> address = server.address()) {
    fmt::print("ready: {} {}\n", address->host, address->port);
  } else {
    fmt::print("ready: {}\n", server.socket_path());
  }
  std::fflush(stdout);
}

}  // namespace mneme
