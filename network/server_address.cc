#include "network/server_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include "network/local_socket.h"

namespace mneme {

namespace {

// The kernel ends the requests of an io_uring a moment after its process has died, and holds the port until
// then.
constexpr std::chrono::seconds kPortPatience{3};
constexpr std::chrono::milliseconds kPortInterval{10};
constexpr int kWaitingConnections = 256;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> resolve(const ServerAddress& address, bool to_listen) {
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int status =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &wanted, &found);
  if (status != 0) return failed("cannot find the host {}: {}", address.host, ::gai_strerror(status));
  return Addresses(found, &::freeaddrinfo);
}

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  if (address->sa_family != AF_INET6) return false;
  const in6_addr& ip = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
  // A socket that listens on [::] has IPv4's peers as ::ffff:127.0.0.1.
  return IN6_IS_ADDR_LOOPBACK(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == IN_LOOPBACKNET);
}

Error socket_error(std::string_view what, const ServerAddress& address, int error_number) {
  return failed("cannot {} {}: {}", what, address.text(), std::strerror(error_number));
}

// Waits until the connection stands, or was refused: its error number, 0 for none.
int await_connection(int descriptor, std::chrono::milliseconds patience) {
  pollfd watched{descriptor, POLLOUT, 0};
  const int ready = ::poll(&watched, 1, static_cast<int>(patience.count()));
  if (ready == 0) return ETIMEDOUT;
  int error = 0;
  socklen_t bytes = sizeof error;
  if (ready < 0 || ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) return errno;
  return error;
}

int bind_and_listen(int descriptor, const addrinfo& at) {
  const bool listens =
      ::bind(descriptor, at.ai_addr, at.ai_addrlen) == 0 && ::listen(descriptor, kWaitingConnections) == 0;
  return listens ? 0 : errno;
}

uint16_t bound_port(int descriptor) {
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&bound), &bytes) != 0) return 0;
  return ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bound)->sin6_port
                                           : reinterpret_cast<const sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

std::string ServerAddress::text() const {
  if (is_local()) return "unix:" + path;
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                             : fmt::format("[{}]:{}", host, port);
}

Result<ServerAddress> server_address(std::string_view text) {
  constexpr std::string_view kLocal = "unix:";
  ServerAddress address;
  if (text.starts_with(kLocal) || text.starts_with('/')) {
    const std::filesystem::path path(text.substr(text.starts_with('/') ? 0 : kLocal.size()));
    std::error_code error;
    if (path.has_filename())
      address.path = std::filesystem::absolute(path, error).lexically_normal().string();
    if (path.has_filename() && !error) return address;
    return invalid_argument("\"{}\" names no socket: say unix:PATH, as in unix:/tmp/logd/socket", text);
  }
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const std::string_view port = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error == std::errc{} && end == port.data() + port.size() && !host.empty()) {
      address.host = host;
      return address;
    }
  }
  return invalid_argument("\"{}\" names no server: say HOST:PORT, as in 127.0.0.1:7433, or unix:PATH", text);
}

Result<std::vector<ServerAddress>> server_addresses(std::string_view text) {
  std::vector<ServerAddress> addresses;
  for (;;) {
    const size_t comma = text.find(',');
    auto address = server_address(text.substr(0, comma));
    if (!address.ok()) return address.error();
    if (std::ranges::find(addresses, *address) != addresses.end()) {
      return invalid_argument("the server {} is named twice: copies must lie in different memories",
                              address->text());
    }
    addresses.push_back(std::move(*address));
    if (comma == std::string_view::npos) return addresses;
    text.remove_prefix(comma + 1);
  }
}

std::string text_of(const std::vector<ServerAddress>& addresses) {
  std::string text;
  for (const ServerAddress& each : addresses) text += (text.empty() ? "" : ",") + each.text();
  return text;
}

Result<bool> is_loopback(const ServerAddress& address) {
  if (address.is_local()) return true;
  auto found = resolve(address, /*to_listen=*/false);
  if (!found.ok()) return found.error();
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    if (!is_loopback(each->ai_addr)) return false;
  }
  return true;
}

Result<ListeningSocket> listen_on(const ServerAddress& address) {
  auto found = resolve(address, /*to_listen=*/true);
  if (!found.ok()) return found.error();
  const addrinfo* first = found->get();
  const int descriptor = ::socket(first->ai_family, first->ai_socktype | SOCK_CLOEXEC, first->ai_protocol);
  if (descriptor < 0) return socket_error("make a socket for", address, errno);
  const int on = 1;
  // A server that was killed may be started again at once, while connections to it still linger.
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  int error_number = bind_and_listen(descriptor, *first);
  const auto deadline = std::chrono::steady_clock::now() + kPortPatience;
  while (error_number == EADDRINUSE && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPortInterval);
    error_number = bind_and_listen(descriptor, *first);
  }
  if (error_number != 0) {
    ::close(descriptor);
    return socket_error("listen on", address, error_number);
  }
  return ListeningSocket{descriptor, bound_port(descriptor)};
}

Peer peer_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  char text[INET6_ADDRSTRLEN] = {};
  if (::getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) != 0)
    return {"who left at once", ""};
  const auto* const as_address = reinterpret_cast<const sockaddr*>(&address);
  if (address.ss_family == AF_UNIX) {
    const auto user = peer_user(descriptor);
    const std::string name =
        user ? fmt::format("of the user {}", *user) : "of a user that the system doesn't tell";
    return {name, name, user, /*is_in_machine=*/true};
  }
  if (address.ss_family == AF_INET) {
    const auto& ip = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &ip.sin_addr, text, sizeof text);
    return {fmt::format("at {}:{}", text, ntohs(ip.sin_port)), text, {}, is_loopback(as_address)};
  }
  const auto& ip = reinterpret_cast<const sockaddr_in6&>(address);
  ::inet_ntop(AF_INET6, &ip.sin6_addr, text, sizeof text);
  // A host that has one address of an IPv6 network usually has all of them.
  constexpr size_t kNetworkBytes = 8;
  return {fmt::format("at [{}]:{}", text, ntohs(ip.sin6_port)),
          std::string(reinterpret_cast<const char*>(ip.sin6_addr.s6_addr),
                      IN6_IS_ADDR_V4MAPPED(&ip.sin6_addr) ? sizeof ip.sin6_addr.s6_addr : kNetworkBytes),
          {},
          is_loopback(as_address)};
}

void prepare_socket(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A peer whose machine is gone is noticed after some ten seconds of silence, or of unanswered bytes.
  ::setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  const int idle_seconds = 5;
  const int interval_seconds = 2;
  const int probes = 3;
  const unsigned unanswered_ms = 10'000;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

Result<int> connect_to(const ServerAddress& address, std::chrono::milliseconds patience) {
  if (address.is_local()) return connect_local(address.path, patience);
  auto found = resolve(address, /*to_listen=*/false);
  if (!found.ok()) return found.error();
  int error_number = 0;
  for (const addrinfo* each = found->get(); each != nullptr; each = each->ai_next) {
    const int descriptor =
        ::socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, each->ai_protocol);
    if (descriptor < 0) return socket_error("make a socket for", address, errno);
    error_number = ::connect(descriptor, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (error_number == EINPROGRESS) error_number = await_connection(descriptor, patience);
    if (error_number == 0) {
      prepare_socket(descriptor);
      return descriptor;
    }
    ::close(descriptor);
  }
  return socket_error("connect to the log server", address, error_number);
}

}  // namespace mneme
