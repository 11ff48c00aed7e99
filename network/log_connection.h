// LogConnection: an engine's side of one connection to a log server, as long as nothing else goes on: each
// call waits.
//
// Flow        open(): connect, handshake, HELLO -> WELCOME -> list(), read() ...; or release(): what an agent
//             goes on with
// Invariants  without a key it connects to loopback addresses only: a log doesn't travel in the clear. To a
//             Unix socket it connects without one: there the kernel reports the listener's user
//             (local_socket.h).
// Threads     one owner.
// Waiting     each call, no longer than the patience that open() was given, for each answer.
// Errors      not reached, silent, refused: a sentence with the server's address and its reason.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "base/result.h"
#include "network/log_protocol.h"
#include "network/message_channel.h"
#include "network/pre_shared_key.h"
#include "network/server_address.h"

namespace mneme {

class LogConnection {
 public:
  static Result<LogConnection> open(const ServerAddress& address, std::shared_ptr<const PreSharedKey> key,
                                    const HelloMessage& hello, std::chrono::milliseconds patience);
  LogConnection(LogConnection&& other) noexcept;
  LogConnection& operator=(LogConnection&& other) noexcept;
  ~LogConnection();

  const ServerAddress& address() const { return address_; }
  const WelcomeMessage& welcome() const { return welcome_; }

  Result<FilesMessage> list();
  Result<void> close_file(uint32_t file);
  // Returns once the server has all that was sent before.
  Result<void> flush(const FlushMessage& flush);
  // Fills `into` with the file's bytes from the offset on, several pieces in flight.
  Result<void> read(uint32_t file, uint64_t offset, std::span<std::byte> into);
  // Returns once the server has saved its logs and ends.
  Result<void> shut_down();

  // Hands the socket and its messages to the caller. The connection is of no use then.
  struct Released {
    int descriptor;
    std::unique_ptr<MessageChannel> channel;
  };
  Released release();

 private:
  LogConnection(ServerAddress address, int descriptor, std::shared_ptr<const PreSharedKey> key,
                std::chrono::milliseconds patience);

  Result<void> send(const LogMessage& message);
  Result<void> send_outgoing();
  Result<LogMessage> await();
  // Awaits an answer of this kind.
  template <typename Message>
  Result<Message> await_answer();
  Result<void> await_ready(short what);
  Error broken(std::string_view how) const;

  ServerAddress address_;
  int descriptor_;
  std::unique_ptr<MessageChannel> channel_;
  std::chrono::milliseconds patience_;
  WelcomeMessage welcome_;
};

}  // namespace mneme
