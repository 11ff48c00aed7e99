// LogServer: SepLog's server: engines' logs in this machine's memory, behind a port. `mneme logd` runs one.
//
// Flow        start(): load what was saved, listen -> run(): messages -> LogStore -> answers -> SHUTDOWN, stop(): save
// Saves       a log goes to disk when its engine's connection ends, on SHUTDOWN and on stop(); a term when it is claimed.
//             Before it changes again the disk is told that the copy there is old (saved_log.h).
// Invariants  beyond loopback it listens only with a key, and then speaks TLS with everybody.
//             What a client sends harms nobody but the client: it is refused, told of, and cut off.
//             Bounds: clients, logs, memory for them, what waits to be sent to one client, the time until its HELLO.
// Threads     run(): one. stop: any, and signal handlers.
// Errors      start(): the address, the key, a damaged copy, another server on the directory. run(): what could not be saved.
// Source      SepLog, sections 4.2 and 5.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/random_number.h"
#include "base/result.h"
#include "network/log_store.h"
#include "network/message_channel.h"
#include "network/pre_shared_key.h"
#include "network/server_address.h"
#include "network/socket_loop.h"

namespace mneme {

struct LogServerOptions {
  ServerAddress listen{"127.0.0.1", 0};
  std::string directory;  // where logs are saved; it is made when it is missing
  std::shared_ptr<const PreSharedKey> key{};
  uint64_t memory_bytes = uint64_t{4} << 30;  // for all logs
  SocketMethod network = SocketMethod::kUring;
  // Told a sentence each: what was refused, saved, done without. On run()'s thread, or start()'s.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class LogServer {
 public:
  static Result<std::unique_ptr<LogServer>> start(const LogServerOptions& options);

  uint16_t port() const { return port_; }
  // Serves until a SHUTDOWN or stop().
  Result<void> run();
  void stop();

 private:
  struct Log {
    LogStore store;
    LogTerm kept_term;      // that the disk has: what is promised beyond it could be forgotten
    bool is_saved = true;   // the disk has the log as it is
    bool is_noted = false;  // the disk surely says that the log is in memory, so it may change
    // The connection that may change it: its engine's newest. What an older one still had under way is refused.
    SocketId writer{};
  };
  struct Client {
    Client(SocketId id, std::shared_ptr<const PreSharedKey> key)
        : socket(id), channel(TlsSide::kServer, std::move(key)) {}

    const SocketId socket;
    MessageChannel channel;
    uint64_t since_ns = 0;
    std::optional<HelloMessage> hello;
    Log* log = nullptr;  // of the database that HELLO named; none: unknown here
    bool is_over = false;
  };
  using Reason = RefusedMessage::Reason;

  LogServer(const LogServerOptions& options, File lock, std::unique_ptr<SocketLoop> loop)
      : options_(options), lock_(std::move(lock)), loop_(std::move(loop)) {}

  void accept(SocketId socket);
  void receive(SocketId socket, Client& client, ByteSpan bytes);
  enum class Farewell : uint8_t { kAnswers, kNone };  // what is yet to be sent: all, or nothing any more
  void end(SocketId socket, std::string_view why, Farewell farewell = Farewell::kAnswers);
  void end_silent_clients();
  void refuse(Client& client, RefusedMessage refusal);
  void refuse_if(Client& client, LogStore::Refusal refusal);

  void handle(Client& client, const LogMessage& message);
  void handle(Client& client, const HelloMessage& hello);
  void handle(Client& client, const CreateMessage& create);
  void handle(Client& client, const CloseMessage& close);
  void handle(Client& client, const ReadMessage& read);
  void handle(Client& client, const WriteMessage& write);
  void handle(Client& client, const FlushMessage& flush);
  void handle(Client& client, const ListMessage& list);
  void handle(Client& client, const ShutdownMessage& shutdown);
  // What only a server sends.
  template <typename Message>
  void handle(Client& client, const Message&) {
    refuse(client, {Reason::kNotAllowed, "servers say this, engines don't"});
  }

  LogStore::Refusal claim(const HelloMessage& hello);
  void answer(Client& client, const LogMessage& message);
  // False: the client may not change its log, or the disk could not be told; it was refused then.
  bool may_change(Client& client);
  bool save(uint64_t database_id, Log& log);
  uint64_t bytes_of_others(const Log& log) const;

  const LogServerOptions options_;
  const uint64_t identity_ = unforeseen_number();  // as WELCOME tells it
  const File lock_;
  uint16_t port_ = 0;
  std::map<uint64_t, Log> logs_;  // by their database's id; a Log stays where it is
  std::map<SocketId, std::unique_ptr<Client>> clients_;
  bool shuts_down_ = false;
  // Written by stop() (relaxed: nothing else is handed over; the wake orders it well enough), read by run().
  std::atomic<bool> stops_{false};
  const std::unique_ptr<SocketLoop> loop_;
};

}  // namespace mneme
