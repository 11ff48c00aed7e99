// For tests: log servers in this process, each behind a link of its own, so that both can be broken at any
// place of a schedule and a thousand schedules take seconds.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "network/log_server.h"
#include "network/server_address.h"
#include "network/socket_loop.h"

namespace mneme::test {

// A port that stands for another. While the link is cut nothing comes through: what is sent waits for it to
// be mended, hang-ups too, and connections are sent away.
class Link {
 public:
  explicit Link(const ServerAddress& to)
      : to_(to), loop_(open_socket_loop(SocketMethod::kPoll).value().loop) {
    const ListeningSocket listening = listen_on({"127.0.0.1", 0}).value();
    loop_->listen(listening.descriptor);
    port_ = listening.port;
    thread_ = std::thread([this] { run(); });
  }
  ~Link() {
    ends_.store(true, std::memory_order_relaxed);
    loop_->wake();
    thread_.join();
  }

  ServerAddress address() const { return {"127.0.0.1", port_}; }
  bool is_cut() const { return is_cut_.load(std::memory_order_relaxed); }
  void cut() { set_cut(true); }
  void mend() { set_cut(false); }

 private:
  struct Held {
    SocketId to;
    std::vector<std::byte> bytes;  // none: the other side hung up
  };

  void set_cut(bool is_cut) {
    is_cut_.store(is_cut, std::memory_order_relaxed);
    loop_->wake();
  }

  void run() {
    std::vector<SocketEvent> events;
    while (!ends_.load(std::memory_order_relaxed)) {
      events.clear();
      loop_->wait(std::chrono::seconds(1), events);
      for (const SocketEvent& event : events) take(event);
      if (is_cut()) continue;
      for (Held& each : std::exchange(held_, {})) {
        if (!each.bytes.empty()) {
          loop_->send(each.to, std::move(each.bytes));
        } else {
          loop_->close(each.to);
        }
      }
    }
  }

  void take(const SocketEvent& event) {
    if (event.kind == SocketEvent::Kind::kNotAccepted) return;
    if (event.kind == SocketEvent::Kind::kAccepted) return connect(event.socket);
    const auto peer = peers_.find(event.socket);
    if (peer == peers_.end()) return;
    held_.push_back({peer->second, {event.bytes.begin(), event.bytes.end()}});
    if (event.kind == SocketEvent::Kind::kClosed) peers_.erase(peer);
  }

  void connect(SocketId from) {
    const auto server =
        is_cut() ? Result<int>(failed("the link is cut")) : connect_to(to_, std::chrono::seconds(5));
    if (!server.ok()) return loop_->close(from);
    const SocketId to = loop_->add(*server);
    peers_[from] = to;
    peers_[to] = from;
  }

  const ServerAddress to_;
  const std::unique_ptr<SocketLoop> loop_;
  uint16_t port_ = 0;
  std::map<SocketId, SocketId> peers_;
  std::vector<Held> held_;
  // Written by the test, read by the thread; relaxed: the wake that follows orders them well enough.
  std::atomic<bool> is_cut_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

class LinkedServer {
 public:
  explicit LinkedServer(std::string directory) : directory_(std::move(directory)) {
    start();
    link_ = std::make_unique<Link>(ServerAddress{"127.0.0.1", port_});
  }
  ~LinkedServer() { die(); }

  ServerAddress address() const { return link_->address(); }
  Link& link() { return *link_; }
  bool is_up() const { return server_ != nullptr; }
  bool is_reachable() const { return is_up() && !link_->is_cut(); }

  void start() {
    LogServerOptions options;
    options.listen.port = port_;
    options.without_key = true;
    options.directory = directory_;
    options.network = SocketMethod::kPoll;
    auto server = LogServer::start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->port();
    // Its report of logs that could not be saved is what die() wants.
    thread_ = std::thread([this] { (void)server_->run(); });
  }
  // Saves its logs.
  void end_in_order() {
    if (!is_up()) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  // As a machine that loses its memory: nothing is saved any more, as the directory is out of its reach.
  void die() {
    if (!is_up()) return;
    const std::string away = directory_ + ".away";
    std::filesystem::rename(directory_, away);
    end_in_order();
    std::filesystem::rename(away, directory_);
  }

 private:
  const std::string directory_;
  uint16_t port_ = 0;
  std::unique_ptr<LogServer> server_;
  std::thread thread_;
  std::unique_ptr<Link> link_;
};

}  // namespace mneme::test
