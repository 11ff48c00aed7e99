// Goal: many clients on few threads, some of them bad, do each other no harm, and nothing acknowledged is
// lost.
// Method: a server on a Unix socket with two loops. Clients on threads of their own move amounts
// between accounts, in blocks that run again after a conflict, and count what was acknowledged; others change
// the schema, leave in the middle of a block, send garbage, or read nothing of what they ask for. At the end
// the sum is what it was, each client's counter is what it was told, and the database says the same after it
// is opened again.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/testing/test_directory.h"
#include "network/local_socket.h"
#include "server/listener/server.h"
#include "server/testing/frontend.h"

namespace mneme {
namespace {

constexpr int kClients = 6;
constexpr int kTransfers = 30;
constexpr int kAccounts = 8;

class Client {
 public:
  explicit Client(const std::string& path) {
    const Result<int> connected = connect_local(path, std::chrono::seconds(60));
    EXPECT_TRUE(connected.ok()) << connected.error().message;
    descriptor_ = *connected;
    send(Frontend().startup());
    wait_ready();
  }
  ~Client() { ::close(descriptor_); }
  // A connection for a request to cancel what the other one runs.
  Client(const std::string& path, const Client& other) {
    const Result<int> connected = connect_local(path, std::chrono::seconds(60));
    EXPECT_TRUE(connected.ok()) << connected.error().message;
    descriptor_ = *connected;
    std::vector<std::byte> request;
    MessageWriter out(request);
    out.i32(16);
    out.i32(80877102);
    out.i32(other.replies_.session());
    out.i32(other.replies_.secret());
    send(request);
  }

  void send(Frontend& messages) { send(messages.take()); }
  void send(const std::vector<std::byte>& bytes) {
    for (size_t at = 0; at < bytes.size();) {
      const ssize_t sent = ::send(descriptor_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) {
        wait(POLLOUT);
      } else if (sent <= 0) {
        return;
      } else {
        at += static_cast<size_t>(sent);
      }
    }
  }
  // Up to and with ReadyForQuery; nothing more: the connection has ended.
  std::vector<std::string> wait_ready() {
    std::vector<std::string> lines;
    for (;;) {
      for (std::string& line : replies_.take()) lines.push_back(std::move(line));
      if (!lines.empty() && lines.back()[0] == 'Z') return lines;
      std::byte bytes[4096];
      const ssize_t count = ::recv(descriptor_, bytes, sizeof bytes, 0);
      if (count < 0 && errno == EAGAIN) {
        wait(POLLIN);
      } else if (count <= 0) {
        return lines;
      } else {
        replies_.add({bytes, static_cast<size_t>(count)});
      }
    }
  }
  std::vector<std::string> query(const std::string& text) {
    send(Frontend().query(text));
    return wait_ready();
  }
  // Whether the query's last statement was done.
  bool run(const std::string& text) {
    const std::vector<std::string> lines = query(text);
    return lines.size() >= 2 && lines[lines.size() - 2][0] == 'C';
  }
  int64_t value(const std::string& text) {
    for (const std::string& line : query(text)) {
      if (line[0] == 'D') return std::stoll(line.substr(2));
    }
    ADD_FAILURE() << text;
    return -1;
  }

 private:
  void wait(short events) const {
    pollfd polled{descriptor_, events, 0};
    ::poll(&polled, 1, -1);
  }

