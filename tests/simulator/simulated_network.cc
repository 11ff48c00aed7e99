#include "tests/simulator/simulated_network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tests/simulator/real_calls.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

// Beyond all that the kernel gives out.
constexpr int kFirstDescriptor = 1 << 24;
constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kShortDelayNs = 100 * kMicrosecond;
constexpr uint64_t kLongDelayNs = 5 * kMillisecond;
// The time without an answer after which a connection is given up, as prepare_socket() sets it.
constexpr uint64_t kUserTimeoutNs = 10'000 * kMillisecond;
constexpr uint64_t kTimeoutVariesNs = 2'000 * kMillisecond;
constexpr size_t kMostUnread = size_t{128} << 10;

struct Piece {
  uint64_t at;  // when it arrives, unless the link is cut then
  std::vector<char> bytes;
  size_t read = 0;
};

struct Socket {
  enum class Kind : uint8_t { kNew, kListening, kConnecting, kConnected, kCounter };

  Kind kind = Kind::kNew;
  uint64_t machine = 0;
  uint64_t link = kMachines;  // the machine to which it leads; kMachines: one that is never cut
  uint16_t port = 0;
  int peer = -1;               // none any more: it was closed
  uint64_t due = 0;            // kConnecting: when the other side hears of it
  std::vector<int> waiting{};  // kListening: connections that are to be accepted
  // The bytes that are under way to it, and those that have come.
  std::deque<Piece> pieces{};
  size_t unread = 0;
  uint64_t last_at = 0;
  uint64_t end_at = kNever;  // of the stream
  int error = 0;
  uint64_t error_at = kNever;
  uint64_t count = 0;  // kCounter
};

class Network {
 public:
  Network() {
    for (uint64_t& each : slowness_) each = uint64_t{1} << (3 * draw(3));
  }

  int open(Socket::Kind kind) {
    const int descriptor = kFirstDescriptor + static_cast<int>(opened_++);
    Socket& socket = sockets_[descriptor];
    socket.kind = kind;
    socket.machine = machine();
    return descriptor;
  }
  Socket* find(int descriptor) {
    const auto found = sockets_.find(descriptor);
    return found == sockets_.end() ? nullptr : &found->second;
  }

  int bind(Socket& socket, uint16_t port) {
    for (const auto& [descriptor, each] : sockets_) {
      if (each.kind == Socket::Kind::kListening && each.port == port) return fail_with(EADDRINUSE);
    }
    socket.port = port;
    machine_of_port_[port] = socket.machine;
    return 0;
  }
  int listen(Socket& socket) {
    CHECK(socket.port != 0);
    socket.kind = Socket::Kind::kListening;
    return 0;
  }

  int connect(Socket& socket, uint16_t port) {
    socket.kind = Socket::Kind::kConnecting;
    socket.port = port;
    const auto to = machine_of_port_.find(port);
    if (machine() < kMachines && to != machine_of_port_.end()) socket.link = to->second;
    socket.due = now_ns() + delay(socket);
    return fail_with(EINPROGRESS);
  }
  int accept(int descriptor) {
    settle();
    std::vector<int>& waiting = sockets_.at(descriptor).waiting;
    if (waiting.empty()) return fail_with(EAGAIN);
    const int accepted = waiting.front();
    waiting.erase(waiting.begin());
    return accepted;
  }

  ssize_t send(int descriptor, const void* bytes, size_t count) {
    settle();
    Socket& socket = sockets_.at(descriptor);
    if (const int error = take_error(socket); error != 0) return fail_with(error);
    if (socket.error_at <= now_ns()) return fail_with(EPIPE);
    Socket* const peer = find(socket.peer);
    if (peer == nullptr) {
      // The other side answers that there is no such connection.
      set_error(socket, ECONNRESET, now_ns() + delay(socket));
      return static_cast<ssize_t>(count);
    }
    const size_t room = kMostUnread - std::min(kMostUnread, peer->unread);
    if (room == 0) return fail_with(EAGAIN);
    count = std::min(count, room);
    if (count > 1 && draw(8) == 0) count = 1 + draw(count - 1);
    const auto* from = static_cast<const char*>(bytes);
    for (size_t sent = 0; sent < count;) {
      const size_t part = draw(8) == 0 ? 1 + draw(count - sent) : count - sent;
      peer->last_at = std::max(peer->last_at, now_ns() + delay(socket));
      peer->pieces.push_back({peer->last_at, {from + sent, from + sent + part}});
      sent += part;
    }
    peer->unread += count;
    wake_all(this);
    return static_cast<ssize_t>(count);
  }

