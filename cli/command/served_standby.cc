#include "cli/command/served_standby.h"

#include <chrono>

#include "cli/command/stop_signals.h"

namespace mneme {
namespace {

// The server that the signals stop.
Server* standbys_server = nullptr;

void stop_standbys_server(int) {
  standbys_server->stop();
}

}  // namespace

void ServedStandby::prepare(FollowOptions& follow) {
  follow.has_readers = true;
  follow.standby.log.workers = seats_of(options_);
  follow.standby.ends_readers = [this] {
    if (Server* const server = started_.load(std::memory_order_acquire); server != nullptr)
      server->give_way();
  };
}

Result<void> ServedStandby::start(const std::string& directory, const Follower& follower,
                                  EmbeddedOptions embedding) {
  embedding.connections = seats_of(options_);
  embedding.lock_timeout = std::nullopt;
  database_ = EmbeddedDatabase::of_standby(directory, follower.standby().working(), std::move(embedding));
  options_.lag = [&follower] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double>(follower.lag().seconds));
  };
  Result<std::unique_ptr<Server>> started = Server::start(*database_, options_);
  if (!started) return started.error();
  server_ = *std::move(started);
  started_.store(server_.get(), std::memory_order_release);
  thread_ = std::jthread([this] {
    ran_ = server_->run();
    is_over_.store(true, std::memory_order_release);
  });
  return {};
}

void ServedStandby::heed_signals() {
  standbys_server = server_.get();
  stop_on_signals(stop_standbys_server);
}

Result<void> ServedStandby::end() {
  thread_.join();
  return ran_;
}

}  // namespace mneme
