// ServerKeeper: connects to log servers anew that were lost, on a thread of its own, so that the writer never
// waits for it.
//
// Flow        lost() -> the thread tries, again and again, less and less often -> take_outcomes()
// Invariants  a server that it finds knows the term, and has dropped the files of older terms.
// Threads     lost, take_outcomes: one owner. `has_outcome` is called on the keeper's own.
// Errors      a server that can't be reached, or refuses, is tried again; the reason is reported when it
//             changes.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/back_off.h"
#include "network/log_connection.h"

namespace mneme {

struct ServerKeeperOptions {
  std::vector<ServerAddress> servers;
  std::shared_ptr<const PreSharedKey> key;
  HelloMessage hello;
  std::chrono::milliseconds patience;
  // Between two tries: twice as long each time.
  std::chrono::milliseconds first_pause{50};
  std::chrono::milliseconds longest_pause{1000};
  // A server that was there for so long, and is lost, is looked for at once.
  std::chrono::milliseconds steady{5000};
};

struct JoinedServer {
  LogConnection connection;
  std::vector<uint32_t> files;  // of the term, that the server holds
};

// Connects to a server as the engine of the term, and has it let go of files of older ones.
Result<JoinedServer> join_server(const ServerKeeperOptions& options, size_t server);

class ServerKeeper {
 public:
  ServerKeeper(ServerKeeperOptions options, std::function<void()> has_outcome);
  ~ServerKeeper();

  void lost(size_t server);
  struct Outcome {
    size_t server;
    // an error: why it is not there, if that has changed; the keeper goes on trying
    Result<JoinedServer> joined;
  };
  std::vector<Outcome> take_outcomes();

 private:
  using Clock = std::chrono::steady_clock;

  struct Place {
    BackOff pause;
    bool is_lost = false;
    Clock::time_point due{};       // when it is tried next
    Clock::time_point found_at{};  // when it was there last
    std::string trouble{};         // why it could not be joined
  };

  void run();
  std::optional<size_t> next_due() const;
  void try_one(size_t server, std::unique_lock<std::mutex>& guard);

  const ServerKeeperOptions options_;
  const std::function<void()> has_outcome_;

  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  std::vector<Place> places_;  // by server
  std::vector<Outcome> outcomes_;
  bool closing_ = false;

  std::thread thread_;
};

}  // namespace mneme
