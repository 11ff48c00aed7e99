// ClientSessionTest: a client's session on a database of its own, without sockets.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/test_directory.h"
#include "server/session/client_session.h"
#include "server/testing/frontend.h"

namespace mneme {

class OneSeat final : public SessionHost {
 public:
  explicit OneSeat(EmbeddedDatabase& database) : database_(database) {
    for (int i = 0; i < 2; ++i) seats_.push_back(std::make_unique<Connection>(*database.connect()));
  }
  std::unique_ptr<Connection> take_seat() override {
    if (seats_.empty()) return nullptr;
    std::unique_ptr<Connection> seat = std::move(seats_.back());
    seats_.pop_back();
    return seat;
  }
  void give_back(std::unique_ptr<Connection> seat) override { seats_.push_back(std::move(seat)); }
  void cancel(uint32_t session, uint32_t) override { cancelled = session; }
  bool is_standby() const override { return standby; }
  Lsn durable() const override { return database_.working().log().durable(); }
  size_t free() const { return seats_.size(); }

  const Users* users() const override { return asked.get(); }

  uint32_t cancelled = 0;
  bool standby = false;
  std::unique_ptr<const Users> asked;

 private:
  EmbeddedDatabase& database_;
  std::vector<std::unique_ptr<Connection>> seats_;
};

class ClientSessionTest : public testing::Test {
 protected:
  ClientSessionTest()
      : database_(*EmbeddedDatabase::open(directory_.path(),
                                          {.connections = 2, .execution = Execution::kInterpreted})),
        host_(*database_),
        session_(host_, 7, 99) {}

  // All replies to the messages, once they are durable.
  std::vector<std::string> told(Frontend& messages) { return told(session_, messages); }
  std::vector<std::string> told(ClientSession& session, Frontend& messages) {
    session.receive(messages.take());
    for (int tries = 0; tries < 100; ++tries) {
      const ClientSession::Step step = session.advance(ClientSession::Waiting::kAllowed);
      if (step != ClientSession::Step::kRetry) break;
    }
    if (const auto gate = session.replies().gate()) {
      EXPECT_TRUE(database_->working().log().wait_durable(*gate));
    }
    Replies replies;
    replies.add(session.replies().take(Lsn{UINT64_MAX}));
    return replies.take();
  }
  std::vector<std::string> told(std::string_view query) { return told(Frontend().query(query)); }

  void start() {
    told(Frontend().startup());
    told("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(10), price NUMERIC(8,2) NOT NULL DEFAULT 1.5)");
    told("INSERT INTO item VALUES (1, 'one', 1), (2, 'two', 2), (3, NULL, DEFAULT)");
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<EmbeddedDatabase> database_;
  OneSeat host_;
  ClientSession session_;
};

}  // namespace mneme
