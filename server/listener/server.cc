#include "server/listener/server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <thread>

#include "base/file/file.h"
#include "base/random_number.h"
#include "network/local_socket.h"
#include "recovery/demand/demand_recovery.h"
#include "server/listener/client_loop.h"
#include "server/listener/durability_watch.h"
#include "server/listener/seat_pool.h"

namespace mneme {
namespace {

constexpr size_t kHelpers = 2;
// Beyond --connections a client is told why it is refused, and of so many more not even that.
constexpr uint32_t kMostRefusedAtOnce = 64;

}  // namespace

uint32_t seats_of(const ServerOptions& options) {
  return options.threads + static_cast<uint32_t>(kHelpers) + options.blocks;
}

class Server::State final : public SessionHost {
 public:
  State(EmbeddedDatabase& database, const ServerOptions& options) : database_(database), options_(options) {
    notifications().on_arrival([this] {
      for (const auto& loop : loops_) loop->notify();
    });
  }
  ~State() override {
    for (const int descriptor : listening_) ::close(descriptor);
    if (wake_ >= 0) ::close(wake_);
  }

  Result<void> start();
  Result<void> run();
  void stop();

  std::unique_ptr<Connection> take_seat() override { return seats_.take(); }
  void give_back(std::unique_ptr<Connection> seat) override { seats_.give_back(std::move(seat)); }
  bool statements_wait() const override { return options_.statements_wait; }
  const Users* users() const override { return options_.users.get(); }
  void cancel(uint32_t session, uint32_t secret) override;
  std::vector<SessionActivity> activities() const override;
  bool is_standby() const override { return database_.working().is_standby(); }
  Lsn durable() const override { return database_.working().log().durable(); }
  std::chrono::milliseconds lag() const override {
    return is_standby() ? options_.lag() : std::chrono::milliseconds(0);
  }
  double recovered_share() const override {
    DemandRecovery* const rest = database_.working().rest();
    return rest == nullptr ? 1 : rest->settled_share();
  }
  void give_way();

  std::optional<ServerAddress> address_;
  std::string socket_path_;
  // Written by the accepting thread, read by any: counts to look at, relaxed.
  std::atomic<uint64_t> accepted_{0};
  std::atomic<uint64_t> refused_{0};

 private:
  struct Help {
    ClientLoop* loop;
    SocketId client;
    ClientSession* session;
  };

  // What a client's cancel, and others' look at it, reaches without the client's loop, which may be running
  // its statement.
  struct ClientStop {
    uint32_t secret;
    std::shared_ptr<StopRequest> stop;
    std::shared_ptr<const ClientActivity> activity;
  };

  Result<void> add_loop(size_t number);
  void help(const std::stop_token& stop);
  void accept_clients();
  void accept(int listening);
  ClientLink link_of(int descriptor) const;

  EmbeddedDatabase& database_;
  const ServerOptions options_;
  SeatPool seats_;
  LocalSocket local_;
  std::vector<int> listening_;
  int wake_ = -1;
  // Raised by each stop() (relaxed: the eventfd orders it well enough), read by run().
  std::atomic<uint32_t> stops_{0};
  std::atomic<bool> log_failed_{false};  // by the watch's thread, before it wakes run()
  std::atomic<uint32_t> clients_{0};     // that the loops have, counted by all threads (relaxed: a limit)
  uint32_t next_id_ = 1;
  std::vector<std::unique_ptr<ClientLoop>> loops_;
  std::unique_ptr<DurabilityWatch> watch_;