  int descriptor_ = -1;
  Replies replies_;
};

std::string set_amount(int account, const std::string& change) {
  return "UPDATE account SET amount = amount " + change + " WHERE id = " + std::to_string(account);
}

// The parameter: whether transactions lock rows, and wait.
class ServerStress : public testing::TestWithParam<bool> {
 protected:
  void open() {
    ServerOptions options;
    options.socket_directory = sockets_.path();
    options.threads = 2;
    options.blocks = kClients + 2;
    options.statements_wait = GetParam();
    // However slow the machine is.
    options.startup_patience = options.read_patience = std::chrono::hours(1);
    Concurrency concurrency;
    if (GetParam()) concurrency.control = ConcurrencyControl::kTwoPhaseLocking;
    auto database = EmbeddedDatabase::open(directory_.path() + "/db", {.connections = seats_of(options),
                                                                       .execution = Execution::kInterpreted,
                                                                       .concurrency = concurrency,
                                                                       .lock_timeout = std::nullopt});
    ASSERT_TRUE(database.ok()) << database.error().message;
    database_ = *std::move(database);
    auto server = Server::start(*database_, options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = *std::move(server);
    thread_ = std::thread([this] { EXPECT_TRUE(server_->run().ok()); });
  }
  void close() {
    server_->stop();
    thread_.join();
    server_.reset();
    database_.reset();
  }
  std::string path() const { return server_->socket_path(); }

  test::TemporaryDirectory directory_;
  test::TemporaryDirectory sockets_;
  std::unique_ptr<EmbeddedDatabase> database_;
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

void transfer(Client& client, int number, int64_t& acknowledged) {
  for (int i = 0; i < kTransfers; ++i) {
    const int from = (number + i) % kAccounts;
    const int to = (number * 3 + i * 5 + 1) % kAccounts;
    const bool done = client.run("BEGIN") && client.run(set_amount(from, "- 1")) &&
                      client.run(set_amount(to, "+ 1")) &&
                      client.run("UPDATE told SET n = n + 1 WHERE id = " + std::to_string(number)) &&
                      client.query("COMMIT").front() == "C COMMIT";
    if (done) {
      ++acknowledged;
    } else {
      client.query("ROLLBACK");
    }
  }
}

TEST_P(ServerStress, ClientsGoodAndBad) {
  open();
  {
    Client first(path());
    ASSERT_TRUE(first.run("CREATE TABLE account (id INT PRIMARY KEY, amount INT NOT NULL)"));
    ASSERT_TRUE(first.run("CREATE TABLE told (id INT PRIMARY KEY, n INT NOT NULL)"));
    for (int i = 0; i < kAccounts; ++i)
      ASSERT_TRUE(first.run("INSERT INTO account VALUES (" + std::to_string(i) + ", 100)"));
    for (int i = 0; i < kClients; ++i)
      ASSERT_TRUE(first.run("INSERT INTO told VALUES (" + std::to_string(i) + ", 0)"));
  }
  std::vector<int64_t> acknowledged(kClients);
  std::vector<std::thread> threads;
  for (int number = 0; number < kClients; ++number) {
    threads.emplace_back([&, number] {
      Client client(path());
      transfer(client, number, acknowledged[static_cast<size_t>(number)]);
    });
  }
  threads.emplace_back([&] {  // changes of the schema, which wait for the others' blocks
    Client client(path());
    for (int i = 0; i < 5; ++i) {
      EXPECT_TRUE(client.run("CREATE TABLE extra (id INT PRIMARY KEY)"));
      EXPECT_TRUE(client.run("DROP TABLE extra"));
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 10; ++i) {
      Client leaves(path());
      leaves.query("BEGIN; " + set_amount(i % kAccounts, "+ 1000"));
    }
  });
  threads.emplace_back([&] {
    for (int i = 0; i < 10; ++i) {
      Client bad(path());
      bad.send(Frontend().raw(std::string(static_cast<size_t>(i) + 5, static_cast<char>(0xf0 + i))));
      const std::vector<std::string> lines = bad.wait_ready();
      EXPECT_TRUE(lines.empty() || lines[0] == "E 08P01");
    }
  });
  for (std::thread& thread : threads) thread.join();

  for (const bool again : {false, true}) {
    if (again) {
      close();
      open();
    }
    Client last(path());
    EXPECT_EQ(last.value("SELECT sum(amount) FROM account"), 100 * kAccounts);
    int64_t all = 0;
    for (int i = 0; i < kClients; ++i) {
      EXPECT_EQ(last.value("SELECT n FROM told WHERE id = " + std::to_string(i)),
                acknowledged[static_cast<size_t>(i)]);
      all += acknowledged[static_cast<size_t>(i)];
    }
    EXPECT_GT(all, 0);
  }
  close();
}

TEST_P(ServerStress, TooManyClientsAndBlocks) {
  open();
  Client first(path());
  ASSERT_TRUE(first.run("CREATE TABLE account (id INT PRIMARY KEY, amount INT NOT NULL)"));
  // As many blocks as there are seats; the next one waits until one ends.
  std::vector<std::unique_ptr<Client>> blocks;
  const ServerOptions options{.threads = 2, .blocks = kClients + 2};
  for (uint32_t i = 0; i < seats_of(options); ++i) {
    blocks.push_back(std::make_unique<Client>(path()));
    ASSERT_TRUE(blocks.back()->run("BEGIN"));
  }
  Client waits(path());
  waits.send(Frontend().query("SELECT count(*) FROM account"));
  blocks.pop_back();
  EXPECT_EQ(waits.wait_ready().back(), "Z I");
  close();
}

// Queries that would run for days, on the helpers, are cancelled by other clients, lost, and at the end
// stopped with the server.
TEST_P(ServerStress, LongQueriesAreCancelledLostAndStopped) {
  open();
  const std::string endless =
      "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";
  std::vector<std::thread> threads;
  for (int number = 0; number < 3; ++number) {
    threads.emplace_back([&] {
      Client client(path());
      for (int i = 0; i < 3; ++i) {
        std::atomic<bool> is_over{false};
        client.send(Frontend().query(endless));
        std::thread cancels([&] {
          while (!is_over.load()) {
            Client request(path(), client);
            request.wait_ready();  // until the server closes it
          }
        });
        EXPECT_EQ(client.wait_ready(), (std::vector<std::string>{"E 57014", "Z I"}));
        is_over.store(true);
        cancels.join();
      }
      EXPECT_TRUE(client.run("SELECT 1"));
    });
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) {
        Client leaves(path());
        leaves.send(Frontend().query(endless));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::unique_ptr<Client>> last;
  for (int i = 0; i < 4; ++i) {
    last.push_back(std::make_unique<Client>(path()));
    last.back()->send(Frontend().query(endless));
  }
  close();
}

TEST_P(ServerStress, NoPlaceToListenIsRefused) {
  auto database = EmbeddedDatabase::open(directory_.path() + "/db", {.execution = Execution::kInterpreted});
  ASSERT_TRUE(database.ok());
  const auto server = Server::start(**database, {});
  ASSERT_FALSE(server.ok());
  EXPECT_NE(server.error().message.find("name one of them"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Protocols, ServerStress, testing::Bool(),
                         [](const auto& info) { return std::string(info.param ? "Locking" : "Optimistic"); });

}  // namespace
}  // namespace mneme