  ssize_t receive(int descriptor, void* bytes, size_t count) {
    settle();
    Socket& socket = sockets_.at(descriptor);
    auto* const to = static_cast<char*>(bytes);
    size_t got = 0;
    if (count > 1 && draw(4) == 0) count = 1 + draw(count - 1);
    while (got < count && has_bytes(socket)) {
      Piece& piece = socket.pieces.front();
      const size_t part = std::min(count - got, piece.bytes.size() - piece.read);
      std::memcpy(to + got, piece.bytes.data() + piece.read, part);
      got += part;
      piece.read += part;
      if (piece.read == piece.bytes.size()) socket.pieces.pop_front();
    }
    socket.unread -= got;
    if (got > 0) {
      wake_all(this);  // there is room again
      return static_cast<ssize_t>(got);
    }
    if (const int error = take_error(socket); error != 0) return fail_with(error);
    return has_ended(socket) ? 0 : fail_with(EAGAIN);
  }

  void close(int descriptor) {
    const Socket closed = std::move(sockets_.at(descriptor));
    sockets_.erase(descriptor);
    for (const int each : closed.waiting) {
      reset(each);
      sockets_.erase(each);
    }
    if (Socket* const peer = find(closed.peer)) {
      peer->peer = -1;
      // Bytes that it leaves unread are lost, and the other side is told so.
      if (closed.unread > 0) {
        set_error(*peer, ECONNRESET, now_ns() + delay(closed));
      } else {
        peer->last_at = peer->end_at = std::max(peer->last_at, now_ns() + delay(closed));
      }
    }
    wake_all(this);
  }

  int poll(pollfd* watched, nfds_t count, uint64_t until) {
    for (;;) {
      settle();
      int ready = 0;
      uint64_t next = until;
      for (nfds_t i = 0; i < count; ++i) {
        const auto found = sockets_.find(watched[i].fd);
        CHECK(found != sockets_.end() && "a descriptor of the system's among simulated ones");
        watched[i].revents =
            static_cast<short>(state(found->second) & (watched[i].events | POLLERR | POLLHUP));
        ready += watched[i].revents != 0 ? 1 : 0;
        next = std::min(next, next_event(found->second));
      }
      if (ready > 0 || now_ns() >= until) return ready;
      wait_for(this, next);
    }
  }

  int pending_error(Socket& socket) {
    settle();
    return take_error(socket);
  }

  void cut(uint64_t link, uint64_t ns) {
    cut_from_[link] = now_ns();
    cut_to_[link] = now_ns() + ns;
    if (ns <= kUserTimeoutNs) return;
    for (auto& [descriptor, socket] : sockets_) {
      if (socket.kind == Socket::Kind::kConnected && socket.link == link) give_up(socket);
    }
  }
  void mend() {
    for (uint64_t& each : cut_to_) each = std::min(each, now_ns());
    wake_all(this);
  }
  uint64_t fastest(uint64_t count) const {
    return static_cast<uint64_t>(std::min_element(slowness_.begin() + 1, slowness_.begin() + 1 + count) -
                                 slowness_.begin());
  }
  bool reset_one() {
    std::vector<int> standing;
    for (const auto& [descriptor, socket] : sockets_) {
      if (socket.kind == Socket::Kind::kConnected && socket.link < kMachines && socket.peer >= 0)
        standing.push_back(descriptor);
    }
    if (standing.empty()) return false;
    const int one = standing[draw(standing.size())];
    reset(sockets_.at(one).peer);
    reset(one);
    return true;
  }

  void end_all(uint64_t of, Farewell farewell) {
    std::vector<int> ended;
    for (const auto& [descriptor, socket] : sockets_) {
      if (socket.machine == of) ended.push_back(descriptor);
    }
    for (const int each : ended) {
      Socket* const socket = find(each);
      if (socket == nullptr) continue;  // it waited to be accepted
      if (Socket* const peer = find(socket->peer); peer != nullptr && farewell != Farewell::kProcessDied) {
        farewell == Farewell::kReset ? reset(socket->peer) : fall_silent(*peer);
        peer->peer = socket->peer = -1;
      }
      close(each);
    }
  }
  bool has_connections(uint64_t of) const {
    return std::ranges::any_of(sockets_, [&](const auto& each) {
      return each.second.machine == of && each.second.kind == Socket::Kind::kConnected &&
             each.second.link < kMachines;
    });
  }

