// For tests of the log server: servers on threads of the test's own, engines and strangers that speak to
// them, and logs to write and compare.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "network/log_connection.h"
#include "network/log_server.h"
#include "network/testing/test_log_server.h"
#include "network/tls_session.h"

namespace mneme::test {

inline constexpr uint64_t kDatabase = 0x1234;
inline constexpr std::chrono::milliseconds kPatience{5000};
// For what comes within a tenth of it, however busy the machine is.
inline constexpr int kGenerousMs = 120'000;

inline std::shared_ptr<const PreSharedKey> key_of(char letter) {
  return std::make_shared<const PreSharedKey>(PreSharedKey{std::string(32, letter)});
}

inline HelloMessage hello(LogRole role, LogTerm term = {}, uint64_t database = kDatabase) {
  HelloMessage message;
  message.database_id = database;
  message.role = role;
  message.term = term;
  return message;
}

// A server on a thread of this process, with limits of its own, whose words are kept.
class ServerThread {
 public:
  explicit ServerThread(LogServerOptions options) : options_(std::move(options)) {
    std::string name = testing::TempDir() + "/mneme-logd-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    options_.directory = folder_ + "/logd";
    options_.without_key = options_.key == nullptr;
    options_.tell = [this](const std::string& sentence) {
      const std::lock_guard guard(mutex_);
      told_.push_back(sentence);
    };
    start();
  }
  ~ServerThread() {
    stop();
    std::filesystem::remove_all(folder_);
  }

  void start() {
    auto started = LogServer::start(options_);
    if (!started.ok()) {
      ADD_FAILURE() << started.error().message;
      std::abort();
    }
    server_ = std::move(*started);
    address_ = server_->address();
    thread_ = std::thread([this] { EXPECT_TRUE(server_->run().ok()); });
  }
  void stop() {
    if (server_ == nullptr) return;
    server_->stop();
    thread_.join();
    server_.reset();
  }
  ServerAddress address() const { return address_; }
  const std::string& directory() const { return options_.directory; }
  std::vector<std::string> told() {
    const std::lock_guard guard(mutex_);
    return told_;
  }

 private:
  LogServerOptions options_;
  std::string folder_;
  std::mutex mutex_;  // guards told_
  std::vector<std::string> told_;
  std::unique_ptr<LogServer> server_;
  ServerAddress address_;
  std::thread thread_;
};

template <typename Server>
inline Result<LogConnection> connect(const Server& server, const HelloMessage& greeting,
                                     const std::shared_ptr<const PreSharedKey>& key = nullptr) {
  return LogConnection::open(server.address(), key, greeting, kPatience);
}

// A connection without a word.
class Stranger {
 public:
  explicit Stranger(const ServerAddress& to) : descriptor_(connect_to(to, kPatience).value()) {}
  Stranger(Stranger&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~Stranger() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  // Sends a byte each five milliseconds, until the server hangs up. False: all were sent before.
  bool is_hung_up_on_while_sending(ByteSpan bytes) {
    for (const std::byte& each : bytes) {
      ::send(descriptor_, &each, 1, MSG_NOSIGNAL);
      if (has_ended(5)) return true;
    }
    return false;
  }
  bool is_hung_up_on() { return has_ended(kGenerousMs); }
  void send(ByteSpan bytes) { ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL); }

 private:
  bool has_ended(int patience_ms) {
    std::byte some[4096];
    pollfd watched{descriptor_, POLLIN, 0};
    while (::poll(&watched, 1, patience_ms) == 1) {
      const ssize_t count = ::recv(descriptor_, some, sizeof some, MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return true;
    }
    return false;
  }

  int descriptor_;
};

// An engine, message by message.
class Engine {
 public:
  template <typename Server>
  Engine(const Server& server, LogTerm term, std::shared_ptr<const PreSharedKey> key = nullptr,
         uint64_t database = kDatabase)
      : connection_(connect(server, hello(LogRole::kWriter, term, database), std::move(key))) {
    if (!connection_.ok()) {
      ADD_FAILURE() << connection_.error().message;
      std::abort();
    }
    auto released = connection_->release();
    descriptor_ = released.descriptor;
    channel_ = std::move(released.channel);
  }
  ~Engine() { ::close(descriptor_); }

