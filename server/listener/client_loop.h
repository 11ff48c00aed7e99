// ClientLoop: the clients of one thread: their bytes, and their sessions, which it advances.
//
// Flow        adopt() (any thread) -> run(): wait for bytes, wakes, work that helpers have done -> advance
//             the sessions that something has happened to -> send what may leave
// TLS         the loop deciphers what arrives and enciphers what leaves, so that sessions know plain bytes
//             alone. A client's TLS is the loop's, also while its session is away.
// Invariants  a session is the loop's, or, while it is away, a helper's.
// Threads     run: one. adopt, come_back, wake, stop, give_way: any.
// Waiting     in the socket loop alone.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "network/socket_loop.h"
#include "network/tls_session.h"
#include "server/listener/durability_watch.h"
#include "server/listener/server.h"
#include "server/session/client_session.h"

namespace mneme {

class ClientLoop {
 public:
  // What the loop asks of its server. All are called on the loop's thread.
  struct Server {
    SessionHost* host = nullptr;
    CommitLog* log = nullptr;
    // Has a helper advance the session; come_back() follows.
    std::function<void(ClientLoop& loop, SocketId client, ClientSession& session)> help;
    std::function<void(size_t loop, Lsn lsn)> wait_for;
    std::function<void(uint32_t id)> gone;  // a client
    const ServerOptions* options = nullptr;
  };
  ClientLoop(size_t number, std::unique_ptr<SocketLoop> sockets, Server server)
      : number_(number), sockets_(std::move(sockets)), server_(std::move(server)) {}

  // Takes a connected socket.
  void adopt(int descriptor, uint32_t id, uint32_t secret, ClientLink link);
  // A helper has advanced the session as far as it gets.
  void come_back(SocketId client, ClientSession::Step step);
  void wake() { sockets_->wake(); }
  enum class Stop : uint8_t { kNo, kGently, kNow };
  void stop(Stop how);
  // Clients may have been notified of something.
  void notify() {
    has_notifications_.store(true, std::memory_order_relaxed);
    wake();
  }
  // Clients whose blocks are open end, but those that are away.
  void give_way() {
    gives_way_.store(true, std::memory_order_relaxed);
    wake();
  }
  void fail() {
    has_failed_.store(true, std::memory_order_relaxed);
    wake();
  }

  void run();

 private:
  struct Client {
    Client(SessionHost& host, uint32_t number, uint32_t secret, ClientLink link)
        : id(number), session(host, number, secret, std::move(link)) {}

    const uint32_t id;
    ClientSession session;
    std::unique_ptr<TlsSession> tls;  // once the client was granted it
    bool is_away = false;             // at a helper's
    bool is_gone = false;             // its socket, while it was away
    std::vector<std::byte> arrived;   // meanwhile
    bool retries = false;
    bool ends = false;
    uint64_t since_ns = 0;
    uint64_t heard_ns = 0;    // its last bytes
    uint64_t sent_bytes = 0;  // that had left at sent_ns
    uint64_t sent_ns = 0;
  };
  struct Adopted {
    int descriptor;
    uint32_t id;
    uint32_t secret;
    ClientLink link;
  };
  struct Back {
    SocketId client;
    ClientSession::Step step;
  };

  void take_messages();
  void take(const SocketEvent& event);
  // The client's plain bytes.
  void take(SocketId id, Client& client, ByteSpan bytes);
  void lose(SocketId id, Client& client);
  void begin_tls(SocketId id, Client& client);
  // Sends what the client's TLS has ready.
  void send_enciphered(SocketId id, Client& client);
  void send(SocketId id, Client& client, std::vector<std::byte> plain);
  void advance(SocketId id, Client& client);
  void settle(SocketId id, Client& client, ClientSession::Step step);
  // Sends what may leave. False: the client is not active any more.
  bool send(SocketId id, Client& client, Lsn durable);
  void send_all();
  void end_all(std::string_view sqlstate, std::string_view message);
  void end(SocketId id, Client& client, std::string_view sqlstate, std::string_view message);
  void look_after(uint64_t now);
  // Lets clients have what they have been notified of, but those that leave much unread.
  void deliver_notifications();
  void deliver_notifications(SocketId id, Client& client);
  void remove(SocketId id);
  std::chrono::nanoseconds longest_wait() const;

  const size_t number_;
  const std::unique_ptr<SocketLoop> sockets_;
  const Server server_;
  std::map<SocketId, std::unique_ptr<Client>> clients_;
  std::vector<std::byte> deciphered_;  // of one event
  // Those that have something to send, that hold a reply back, or that are to be advanced again or to end.
  // The others cost a round of the loop nothing.
  std::set<SocketId> active_;
  bool has_retries_ = false;
  uint64_t looked_ns_ = 0;
  bool stops_ = false;
  bool drops_held_ = false;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<Adopted> adopted_;
  std::vector<Back> back_;
  // Written by any thread (relaxed: the wake that follows orders it well enough), read by run().
  std::atomic<Stop> stop_{Stop::kNo};
  std::atomic<bool> has_failed_{false};
  std::atomic<bool> gives_way_{false};
  std::atomic<bool> has_notifications_{false};
};

}  // namespace mneme