  static int fail_with(int number) {
    errno = number;
    return -1;
  }

 private:
  uint64_t delay(const Socket& socket) const {
    if (socket.link >= kMachines) return kMicrosecond;
    return 1 + draw(draw(16) == 0 ? kLongDelayNs : kShortDelayNs * slowness_[socket.link]);
  }
  // When what was to arrive then does so.
  uint64_t arrival(const Socket& socket, uint64_t at) const {
    if (at == kNever || socket.link >= kMachines) return at;
    const bool is_cut = at >= cut_from_[socket.link] && at < cut_to_[socket.link];
    return is_cut ? cut_to_[socket.link] : at;
  }
  // Nothing arrives behind an error.
  bool has_bytes(const Socket& socket) const {
    return !socket.pieces.empty() &&
           arrival(socket, socket.pieces.front().at) <= std::min(now_ns(), socket.error_at);
  }
  bool has_ended(const Socket& socket) const {
    return socket.pieces.empty() && arrival(socket, socket.end_at) <= now_ns();
  }
  short state(const Socket& socket) const {
    int ready = 0;
    switch (socket.kind) {
      case Socket::Kind::kNew:
      case Socket::Kind::kConnecting:
        break;
      case Socket::Kind::kCounter:
        return static_cast<short>(socket.count > 0 ? POLLIN : 0);
      case Socket::Kind::kListening:
        return static_cast<short>(socket.waiting.empty() ? 0 : POLLIN);
      case Socket::Kind::kConnected: {
        if (has_bytes(socket) || has_ended(socket)) ready |= POLLIN;
        const auto peer = sockets_.find(socket.peer);
        if (peer == sockets_.end() || peer->second.unread < kMostUnread) ready |= POLLOUT;
        break;
      }
    }
    if (socket.error != 0 && socket.error_at <= now_ns()) ready |= POLLIN | POLLOUT | POLLERR;
    return static_cast<short>(ready);
  }
  uint64_t next_event(const Socket& socket) const {
    uint64_t next = socket.error_at;
    if (!socket.pieces.empty()) next = std::min(next, arrival(socket, socket.pieces.front().at));
    next = std::min(next, arrival(socket, socket.end_at));
    if (socket.kind == Socket::Kind::kConnecting) next = std::min(next, arrival(socket, socket.due));
    return next > now_ns() ? next : kNever;
  }

  static void set_error(Socket& socket, int error, uint64_t at) {
    if (socket.error_at <= at) return;
    socket.error = error;
    socket.error_at = at;
  }
  // It is told once; from then on the stream has ended.
  static int take_error(Socket& socket) {
    if (socket.error == 0 || socket.error_at > now_ns()) return 0;
    socket.pieces.clear();
    socket.unread = 0;
    socket.end_at = now_ns();
    return std::exchange(socket.error, 0);
  }
  void reset(int descriptor) {
    Socket* const socket = find(descriptor);
    if (socket == nullptr) return;
    set_error(*socket, ECONNRESET, now_ns() + delay(*socket));
    wake_all(this);
  }
  static uint64_t timeout() { return now_ns() + kUserTimeoutNs + draw(kTimeoutVariesNs); }
  void give_up(Socket& socket) {
    set_error(socket, ETIMEDOUT, timeout());
    wake_all(this);
  }
  // Some of what is under way comes, and then nothing.
  void fall_silent(Socket& socket) {
    const size_t lost = socket.pieces.empty() ? 0 : draw(socket.pieces.size() + 1);
    for (size_t i = 0; i < lost; ++i) {
      socket.unread -= socket.pieces.back().bytes.size() - socket.pieces.back().read;
      socket.pieces.pop_back();
    }
    give_up(socket);
  }

