// Notifications: what NOTIFY and pg_notify() send, on its way to the sessions that LISTEN.
//
// Flow        a session listens -> others' transactions commit, one at a time among those that notify, and
//             publish() -> the messages stand in the box of each listener -> its session takes them when it
//             is between transactions
// Order       that of the commits: a transaction that notifies takes the turn before it commits, and gives it
//             back once it has published. So all listeners get all messages in one order.
// Durability  none of its own: messages are in memory alone, as in PostgreSQL. But a message leaves for its
//             client only once its sender's commit is durable, so that no listener hears of what a crash
//             takes back.
// Bounds      all boxes hold kMostBytes together. A commit that would go beyond that fails, as in PostgreSQL.
//             A session takes nothing out of its box while its client leaves much unread (client_loop.h).
// Threads     any; a box is filled by any, and emptied by its session's thread.
// Source      PostgreSQL 15, NOTIFY and LISTEN; src/backend/commands/async.c.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "base/strong_id.h"
#include "logging/record/lsn.h"

namespace mneme {

struct NotifyMessage {
  std::string channel;
  std::string payload;

  auto operator<=>(const NotifyMessage&) const = default;
};

class Notifications {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  struct Arrived {
    uint32_t sender = 0;
    NotifyMessage message;
    std::optional<Lsn> lsn;  // nothing: the sender's transaction has read and written nothing
  };
  class Box {
   public:
    explicit Box(std::atomic<size_t>& bytes) : bytes_(bytes) {}
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

    bool has_any() const { return has_any_.load(std::memory_order_acquire); }
    std::optional<Arrived> take();

   private:
    friend class Notifications;
    void add(const Arrived& arrived);

    std::atomic<size_t>& bytes_;  // of all boxes
    std::mutex mutex_;
    std::deque<Arrived> arrived_;  // guarded by mutex_
    // Stored under mutex_ (release), loaded by the session that asks whether there is something (acquire).
    std::atomic<bool> has_any_{false};
  };

  // Called behind each publish() that has reached a box, by its thread. Set before the first session.
  void on_arrival(std::function<void()> wake) { wake_ = std::move(wake); }

  // The box of the session, which is its from the first call on.
  std::shared_ptr<Box> listen(uint32_t session, const std::string& channel);
  void unlisten(uint32_t session, const std::string& channel);
  void unlisten_all(uint32_t session);
  std::set<std::string> channels_of(uint32_t session) const;
  void end_session(uint32_t session);

  // A transaction that notifies holds it from before its commit until it has published.
  using Turn = std::unique_lock<std::mutex>;
  Turn take_turn() { return Turn(turn_); }
  // Whether the boxes have room for these messages. With the turn.
  bool has_room(std::span<const NotifyMessage> messages) const;
  void publish(const Turn& turn, uint32_t sender, std::span<const NotifyMessage> messages,
               std::optional<Lsn> lsn);

 private:
  struct Listener {
    std::set<std::string> channels;
    std::shared_ptr<Box> box;
  };

  std::function<void()> wake_ = [] {};
  std::mutex turn_;
  mutable std::mutex mutex_;
  std::map<uint32_t, Listener> listeners_;  // guarded by mutex_
  std::atomic<size_t> bytes_{0};            // relaxed: a bound
};

}  // namespace mneme
