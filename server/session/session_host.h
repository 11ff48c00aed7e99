// SessionHost: what the sessions of one server share.
//
// Threads  any.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "embedding/embedded_database.h"
#include "procedures/catalog/session_activity.h"
#include "server/session/advisory_locks.h"
#include "server/session/notifications.h"
#include "server/session/users.h"

namespace mneme {

class SessionHost {
 public:
  virtual ~SessionHost() = default;

  // A connection to the database, to run statements on; nullptr: all are in use just now. There are fewer
  // of them than clients: a session has one while it runs something or has a block open.
  virtual std::unique_ptr<Connection> take_seat() = 0;
  virtual void give_back(std::unique_ptr<Connection> seat) = 0;
  // Whether the database follows another engine's log, and is only read.
  virtual bool is_standby() const = 0;
  // All records below it are durable, and those that another engine has written are in the rows.
  virtual Lsn durable() const = 0;
  // For how long a standby has known of what it has not replayed.
  virtual std::chrono::milliseconds lag() const { return {}; }
  // How much of the log that was there is in the rows (--open on-demand): 1 once all is.
  virtual double recovered_share() const { return 1; }
  // Whether a statement may wait for others' locks (two-phase locking): all of them are then for threads that
  // have time.
  virtual bool statements_wait() const { return false; }
  // The locks that the sessions take on numbers of their own.
  AdvisoryLocks& advisory_locks() { return advisory_locks_; }
  // What they send each other by NOTIFY.
  Notifications& notifications() { return notifications_; }
  // Returns nullptr where every client is taken for who it says it is.
  virtual const Users* users() const { return nullptr; }
  // The sessions, as pg_stat_activity shows them.
  virtual std::vector<SessionActivity> activities() const { return {}; }
  // A client wants the statement that the session runs to end.
  virtual void cancel(uint32_t session, uint32_t secret) = 0;

 private:
  AdvisoryLocks advisory_locks_;
  Notifications notifications_;
};

// A seat that is given back at the end.
class Seat {
 public:
  explicit Seat(SessionHost& host) : host_(host) {}
  ~Seat() { give_back(); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // Returns whether there is one, and takes one if there wasn't.
  bool take() {
    if (connection_ == nullptr) connection_ = host_.take_seat();
    return connection_ != nullptr;
  }
  // Rolls an open block back.
  void give_back() {
    if (connection_ == nullptr) return;
    if (block() != SqlSession::Block::kNone) {
      syntax::Command roll_back;
      roll_back.kind = syntax::Command::Kind::kRollBack;
      const bool is_inside = session().control(roll_back).has_value();
      CHECK(is_inside);  // its block holds changes of the schema off
    }
    host_.give_back(std::move(connection_));
  }
  bool is_taken() const { return connection_ != nullptr; }
  LiveSession& session() { return connection_->session(); }
  SqlSession::Block block() const {
    return connection_ == nullptr ? SqlSession::Block::kNone : connection_->session().block();
  }

 private:
  SessionHost& host_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace mneme