  Socket* find_listening(uint16_t port) {
    for (auto& [descriptor, each] : sockets_) {
      if (each.kind == Socket::Kind::kListening && each.port == port) return &each;
    }
    return nullptr;
  }
  // Connections stand, or are refused, once the other side has heard of them.
  void settle() {
    std::vector<int> due;
    for (const auto& [descriptor, socket] : sockets_) {
      if (socket.kind == Socket::Kind::kConnecting && socket.error == 0 &&
          arrival(socket, socket.due) <= now_ns())
        due.push_back(descriptor);
    }
    for (const int each : due) {
      Socket& socket = sockets_.at(each);
      Socket* const listening = find_listening(socket.port);
      if (listening == nullptr) {
        set_error(socket, ECONNREFUSED, now_ns());
        continue;
      }
      const int accepted = kFirstDescriptor + static_cast<int>(opened_++);
      Socket& other = sockets_[accepted];
      socket.kind = other.kind = Socket::Kind::kConnected;
      other.machine = listening->machine;
      other.link = socket.link;
      other.port = socket.port;
      other.peer = each;
      socket.peer = accepted;
      listening->waiting.push_back(accepted);
    }
    if (!due.empty()) wake_all(this);
  }

  std::map<int, Socket> sockets_;  // by descriptor
  std::map<uint16_t, uint64_t> machine_of_port_;
  uint64_t opened_ = 0;
  // By link:
  std::array<uint64_t, kMachines> slowness_{};
  std::array<uint64_t, kMachines> cut_from_{};
  std::array<uint64_t, kMachines> cut_to_{};
};

Network* network = nullptr;

bool is_network_there() {
  return is_simulated() && network != nullptr;
}
// Returns nullptr for a descriptor of the system's.
Socket* find_socket(int descriptor) {
  return is_network_there() ? network->find(descriptor) : nullptr;
}

uint16_t port_of(const sockaddr* address) {
  CHECK(address->sa_family == AF_INET && "an address that is not simulated");
  return ntohs(reinterpret_cast<const sockaddr_in*>(address)->sin_port);
}

}  // namespace

void insert_network() {
  CHECK(network == nullptr);
  network = new Network();
}

void cut_link(uint64_t machine, uint64_t ns) {
  network->cut(machine, ns);
}
void mend_links() {
  network->mend();
}
uint64_t fastest_link(uint64_t count) {
  return network->fastest(count);
}
bool reset_a_connection() {
  return network->reset_one();
}
void end_sockets(uint64_t machine, Farewell farewell) {
  network->end_all(machine, farewell);
}
bool has_connections(uint64_t machine) {
  return network->has_connections(machine);
}

}  // namespace mneme::simulator

// These take the place of the C library's calls.

using namespace mneme::simulator;

