// Server: a database behind PostgreSQL's protocol: it listens, and serves each client that connects.
//
// Flow        start() -> run(): an accepting thread deals sockets to the loops -> a loop's thread moves its
//             clients' bytes (network/socket_loop.h) and advances their sessions -> replies leave once they
//             are durable
//             stop(): statements that run end early, open blocks are rolled back, clients are told (57P01)
// Durability  no thread waits for the log on a client's behalf. A loop says which LSN its oldest held reply
//             waits for; one thread waits for the lowest of them, and wakes the loops whose replies may
//             leave.
// Long work   what may take long, as a change of the schema that waits for others' transactions, goes to the
//             helpers' threads, so that a loop's other clients go on.
// Seats       a session runs on one of so many connections of the database (session_host.h): one a loop and a
//             helper, and one an open block. A client that finds none waits.
// Bounds      clients; how long one may take to start; what a result may take, what may wait to be sent to a
//             client, and how long it may leave it there; blocks, and how long one may be idle.
// Access      clients are who they say, or show by a password that they are (users.h). TCP, by TLS if there
//             is a certificate, and a Unix socket in a directory that is this user's alone. Every process of
//             this machine may connect to TCP on loopback. On an address that other machines reach, the
//             server listens only with a certificate and users, and a client that is not on loopback needs
//             TLS.
// Threads     run(): its caller's, with those that it starts. stop(): any, and signal handlers.
// Errors      start(): the address, or what it asks for is missing; the socket's directory. run(): the log
//             has failed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "embedding/embedded_database.h"
#include "network/server_address.h"
#include "network/socket_loop.h"
#include "network/tls_certificate.h"
#include "server/session/users.h"

namespace mneme {

struct ServerOptions {
  std::optional<ServerAddress> listen{};  // TCP
  std::string socket_directory{};         // of the Unix socket .s.PGSQL.PORT; empty: none
  uint16_t socket_port = 5433;            // in its name, where there is no TCP
  uint32_t connections = 256;
  uint32_t threads = 1;
  uint32_t blocks = 128;  // open at the same time
  // The database's transactions lock rows (--cc 2pl): every statement may wait for another client's block. So
  // all of them run on helpers' threads, of which there is then one a seat: no client waits for a thread that
  // another keeps.
  bool statements_wait = false;
  SocketMethod network = SocketMethod::kUring;
  std::chrono::milliseconds startup_patience{10'000};
  std::chrono::milliseconds read_patience{60'000};  // for a client to read any of what waits for it
  std::shared_ptr<const Users> users{};             // nullptr: every client is who it says
  std::shared_ptr<const TlsCertificate> tls{};      // nullptr: no client is offered TLS
  bool needs_tls = false;                           // TCP's clients on loopback, too, must use it
  // How far a standby is behind. Any thread.
  std::function<std::chrono::milliseconds()> lag = [] { return std::chrono::milliseconds(0); };
  // Told a sentence each. On any of the server's threads, one at a time.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

// The seats that a server with these options needs of its database.
uint32_t seats_of(const ServerOptions& options);

class Server {
 public:
  // The database has seats_of() connections, and outlives the server.
  static Result<std::unique_ptr<Server>> start(EmbeddedDatabase& database, const ServerOptions& options);
  ~Server();

  // Where it listens, with the port that the system chose.
  std::optional<ServerAddress> address() const;
  std::string socket_path() const;
  // Serves until stop(), or until the log fails.
  Result<void> run();
  // Signal handlers may call it. A second call ends clients in the middle of what they run.
  void stop();
  // Ends what keeps a standby's replay waiting: statements that run, and blocks whose clients are idle. Any
  // thread.
  void give_way();

  struct Counters {
    uint64_t clients = 0;  // accepted
    uint64_t refused = 0;
  };
  Counters counters() const;  // any thread

 private:
  class State;
  explicit Server(std::unique_ptr<State> state);

  const std::unique_ptr<State> state_;
};

}  // namespace mneme
