// ServedStandby: the server of a standby: clients read while another thread follows, and go on where the
// standby is promoted.
//
// Flow        prepare() -> Follower::open() -> start() -> the follower's thread: rounds, promotion -> end()
// Threads     one owner; the server's run on others.
// Errors      as Server's. is_over(): it has ended by itself, and end() says why.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "embedding/embedded_database.h"
#include "recovery/standby/follower.h"
#include "server/listener/server.h"

namespace mneme {

class ServedStandby {
 public:
  explicit ServedStandby(ServerOptions options) : options_(std::move(options)) {}
  ServedStandby(const ServedStandby&) = delete;
  ServedStandby& operator=(const ServedStandby&) = delete;

  // Makes the follower's rounds short, with room for the server's sessions.
  void prepare(FollowOptions& follow);
  // The follower outlives it.
  Result<void> start(const std::string& directory, const Follower& follower, EmbeddedOptions embedding);
  bool is_over() const { return is_over_.load(std::memory_order_acquire); }
  const Server& server() const { return *server_; }
  // From now on SIGTERM and the like end the server, as they end `serve`.
  void heed_signals();
  // Asks for its end, as one signal does.
  void stop() { server_->stop(); }
  // Waits for its end.
  Result<void> end();

 private:
  ServerOptions options_;
  std::unique_ptr<EmbeddedDatabase> database_;
  std::unique_ptr<Server> server_;
  // server_'s, once it is started: released by start(), acquired by the rounds.
  std::atomic<Server*> started_{nullptr};
  // Set by the server's thread (release), read by the owner (acquire): ran_ was written before.
  std::atomic<bool> is_over_{false};
  Result<void> ran_;
  std::jthread thread_;
};

}  // namespace mneme
