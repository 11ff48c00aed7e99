// LogServer: SepLog's server: engines' logs in this machine's memory, behind a port or a Unix socket. `mneme
// logd` runs one.
//
// Flow        start(): load what was saved, listen -> run(): messages -> LogStore -> answers -> SHUTDOWN,
//             stop(): save
// Saves       a log goes to disk when its engine's connection ends, on SHUTDOWN and on stop(); a term when it
//             is claimed. Before it changes again the copy on disk is marked as old (saved_log.h).
// Admission   on a Unix socket, the server's own user and root are let in. On TCP, a client that has the key,
//             in TLS; without a key, where that was accepted (without_key), every process of this machine,
//             and never beyond loopback. A client that is let in may do everything: read all logs, depose all
//             engines, end the server.
// Strangers   a connection is one until its HELLO. They are counted apart from clients; where there are too
//             many, one of the origin that has the most of them gives way. They have so much time
//             (hello_patience), and so many bytes, and nothing that they send is kept.
// Claims      a log that was never given a byte, nor said to be whole, is a bare claim: it lasts as long as
//             its connections, and the disk has nothing of it. One that was said to be whole and has no byte
//             is hollow: it is kept, in a number of its own, the oldest of them giving way. Neither keeps
//             others out: where its memory or its place is wanted, its connection is ended.
// Invariants  a client's messages harm that client only: the server refuses them, reports it, and cuts the
//             client off. A term rises by kMostTermStep at most, so that no HELLO uses up those that are
//             left. Bounds: strangers, clients, logs, memory for them, what waits to be sent to one client,
//             how long that may wait, sentences about clients.
// Threads     run(): one. stop: any, and signal handlers.
// Errors      start(): the address, the key, a damaged copy, another server on the directory. run(): what
//             could not be saved.
// Source      SepLog, sections 4.2 and 5.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/random_number.h"
#include "base/result.h"
#include "network/local_socket.h"
#include "network/log_store.h"
#include "network/message_channel.h"
#include "network/pre_shared_key.h"
#include "network/server_address.h"
#include "network/socket_loop.h"