  mutable std::mutex mutex_;
  std::condition_variable_any work_;
  // Guarded by mutex_.
  std::deque<Help> helps_;
  std::map<uint32_t, ClientStop> stops_of_clients_;
};

Result<void> Server::State::start() {
  if (options_.listen) {
    const Result<bool> loopback = is_loopback(*options_.listen);
    if (!loopback) return loopback.error();
    if (!*loopback && (options_.tls == nullptr || options_.users == nullptr)) {
      return invalid_argument(
          "{} is reachable from other machines, where a server needs TLS and passwords. Give --tls-cert, "
          "--tls-key and --auth scram, or listen on 127.0.0.1 or a Unix socket",
          options_.listen->text());
    }
    Result<ListeningSocket> listening = listen_on(*options_.listen);
    if (!listening) return listening.error();
    listening_.push_back(listening->descriptor);
    address_ = *options_.listen;
    address_->port = listening->port;
  }
  if (!options_.socket_directory.empty()) {
    const uint16_t port = address_ ? address_->port : options_.socket_port;
    socket_path_ = fmt::format("{}/.s.PGSQL.{}", options_.socket_directory, port);
    Result<LocalSocket> local = LocalSocket::listen(socket_path_);
    if (!local) return local.error();
    local_ = *std::move(local);
    listening_.push_back(local_.take_descriptor());
  }
  if (listening_.empty())
    return invalid_argument("a server listens on TCP or on a Unix socket: name one of them");
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_ < 0) return file_error("make an event for", "stopping", errno);
  for (uint32_t i = 0; i < seats_of(options_); ++i) {
    Result<Connection> seat = database_.connect();
    if (!seat) return seat.error();
    seats_.add(std::make_unique<Connection>(*std::move(seat)));
  }
  for (size_t i = 0; i < options_.threads; ++i) RETURN_IF_ERROR(add_loop(i));
  return {};
}

Result<void> Server::State::add_loop(size_t number) {
  Result<OpenedLoop> opened = open_socket_loop(options_.network);
  if (!opened) return opened.error();
  if (number == 0 && !opened->notice.empty()) options_.tell(opened->notice);
  ClientLoop::Server server;
  server.host = this;
  server.log = &database_.working().log();
  server.options = &options_;
  server.help = [this](ClientLoop& loop, SocketId client, ClientSession& session) {
    {
      const std::lock_guard lock(mutex_);
      helps_.push_back({&loop, client, &session});
    }
    work_.notify_one();
  };
  server.wait_for = [this](size_t loop, Lsn lsn) { watch_->wait_for(loop, lsn); };
  server.gone = [this](uint32_t id) {
    clients_.fetch_sub(1, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    stops_of_clients_.erase(id);
  };
  loops_.push_back(std::make_unique<ClientLoop>(number, std::move(opened->loop), std::move(server)));
  return {};
}

void Server::State::help(const std::stop_token& stop) {
  for (;;) {
    Help help{};
    {
      std::unique_lock lock(mutex_);
      if (!work_.wait(lock, stop, [this] { return !helps_.empty(); })) return;
      help = helps_.front();
      helps_.pop_front();
    }
    help.loop->come_back(help.client, help.session->advance(ClientSession::Waiting::kAllowed));
  }
}

void Server::State::cancel(uint32_t session, uint32_t secret) {
  std::optional<Help> waits;  // for a helper, who may be busy for long
  {
    const std::lock_guard lock(mutex_);
    const auto found = stops_of_clients_.find(session);
    if (found == stops_of_clients_.end() || found->second.secret != secret) return;
    found->second.stop->cancel();
    const auto place =
        std::ranges::find_if(helps_, [&](const Help& each) { return each.session->id() == session; });
    if (place != helps_.end()) {
      waits = *place;
      helps_.erase(place);
    }
  }
  // Its loop looks at it again, and finds the request.
  if (waits) waits->loop->come_back(waits->client, ClientSession::Step::kRetry);
}

std::vector<SessionActivity> Server::State::activities() const {
  std::vector<SessionActivity> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, client] : stops_of_clients_) {
    if (std::optional<SessionActivity> shown = client.activity->look()) all.push_back(*std::move(shown));
  }
  return all;
}

void Server::State::give_way() {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, client] : stops_of_clients_) client.stop->give_way();
  }
  for (const auto& loop : loops_) loop->give_way();
}

