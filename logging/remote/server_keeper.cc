#include "logging/remote/server_keeper.h"

#include <utility>

namespace mneme {

Result<JoinedServer> join_server(const ServerKeeperOptions& options, size_t server) {
  auto connection =
      LogConnection::open(options.servers[server], options.key, options.hello, options.patience);
  if (!connection.ok()) return connection.error();
  const auto files = connection->list();
  if (!files.ok()) return files.error();
  std::vector<uint32_t> kept;
  for (const LogFileInfo& each : files->files) {
    if (each.term < options.hello.term.number) {
      RETURN_IF_ERROR(connection->close_file(each.number));
    } else {
      kept.push_back(each.number);
    }
  }
  return JoinedServer{std::move(*connection), std::move(kept)};
}

ServerKeeper::ServerKeeper(ServerKeeperOptions options, std::function<void()> has_outcome)
    : options_(std::move(options)),
      has_outcome_(std::move(has_outcome)),
      places_(options_.servers.size(), Place{.pause = {options_.first_pause, options_.longest_pause}}),
      thread_([this] { run(); }) {}

ServerKeeper::~ServerKeeper() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void ServerKeeper::lost(size_t server) {
  const std::lock_guard guard(mutex_);
  Place& place = places_[server];
  place.is_lost = true;
  place.due = Clock::now();
  // One that comes and goes is a burden to itself and to us.
  if (place.due - place.found_at > options_.steady) {
    place.pause.reset();
  } else {
    place.due += place.pause.next();
  }
  changed_.notify_all();
}

std::vector<ServerKeeper::Outcome> ServerKeeper::take_outcomes() {
  const std::lock_guard guard(mutex_);
  return std::exchange(outcomes_, {});
}

std::optional<size_t> ServerKeeper::next_due() const {
  std::optional<size_t> next;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].is_lost && (!next || places_[i].due < places_[*next].due)) next = i;
  }
  return next;
}

void ServerKeeper::run() {
  std::unique_lock guard(mutex_);
  while (!closing_) {
    const std::optional<size_t> next = next_due();
    if (!next) {
      changed_.wait(guard);
    } else if (places_[*next].due > Clock::now()) {
      changed_.wait_until(guard, places_[*next].due);
    } else {
      try_one(*next, guard);
    }
  }
}

void ServerKeeper::try_one(size_t server, std::unique_lock<std::mutex>& guard) {
  guard.unlock();
  auto joined = join_server(options_, server);
  guard.lock();
  if (closing_) return;
  Place& place = places_[server];
  if (joined.ok()) {
    place.is_lost = false;
    place.found_at = Clock::now();
    place.trouble.clear();
  } else {
    place.due = Clock::now() + place.pause.next();
    if (joined.error().message == place.trouble) return;
    place.trouble = joined.error().message;
  }
  outcomes_.push_back({server, std::move(joined)});
  has_outcome_();
}

}  // namespace mneme