namespace mneme {

struct LogServerOptions {
  ServerAddress listen{"127.0.0.1", 0};
  std::string directory;                      // where logs are saved; it is made when it is missing
  std::shared_ptr<const PreSharedKey> key{};  // of TCP
  bool without_key = false;                   // TCP on loopback without a key: for all users of this machine
  uint64_t memory_bytes = uint64_t{4} << 30;  // for all logs
  SocketMethod network = SocketMethod::kUring;
  // for a connection's HELLO, the TLS handshake before it among it
  std::chrono::milliseconds hello_patience{10'000};
  std::chrono::milliseconds answer_patience{10'000};  // for a client to read any of what waits for it
  // for the next message of a client that is no engine at work
  std::chrono::milliseconds idle_patience{300'000};
  // Told a sentence each: what was refused, saved, done without. On run()'s thread, or start()'s.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
};

class LogServer {
 public:
  static Result<std::unique_ptr<LogServer>> start(const LogServerOptions& options);

  uint16_t port() const { return port_; }
  // Where it listens, with the port that the system chose.
  ServerAddress address() const { return {options_.listen.host, port_, options_.listen.path}; }
  // Serves until a SHUTDOWN or stop().
  Result<void> run();
  void stop();

 private:
  struct Log {
    LogStore store;
    LogTerm kept_term;        // that the disk has: what is promised beyond it could be forgotten
    bool is_saved = true;     // the disk has the log as it is
    bool is_noted = false;    // the disk surely says that the log is in memory, so it may change
    bool has_lasted = false;  // it was given a byte once, or the disk says that it was: never forgotten
    uint64_t used = 0;        // of a hollow one: greater than those of the hollow ones before it
    // The connection that may change it: its engine's newest. What an older one still had under way is
    // refused.
    SocketId writer{};

    bool is_bare() const { return !has_lasted && store.whole_term() == 0; }
    bool is_hollow() const { return !has_lasted && store.whole_term() > 0; }
  };
  struct Client {
    Client(SocketId id, Peer at, std::shared_ptr<const PreSharedKey> key)
        : socket(id), peer(std::move(at)), channel(TlsSide::kServer, std::move(key)) {}

    const SocketId socket;
    const Peer peer;
    MessageChannel channel;
    uint64_t since_ns = 0;
    uint64_t received_bytes = 0;  // before its HELLO
    uint64_t heard_ns = 0;        // its last message
    // that it had taken at `sent_ns`, the last time that it took some or nothing waited
    uint64_t sent_bytes = 0;
    uint64_t sent_ns = 0;
    std::optional<HelloMessage> hello;
    Log* log = nullptr;  // of the database that HELLO named; none: unknown here
    bool is_over = false;
  };
  using Reason = RefusedMessage::Reason;

  // A connection that was ended, and has bytes that are to leave yet.
  struct Leaving {
    SocketId socket;
    uint64_t since_ns;
  };

  LogServer(const LogServerOptions& options, File lock, LocalSocket local, std::unique_ptr<SocketLoop> loop)
      : options_(options), lock_(std::move(lock)), local_(std::move(local)), loop_(std::move(loop)) {}

  void take(const SocketEvent& event);
  void accept(SocketId socket);
  void not_accepted(int error_number);
  // The oldest stranger of the origin that has the most of them.
  std::optional<SocketId> spare_stranger() const;
  size_t strangers() const;
  void receive(SocketId socket, Client& client, ByteSpan bytes);
  enum class Farewell : uint8_t { kAnswers, kNone };  // what is yet to be sent: all, or nothing any more
  void end(SocketId socket, std::string_view why, Farewell farewell = Farewell::kAnswers);
  void end_overdue();
  // Why a client is ended now; empty: it isn't.
  std::string overdue(Client& client, uint64_t now) const;
  std::chrono::nanoseconds longest_wait() const;
  bool is_at_work(const Client& client) const;
  // Ends a client that others can do without, where there are as many as there may be. False: there is none.
  bool make_place_for_client();
  // As tell, for events that any client can cause as often as it likes.
  void tell_of_client(const std::string& sentence);
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
  // For messages that only a server sends.
  template <typename Message>
  void handle(Client& client, const Message&) {
    refuse(client, {Reason::kNotAllowed, "servers say this, engines don't"});
  }

  LogStore::Refusal claim(const HelloMessage& hello);
  void answer(Client& client, const LogMessage& message);
  // How a change leaves the log: kLasting: with a byte; kWhole: said to be whole; kAsItIs: a bare or hollow
  // one as such.
  enum class Change : uint8_t { kAsItIs, kWhole, kLasting };
  // Returns false, and has refused the client, if it may not change its log or the copy on disk could not be
  // marked as old.
  bool may_change(Client& client, Change change);
  bool save(uint64_t database_id, Log& log);
  uint64_t bytes_of_others(const Log& log) const;
  // Ends the connections of other logs that have taken memory and were never given a byte.
  void end_unwritten_but(const Log& log);
  size_t lasting_logs() const;
  bool has_clients(const Log& log) const;
  // Called once the log's connection has ended.
  void forget_if_bare(uint64_t database_id);
  void forget_hollow_logs();

  const LogServerOptions options_;
  const uint64_t identity_ = unforeseen_number();  // as WELCOME tells it
  const File lock_;
  LocalSocket local_;  // of a Unix socket
  uint16_t port_ = 0;
  std::map<uint64_t, Log> logs_;                         // by their database's id; a Log stays where it is
  std::map<SocketId, std::unique_ptr<Client>> clients_;  // and strangers, in the order of their coming
  std::deque<Leaving> leaving_;
  uint64_t looked_ns_ = 0;    // when end_overdue() was called last
  uint64_t hollow_logs_ = 0;  // that there have been
  uint64_t told_ns_ = 0;      // when the interval of tell_of_client() began
  size_t told_ = 0;           // in it
  uint64_t left_out_ = 0;     // in it
  bool shuts_down_ = false;
  // Written by stop() (relaxed: nothing else is handed over; the wake orders it well enough), read by run().
  std::atomic<bool> stops_{false};
  const std::unique_ptr<SocketLoop> loop_;
};

}  // namespace mneme