void Server::State::accept(int listening) {
  const int descriptor = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) {
    if (is_short_of_room(errno)) std::this_thread::sleep_for(kAcceptPause);
    return;
  }
  prepare_socket(descriptor);
  const uint32_t present = clients_.fetch_add(1, std::memory_order_relaxed);
  if (present >= options_.connections + kMostRefusedAtOnce) {
    ::close(descriptor);
    clients_.fetch_sub(1, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  ClientLink link = link_of(descriptor);
  if (present >= options_.connections) {
    link.refusal =
        fmt::format("sorry, too many clients already: {} are connected, as many as --connections allows",
                    options_.connections);
    refused_.fetch_add(1, std::memory_order_relaxed);
  } else {
    accepted_.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t id = next_id_++;
  const auto secret = static_cast<uint32_t>(unforeseen_number());
  link.stop = std::make_shared<StopRequest>();
  link.activity = std::make_shared<ClientActivity>();
  {
    const std::lock_guard lock(mutex_);
    stops_of_clients_.emplace(id, ClientStop{secret, link.stop, link.activity});
  }
  loops_[id % loops_.size()]->adopt(descriptor, id, secret, std::move(link));
}

ClientLink Server::State::link_of(int descriptor) const {
  const Peer peer = peer_of(descriptor);
  ClientLink link;
  if (peer.user) return link;  // a Unix socket's bytes pass no network
  link.peer = peer.text;
  link.offers_tls = options_.tls != nullptr;
  link.needs_tls = options_.needs_tls || !peer.is_in_machine;
  if (options_.tls != nullptr) link.end_point = options_.tls->end_point();
  return link;
}

void Server::State::accept_clients() {
  std::vector<pollfd> polled;
  for (const int descriptor : listening_) polled.push_back({descriptor, POLLIN, 0});
  polled.push_back({wake_, POLLIN, 0});
  while (stops_.load(std::memory_order_relaxed) == 0 && !log_failed_.load(std::memory_order_acquire)) {
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;
    for (size_t i = 0; i + 1 < polled.size(); ++i) {
      if ((polled[i].revents & POLLIN) != 0) accept(polled[i].fd);
    }
  }
}

Result<void> Server::State::run() {
  watch_ = std::make_unique<DurabilityWatch>(
      database_.working().log(), loops_.size(), [this](size_t loop) { loops_[loop]->wake(); },
      [this] { return database_.working().recovery_has_failed(); },
      [this] {
        log_failed_.store(true, std::memory_order_release);
        for (const auto& loop : loops_) loop->fail();
        const uint64_t one = 1;
        [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
      });
  std::vector<std::jthread> helpers;
  const size_t helper_count = options_.statements_wait ? seats_of(options_) : kHelpers;
  for (size_t i = 0; i < helper_count; ++i)
    helpers.emplace_back([this](const std::stop_token& stop) { help(stop); });
  std::vector<std::thread> threads;
  for (const auto& loop : loops_) threads.emplace_back([&loop] { loop->run(); });
  accept_clients();
  for (const auto& loop : loops_) loop->stop(ClientLoop::Stop::kGently);
  // A second stop() while clients end.
  std::jthread hurry([this](const std::stop_token& stop) {
    while (!stop.stop_requested() && stops_.load(std::memory_order_relaxed) < 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!stop.stop_requested()) {
      for (const auto& loop : loops_) loop->stop(ClientLoop::Stop::kNow);
    }
  });
  for (std::thread& thread : threads) thread.join();
  hurry.request_stop();
  helpers.clear();
  watch_.reset();
  if (const std::optional<Error> failure = database_.working().log().failure()) return *failure;
  if (database_.working().recovery_has_failed()) return database_.working().finish_recovery();
  return {};
}

void Server::State::stop() {
  stops_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(EmbeddedDatabase& database, const ServerOptions& options) {
  auto state = std::make_unique<State>(database, options);
  RETURN_IF_ERROR(state->start());
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

std::optional<ServerAddress> Server::address() const {
  return state_->address_;
}
std::string Server::socket_path() const {
  return state_->socket_path_;
}
Result<void> Server::run() {
  return state_->run();
}
void Server::stop() {
  state_->stop();
}
void Server::give_way() {
  state_->give_way();
}
Server::Counters Server::counters() const {
  return {state_->accepted_.load(std::memory_order_relaxed),
          state_->refused_.load(std::memory_order_relaxed)};
}

}  // namespace mneme