extern "C" {

int io_uring_queue_init(unsigned entries, io_uring* ring, unsigned flags) {
  if (is_network_there()) return -ENOSYS;
  return REAL(io_uring_queue_init)(entries, ring, flags);
}

int socket(int family, int type, int protocol) noexcept {
  if (!is_network_there()) return REAL(socket)(family, type, protocol);
  CHECK(family == AF_INET && (type & SOCK_STREAM) != 0);
  step();
  return network->open(Socket::Kind::kNew);
}

int eventfd(unsigned count, int flags) noexcept {
  if (!is_network_there()) return REAL(eventfd)(count, flags);
  CHECK(count == 0);
  return network->open(Socket::Kind::kCounter);
}

int bind(int descriptor, const sockaddr* address, socklen_t bytes) noexcept {
  Socket* const found = find_socket(descriptor);
  return found == nullptr ? REAL(bind)(descriptor, address, bytes) : network->bind(*found, port_of(address));
}

int listen(int descriptor, int most) noexcept {
  Socket* const found = find_socket(descriptor);
  return found == nullptr ? REAL(listen)(descriptor, most) : network->listen(*found);
}

int connect(int descriptor, const sockaddr* address, socklen_t bytes) {
  if (find_socket(descriptor) == nullptr) return REAL(connect)(descriptor, address, bytes);
  step();
  return network->connect(*network->find(descriptor), port_of(address));
}

int accept4(int descriptor, sockaddr* address, socklen_t* bytes, int flags) {
  if (find_socket(descriptor) == nullptr) return REAL(accept4)(descriptor, address, bytes, flags);
  CHECK(address == nullptr);
  step();
  return network->accept(descriptor);
}

// Sockets here never wait, whatever the flags say.
ssize_t send(int descriptor, const void* bytes, size_t count, int flags) {
  if (find_socket(descriptor) == nullptr) return REAL(send)(descriptor, bytes, count, flags);
  step();
  return network->send(descriptor, bytes, count);
}

ssize_t recv(int descriptor, void* bytes, size_t count, int flags) {
  if (find_socket(descriptor) == nullptr) return REAL(recv)(descriptor, bytes, count, flags);
  step();
  return network->receive(descriptor, bytes, count);
}

ssize_t read(int descriptor, void* bytes, size_t count) {
  Socket* const found = find_socket(descriptor);
  if (found == nullptr) return system_call(SYS_read, descriptor, bytes, count);
  CHECK(found->kind == Socket::Kind::kCounter && count == sizeof found->count);
  if (found->count == 0) return Network::fail_with(EAGAIN);
  std::memcpy(bytes, &found->count, count);
  found->count = 0;
  return static_cast<ssize_t>(count);
}

ssize_t write(int descriptor, const void* bytes, size_t count) {
  Socket* const found = find_socket(descriptor);
  if (found == nullptr) return system_call(SYS_write, descriptor, bytes, count);
  CHECK(found->kind == Socket::Kind::kCounter && count == sizeof found->count);
  uint64_t added = 0;
  std::memcpy(&added, bytes, count);
  found->count += added;
  wake_all(network);
  step();
  return static_cast<ssize_t>(count);
}

int close(int descriptor) {
  if (find_socket(descriptor) == nullptr) return static_cast<int>(system_call(SYS_close, descriptor));
  step();
  network->close(descriptor);
  return 0;
}

int poll(pollfd* watched, nfds_t count, int timeout_ms) {
  if (!is_network_there()) return REAL(poll)(watched, count, timeout_ms);
  step();
  return network->poll(watched, count,
                       timeout_ms < 0 ? kNever : now_ns() + static_cast<uint64_t>(timeout_ms) * kMillisecond);
}

int ppoll(pollfd* watched, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  if (!is_network_there()) return REAL(ppoll)(watched, count, timeout, mask);
  step();
  const uint64_t until = timeout == nullptr
                             ? kNever
                             : now_ns() + static_cast<uint64_t>(timeout->tv_sec) * 1000 * kMillisecond +
                                   static_cast<uint64_t>(timeout->tv_nsec);
  return network->poll(watched, count, until);
}

int fcntl(int descriptor, int command, ...) {
  va_list list;
  va_start(list, command);
  const long argument = va_arg(list, long);
  va_end(list);
  // No socket here ever waits.
  if (find_socket(descriptor) != nullptr) return command == F_GETFL ? O_RDWR | O_NONBLOCK : 0;
  return static_cast<int>(system_call(SYS_fcntl, descriptor, command, argument));
}

int setsockopt(int descriptor, int level, int name, const void* value, socklen_t bytes) noexcept {
  return find_socket(descriptor) == nullptr ? REAL(setsockopt)(descriptor, level, name, value, bytes) : 0;
}

int getsockopt(int descriptor, int level, int name, void* value, socklen_t* bytes) noexcept {
  Socket* const found = find_socket(descriptor);
  if (found == nullptr) return REAL(getsockopt)(descriptor, level, name, value, bytes);
  CHECK(level == SOL_SOCKET && name == SO_ERROR && *bytes == sizeof(int));
  const int error = network->pending_error(*found);
  std::memcpy(value, &error, sizeof error);
  return 0;
}

int getpeername(int descriptor, sockaddr* address, socklen_t* bytes) noexcept {
  const Socket* const found = find_socket(descriptor);
  if (found == nullptr) return REAL(getpeername)(descriptor, address, bytes);
  if (found->kind != Socket::Kind::kConnected) return Network::fail_with(ENOTCONN);
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(address, &peer, std::min<size_t>(*bytes, sizeof peer));
  *bytes = sizeof peer;
  return 0;
}

int getsockname(int descriptor, sockaddr* address, socklen_t* bytes) noexcept {
  const Socket* const found = find_socket(descriptor);
  if (found == nullptr) return REAL(getsockname)(descriptor, address, bytes);
  sockaddr_in bound{};
  bound.sin_family = AF_INET;
  bound.sin_port = htons(found->port);
  bound.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::memcpy(address, &bound, std::min<size_t>(*bytes, sizeof bound));
  *bytes = sizeof bound;
  return 0;
}

}  // extern "C"