  void send(const LogMessage& message) { send_all({message}); }
  // As one piece.
  void send_all(const std::vector<LogMessage>& messages) {
    for (const LogMessage& each : messages) EXPECT_TRUE(channel_->send(each).ok());
    const auto bytes = channel_->take_outgoing();
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t count = ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count > 0) sent += static_cast<size_t>(count);
      if (count < 0 && errno != EAGAIN) return;  // refused before: the answer says so
    }
  }
  LogMessage answer() {
    std::vector<std::byte> bytes(1 << 20);
    for (;;) {
      auto message = channel_->next();
      if (message.ok() && *message) return **message;
      pollfd watched{descriptor_, POLLIN, 0};
      const int ready = ::poll(&watched, 1, static_cast<int>(kPatience.count()));
      const ssize_t count = ready == 1 ? ::recv(descriptor_, bytes.data(), bytes.size(), 0) : 0;
      if (!message.ok() || count <= 0) {
        ADD_FAILURE() << "no answer";
        std::abort();
      }
      EXPECT_TRUE(channel_->receive(ByteSpan(bytes).first(static_cast<size_t>(count))).ok());
    }
  }

  // Reads what there is to read, for the time that patience lasts.
  bool is_cut_off() {
    std::vector<std::byte> bytes(1 << 20);
    pollfd watched{descriptor_, POLLIN, 0};
    while (::poll(&watched, 1, static_cast<int>(kPatience.count())) == 1) {
      const ssize_t count = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count == 0 || (count < 0 && errno != EAGAIN)) return true;
    }
    return false;
  }

  // Waits for the end, and reads nothing.
  bool is_hung_up() const {
    pollfd watched{descriptor_, POLLRDHUP, 0};
    return ::poll(&watched, 1, kGenerousMs) == 1;
  }
  void take_little() {
    const int bytes = 4096;
    ::setsockopt(descriptor_, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }

 private:
  Result<LogConnection> connection_;
  int descriptor_;
  std::unique_ptr<MessageChannel> channel_;
};

inline std::vector<std::byte> content(uint64_t seed, size_t bytes) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> made(bytes);
  for (std::byte& each : made) each = static_cast<std::byte>(random());
  return made;
}

// File 1 of a megabyte, with `bytes` from its beginning on, and whole.
inline void write_log(Engine& engine, const std::vector<std::byte>& bytes) {
  engine.send(CreateMessage{1, 1 << 20});
  for (size_t at = 0; at < bytes.size(); at += kMostContentBytes) {
    engine.send(
        WriteMessage{1, at, ByteSpan(bytes).subspan(at, std::min(kMostContentBytes, bytes.size() - at))});
  }
  engine.send(FlushMessage{1, true});
  const LogMessage answer = engine.answer();
  ASSERT_TRUE(std::holds_alternative<FlushedMessage>(answer));
  EXPECT_EQ(std::get<FlushedMessage>(answer).sequence, 1u);
}

template <typename Server>
inline void expect_log(const Server& server, const std::vector<std::byte>& bytes, uint32_t whole_term) {
  auto reader = connect(server, hello(LogRole::kReader));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  const auto files = reader->list();
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->whole_term, whole_term);
  ASSERT_EQ(files->files.size(), 1u);
  EXPECT_EQ(files->files[0].end, bytes.size());
  std::vector<std::byte> read(bytes.size());
  ASSERT_TRUE(reader->read(1, 0, read).ok());
  EXPECT_TRUE(read == bytes);
}

inline RefusedMessage::Reason refusal(Engine& engine) {
  const LogMessage answer = engine.answer();
  const auto* refused = std::get_if<RefusedMessage>(&answer);
  EXPECT_NE(refused, nullptr);
  return refused == nullptr ? RefusedMessage::Reason::kNoMessage : refused->reason;
}

class LogServerOn : public testing::TestWithParam<SocketMethod> {};

}  // namespace mneme::test
