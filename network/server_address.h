// ServerAddress: HOST:PORT or unix:PATH, as a user writes it, and sockets from it: one that listens, one that
// is connected.
//
// Threads  any. Waiting: connect_to(), up to its limit; listen_on(), some seconds for a port that a server
//          which has just died still has; and the system's resolver of names.
// Errors   a sentence with the address and the system's reason.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

struct ServerAddress {
  std::string host;  // a name, an IPv4 address, or an IPv6 one without its brackets
  uint16_t port = 0;
  std::string path{};  // of a Unix socket (local_socket.h), absolute; empty: TCP

  bool is_local() const { return !path.empty(); }
  std::string text() const;
  bool operator==(const ServerAddress&) const = default;
};

// "host:port", "[::1]:port", "unix:path", or an absolute path.
Result<ServerAddress> server_address(std::string_view text);
// Several, with commas between them, none of them twice.
Result<std::vector<ServerAddress>> server_addresses(std::string_view text);
// As server_addresses() takes them. Paths are absolute there, so that it means the same in another working
// directory.
std::string text_of(const std::vector<ServerAddress>& addresses);

// Whether the bytes to and from the address stay in this machine: every address that the host's name stands
// for is a loopback one.
Result<bool> is_loopback(const ServerAddress& address);

struct ListeningSocket {
  int descriptor = -1;
  uint16_t port = 0;  // the one that the system chose, where 0 was asked for
};
// TCP only: a Unix socket's file has an owner, LocalSocket.
Result<ListeningSocket> listen_on(const ServerAddress& address);

// A connected socket that sends small messages at once.
Result<int> connect_to(const ServerAddress& address, std::chrono::milliseconds patience);
// The other end of an accepted socket.
struct Peer {
  std::string text;  // for people
  // what peers from one place have in common: the user, the host, or an IPv6 network of 64 bits
  std::string origin;
  std::optional<uid_t> user{};  // of a Unix socket's
  bool is_in_machine = false;   // its bytes do not leave this machine: a Unix socket, or a loopback address
};
Peer peer_of(int descriptor);

// Gives an accepted socket the options of one from connect_to().
void prepare_socket(int descriptor);

}  // namespace mneme
