// Goal: a log server keeps what it was given, through ends in order; forgets aloud what it lost; obeys the
// newest term alone; and no client harms it. Method: servers in processes of their own, over loopback, on
// both ways to serve the network.
#include "network/log_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/testing/test_refusal.h"
#include "network/log_connection.h"
#include "network/saved_log.h"
#include "network/testing/test_log_server.h"
#include "network/tls_session.h"

namespace mneme {
namespace {

using test::ServerProcess;

constexpr uint64_t kDatabase = 0x1234;
constexpr std::chrono::milliseconds kPatience{5000};
// For what comes within a tenth of it, however busy the machine is.
constexpr int kGenerousMs = 120'000;

std::shared_ptr<const PreSharedKey> key_of(char letter) {
  return std::make_shared<const PreSharedKey>(PreSharedKey{std::string(32, letter)});
}

HelloMessage hello(LogRole role, LogTerm term = {}, uint64_t database = kDatabase) {
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
Result<LogConnection> connect(const Server& server, const HelloMessage& greeting,
                              std::shared_ptr<const PreSharedKey> key = nullptr) {
  return LogConnection::open(server.address(), std::move(key), greeting, kPatience);
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

std::vector<std::byte> content(uint64_t seed, size_t bytes) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> made(bytes);
  for (std::byte& each : made) each = static_cast<std::byte>(random());
  return made;
}

// File 1 of a megabyte, with `bytes` from its beginning on, and whole.
void write_log(Engine& engine, const std::vector<std::byte>& bytes) {
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
void expect_log(const Server& server, const std::vector<std::byte>& bytes, uint32_t whole_term) {
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

RefusedMessage::Reason refusal(Engine& engine) {
  const LogMessage answer = engine.answer();
  const auto* refused = std::get_if<RefusedMessage>(&answer);
  EXPECT_NE(refused, nullptr);
  return refused == nullptr ? RefusedMessage::Reason::kNoMessage : refused->reason;
}

class LogServerOn : public testing::TestWithParam<SocketMethod> {};

TEST_P(LogServerOn, GivesBackWhatItWasGiven) {
  const ServerProcess server(GetParam());
  const auto bytes = content(1, 700'000);
  Engine engine(server, {1, 11});
  write_log(engine, bytes);
  expect_log(server, bytes, 1);
}

TEST_P(LogServerOn, SavesWhenItsEngineIsGoneAndWhenItIsTerminated) {
  ServerProcess server(GetParam());
  const auto bytes = content(2, 300'000);
  {
    Engine engine(server, {1, 11});
    write_log(engine, bytes);
  }
  expect_log(server, bytes, 1);  // by now it has seen the end of the engine
  server.kill_now();
  server.start();
  expect_log(server, bytes, 1);

  const auto more = content(3, 400'000);
  Engine engine(server, {2, 12});
  write_log(engine, more);
  EXPECT_TRUE(server.terminate());
  server.start();
  expect_log(server, more, 2);
}

TEST_P(LogServerOn, SavesAndEndsOnShutdown) {
  ServerProcess server(GetParam());
  const auto bytes = content(4, 100'000);
  Engine engine(server, {1, 11});
  write_log(engine, bytes);
  auto other = connect(server, hello(LogRole::kReader));
  ASSERT_TRUE(other.ok());
  const auto ended = other->shut_down();
  EXPECT_TRUE(ended.ok()) << ended.error().message;
  server.kill_now();
  server.start();
  expect_log(server, bytes, 1);
}

// The copy on its disk is of an earlier life of the log: it must not pass for the log.
TEST_P(LogServerOn, KnowsThatItLostWhatWasInMemory) {
  ServerProcess server(GetParam());
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(5, 1000));
  }
  expect_log(server, content(5, 1000), 1);
  Engine engine(server, {1, 11});
  engine.send(WriteMessage{1, 1000, ByteSpan()});
  engine.send(FlushMessage{2});
  ASSERT_TRUE(std::holds_alternative<FlushedMessage>(engine.answer()));
  server.kill_now();
  server.start();
  auto reader = connect(server, hello(LogRole::kReader));
  ASSERT_TRUE(reader.ok());
  const auto files = reader->list();
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(files->whole_term, 0u);
  EXPECT_TRUE(files->files.empty());
  EXPECT_EQ(reader->welcome().term, (LogTerm{1, 11})) << "the term outlasts the log";
}

TEST_P(LogServerOn, SpeaksTlsWithWhoHasTheKey) {
  const ServerProcess server(GetParam(), key_of('k'));
  const auto bytes = content(6, 700'000);
  Engine engine(server, {1, 11}, key_of('k'));
  write_log(engine, bytes);
  auto reader = connect(server, hello(LogRole::kReader), key_of('k'));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  std::vector<std::byte> read(bytes.size());
  ASSERT_TRUE(reader->read(1, 0, read).ok());
  EXPECT_TRUE(read == bytes);

  EXPECT_FALSE(connect(server, hello(LogRole::kReader), key_of('x')).ok()) << "a wrong key";
  EXPECT_FALSE(connect(server, hello(LogRole::kReader)).ok()) << "no key";
  EXPECT_TRUE(connect(server, hello(LogRole::kReader), key_of('k')).ok()) << "the server is unharmed";
}

TEST_P(LogServerOn, IsUnharmedByGarbage) {
  const ServerProcess server(GetParam());
  Engine engine(server, {1, 11});
  write_log(engine, content(7, 5000));
  std::mt19937_64 random(7);
  for (int i = 0; i < 30; ++i) {
    const auto descriptor = connect_to(server.address(), kPatience);
    ASSERT_TRUE(descriptor.ok());
    std::vector<std::byte> bytes;
    // Pure noise; a frame of noise; a greeting, and then noise; a huge length.
    if (i % 4 == 1)
      append_frame(bytes, static_cast<uint16_t>(random() % 16), content(random(), random() % 64));
    if (i % 4 == 2) append_message(bytes, hello(LogRole::kReader));
    const auto noise = content(random(), random() % 3000);
    bytes.insert(bytes.end(), noise.begin(), noise.end());
    if (i % 4 == 3) {
      bytes.clear();
      append_frame(bytes, 5, noise);
      store(bytes.data() + 4, uint32_t{1} << 31);
    }
    ::send(*descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(*descriptor);
  }
  expect_log(server, content(7, 5000), 1);
  engine.send(FlushMessage{8});
  EXPECT_TRUE(std::holds_alternative<FlushedMessage>(engine.answer()));
}

// The same before TLS has begun, and where its handshake breaks off.
TEST_P(LogServerOn, IsUnharmedByGarbageInPlaceOfTls) {
  const ServerProcess server(GetParam(), key_of('k'));
  std::mt19937_64 random(13);
  for (int i = 0; i < 30; ++i) {
    const auto descriptor = connect_to(server.address(), kPatience);
    ASSERT_TRUE(descriptor.ok());
    std::vector<std::byte> bytes = content(random(), random() % 3000);
    if (i % 2 == 1) {
      TlsSession client(TlsSide::kClient, key_of('k'));
      std::vector<std::byte> begun = client.take_outgoing();
      ASSERT_FALSE(begun.empty());
      begun[random() % begun.size()] ^= std::byte{1};
      bytes.insert(bytes.begin(), begun.begin(), begun.end());
    }
    ::send(*descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::close(*descriptor);
  }
  EXPECT_TRUE(connect(server, hello(LogRole::kReader), key_of('k')).ok()) << "the server is unharmed";
}

// All that a machine's memory would not hold, asked for in one breath, and never read.
TEST_P(LogServerOn, CutsOffWhoAsksForMoreThanItReads) {
  for (const auto& key : {std::shared_ptr<const PreSharedKey>(), key_of('k')}) {
    const ServerProcess server(GetParam(), key);
    Engine greedy(server, {1, 11}, key);
    write_log(greedy, content(16, kMostContentBytes));
    const uint64_t before = server.peak_memory_bytes();
    greedy.send_all(std::vector<LogMessage>(8000, ReadMessage{1, 0, kMostContentBytes}));
    EXPECT_TRUE(greedy.is_cut_off());
    EXPECT_LT(server.peak_memory_bytes(), before + (uint64_t{512} << 20));
    EXPECT_TRUE(connect(server, hello(LogRole::kReader), key).ok()) << "the server is unharmed";
  }
}

// More than there is place for, all silent: an engine comes in, and the first of them are gone.
TEST_P(LogServerOn, SilentConnectionsKeepNobodyOut) {
  for (const auto& key : {std::shared_ptr<const PreSharedKey>(), key_of('k')}) {
    LogServerOptions options;
    options.network = GetParam();
    options.key = key;
    options.hello_patience = std::chrono::hours(1);
    const ServerThread server(options);
    std::deque<Stranger> silent;
    for (int i = 0; i < 300; ++i) silent.emplace_back(server.address());
    Engine engine(server, {1, 11}, key);
    write_log(engine, content(18, 1000));
    EXPECT_TRUE(silent.front().is_hung_up_on());
  }
}

TEST_P(LogServerOn, AStrangersTimeIsLimited) {
  for (const auto& key : {std::shared_ptr<const PreSharedKey>(), key_of('k')}) {
    LogServerOptions options;
    options.network = GetParam();
    options.key = key;
    options.hello_patience = std::chrono::milliseconds(300);
    const ServerThread server(options);
    Engine engine(server, {1, 11}, key);
    Stranger silent(server.address());
    Stranger slow(server.address());
    // As it should be, as far as it goes: a frame, or a record of TLS with a client's first message; ten
    // seconds of it.
    std::vector<std::byte> bytes;
    append_frame(bytes, 1, std::vector<std::byte>(2000));
    if (key != nullptr) {
      const auto record = as_bytes(std::string_view("\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", 11));
      std::ranges::copy(record, bytes.begin());
    }
    ASSERT_TRUE(slow.is_hung_up_on_while_sending(bytes));
    EXPECT_TRUE(silent.is_hung_up_on());
    write_log(engine, content(19, 1000));  // it may be silent
  }
}

// All that it sends is in order, and no HELLO.
TEST_P(LogServerOn, AStrangersBytesAreLimited) {
  LogServerOptions options;
  options.network = GetParam();
  options.hello_patience = std::chrono::hours(1);
  ServerThread server(options);
  Stranger loud(server.address());
  std::vector<std::byte> bytes;
  append_frame(bytes, 5, std::vector<std::byte>(kLargestPayloadBytes));
  loud.send(ByteSpan(bytes).first(size_t{64} << 10));
  EXPECT_TRUE(loud.is_hung_up_on());
}

TEST_P(LogServerOn, OneHelloUsesUpNoTerms) {
  constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
  LogServerOptions options;
  options.network = GetParam();
  ServerThread server(options);
  {
    Engine engine(server, {3, 11});
    write_log(engine, content(20, 1000));
  }
  for (const LogRole role : {LogRole::kClaimant, LogRole::kWriter}) {
    for (const uint32_t term : {kLast, kLast / 2, 3u + 10'001, 0u}) {
      EXPECT_FALSE(connect(server, hello(role, {term, 66})).ok()) << term;
    }
    EXPECT_FALSE(connect(server, hello(role, {kLast, 66}, kDatabase + 1)).ok())
        << "of a database that the server doesn't know";
  }
  EXPECT_TRUE(connect(server, hello(LogRole::kClaimant, {3 + 10'000, 12})).ok());
  server.stop();
  server.start();
  Engine engine(server, {3 + 10'001, 13});
  write_log(engine, content(21, 1000));
}

// Servers of former versions took any term.
TEST_P(LogServerOn, ALogWhoseTermIsHighGoesOn) {
  constexpr uint32_t kLast = std::numeric_limits<uint32_t>::max();
  ServerProcess server(GetParam());
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(22, 1000));
  }
  expect_log(server, content(22, 1000), 1);
  server.kill_now();
  ASSERT_TRUE(keep_term(server.directory(), kDatabase, {kLast - 1, 66}).ok());
  server.start();
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {kLast - 2, 12})).ok());
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {1, 11})).ok()) << "terms don't begin anew";
  expect_log(server, content(22, 1000), 1);
  Engine engine(server, {kLast, 12});
  write_log(engine, content(23, 1000));
  expect_log(server, content(23, 1000), kLast);
}

size_t files_in(const std::string& directory, std::string_view suffix) {
  size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator(directory)) {
    count += each.path().string().ends_with(suffix) ? 1 : 0;
  }
  return count;
}

// Claims of databases that there aren't, as claimants and as engines that create files: none lasts, and none
// keeps anybody out.
TEST_P(LogServerOn, ClaimsOfInventedDatabasesFillNothing) {
  LogServerOptions options;
  options.network = GetParam();
  options.memory_bytes = 1 << 20;
  ServerThread server(options);
  for (uint64_t i = 0; i < 400; ++i) {
    ASSERT_TRUE(connect(server, hello(LogRole::kClaimant, {7, 66}, 0x10000 + i)).ok()) << i;
    Engine invented(server, {7, 66}, nullptr, 0x20000 + i);
    invented.send(CreateMessage{1, 1 << 20});
    invented.send(FlushMessage{1});
    ASSERT_TRUE(std::holds_alternative<FlushedMessage>(invented.answer()));
  }
  EXPECT_EQ(files_in(server.directory(), ".log") + files_in(server.directory(), ".term"), 0u);
  {
    // All that they took is free again, also of one that is there yet.
    Engine invented(server, {7, 66}, nullptr, 0x30000);
    invented.send(CreateMessage{1, 1 << 20});
    invented.send(FlushMessage{1, true});
    ASSERT_TRUE(std::holds_alternative<FlushedMessage>(invented.answer()));
    Engine engine(server, {1, 11});
    write_log(engine, content(24, 1000));
  }
  server.stop();
  server.start();
  Engine engine(server, {2, 12});
  write_log(engine, content(25, 1000));
}

// A log that was said to be whole is a promise, without a byte, too; but of many the oldest give way.
TEST_P(LogServerOn, LogsWithoutAByteGiveWayToOthers) {
  ServerProcess server(GetParam());
  for (uint64_t i = 0; i < 300; ++i) {
    Engine invented(server, {7, 66}, nullptr, 0x10000 + i);
    invented.send(FlushMessage{1, true});
    ASSERT_TRUE(std::holds_alternative<FlushedMessage>(invented.answer()));
  }
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(26, 1000));
  }
  expect_log(server, content(26, 1000), 1);
  EXPECT_LE(files_in(server.directory(), ".log"), 257u);
  EXPECT_TRUE(server.terminate());
  server.start();
  expect_log(server, content(26, 1000), 1);
  auto reader = connect(server, hello(LogRole::kReader, {}, 0x10000 + 299));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(reader->list()->whole_term, 7u);
}

TEST_P(LogServerOn, IdleClientsGiveWayToEngines) {
  const ServerProcess server(GetParam());
  std::deque<Result<LogConnection>> idle;
  for (uint64_t i = 0; i < 64; ++i) {
    idle.push_back(
        connect(server, hello(i % 2 == 0 ? LogRole::kReader : LogRole::kWriter, {1, 66}, 0x10000 + i)));
    ASSERT_TRUE(idle.back().ok()) << idle.back().error().message;
  }
  std::deque<Engine> engines;
  for (uint64_t i = 0; i < 64; ++i) {
    Engine& engine = engines.emplace_back(server, LogTerm{1, 11}, nullptr, 0x20000 + i);
    write_log(engine, content(27, 100));
  }
  const auto one_more = connect(server, hello(LogRole::kReader));
  ASSERT_FALSE(one_more.ok()) << "engines at work give way to nobody";
  EXPECT_NE(one_more.error().message.find("place for no more"), std::string::npos)
      << one_more.error().message;
  engines.front().send(FlushMessage{2});
  EXPECT_TRUE(std::holds_alternative<FlushedMessage>(engines.front().answer()));
}

TEST_P(LogServerOn, WhoSaysNothingIsEndedUnlessItIsAnEngineAtWork) {
  LogServerOptions options;
  options.network = GetParam();
  options.idle_patience = std::chrono::milliseconds(200);
  const ServerThread server(options);
  Engine engine(server, {1, 11});
  write_log(engine, content(28, 100));
  Engine without_a_byte(server, {1, 12}, nullptr, kDatabase + 1);
  EXPECT_TRUE(without_a_byte.is_hung_up());
  engine.send(FlushMessage{2});
  EXPECT_TRUE(std::holds_alternative<FlushedMessage>(engine.answer()));
}

// Less than what ends a client at once, but for ever.
TEST_P(LogServerOn, WhoReadsNothingIsEnded) {
  for (const auto& key : {std::shared_ptr<const PreSharedKey>(), key_of('k')}) {
    LogServerOptions options;
    options.network = GetParam();
    options.key = key;
    options.answer_patience = std::chrono::milliseconds(300);
    const ServerThread server(options);
    Engine stubborn(server, {1, 11}, key);
    stubborn.take_little();
    write_log(stubborn, content(29, kMostContentBytes));
    stubborn.send_all(std::vector<LogMessage>(56, ReadMessage{1, 0, kMostContentBytes}));
    EXPECT_TRUE(stubborn.is_hung_up());
  }
}

// The output of a server is no client's to fill.
TEST_P(LogServerOn, SaysOnlySoMuchOfClients) {
  LogServerOptions options;
  options.network = GetParam();
  ServerThread server(options);
  const uint64_t began = monotonic_ns();
  for (int i = 0; i < 200; ++i) {
    Stranger stranger(server.address());
    stranger.send(as_bytes("\x1b[2J no frame \r\n"));
    ASSERT_TRUE(stranger.is_hung_up_on());
  }
  // So many in ten seconds, and one of those that were left out.
  const uint64_t intervals = (monotonic_ns() - began) / 10'000'000'000 + 1;
  const std::vector<std::string> told = server.told();
  EXPECT_LE(told.size(), 21 * (intervals + 1) + 2);
  EXPECT_LT(told.size(), 200u);
  for (const std::string& each : told) {
    EXPECT_TRUE(std::ranges::none_of(each, [](unsigned char c) { return c < ' ' || c == 0x7f; })) << each;
  }
}

// A Unix socket in a directory of its own.
class LocalPlace {
 public:
  LocalPlace() {
    std::string name = testing::TempDir() + "/mneme-socket-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    // Longer than the kernel takes as an address.
    folder_ += "/" + std::string(120, 'd');
    std::filesystem::create_directory(folder_);
  }
  ~LocalPlace() { std::filesystem::remove_all(std::filesystem::path(folder_).parent_path()); }

  const std::string& folder() const { return folder_; }
  std::string path() const { return folder_ + "/socket"; }
  LogServerOptions options(SocketMethod network = SocketMethod::kPoll) const {
    LogServerOptions options;
    options.network = network;
    options.listen.path = path();
    return options;
  }

 private:
  std::string folder_;
};

TEST_P(LogServerOn, ServesItsOwnUserOnAUnixSocket) {
  const LocalPlace place;
  ServerThread server(place.options(GetParam()));
  struct stat file = {};
  ASSERT_EQ(::lstat(place.path().c_str(), &file), 0);
  EXPECT_TRUE(S_ISSOCK(file.st_mode));
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(30, 700'000));
  }
  expect_log(server, content(30, 700'000), 1);
  server.stop();
  EXPECT_FALSE(std::filesystem::exists(place.path()));
  EXPECT_FALSE(connect(server, hello(LogRole::kReader)).ok());
  server.start();
  expect_log(server, content(30, 700'000), 1);
}

INSTANTIATE_TEST_SUITE_P(Networks, LogServerOn, testing::Values(SocketMethod::kUring, SocketMethod::kPoll));

TEST(LogServer, ObeysTheNewestTermAlone) {
  const ServerProcess server;
  Engine deposed(server, {1, 11});
  write_log(deposed, content(8, 1000));
  ASSERT_TRUE(connect(server, hello(LogRole::kClaimant, {2, 12})).ok());
  // Not even a flush of what was written before is confirmed any more.
  deposed.send(FlushMessage{2});
  EXPECT_EQ(refusal(deposed), RefusedMessage::Reason::kOlderTerm);
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {1, 11})).ok());
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {2, 13})).ok()) << "the term has an owner";
  EXPECT_TRUE(connect(server, hello(LogRole::kWriter, {2, 12})).ok());
  expect_log(server, content(8, 1000), 1);
}

// What an engine's lost connection still had under way changes nothing behind the back of its next one.
TEST(LogServer, ObeysAnEnginesNewestConnectionAlone) {
  const ServerProcess server;
  Engine before(server, {1, 11});
  write_log(before, content(11, 1000));
  Engine again(server, {1, 11});
  before.send(WriteMessage{1, 0, content(12, 1000)});
  EXPECT_EQ(refusal(before), RefusedMessage::Reason::kNotAllowed);
  again.send(FlushMessage{2});
  EXPECT_TRUE(std::holds_alternative<FlushedMessage>(again.answer()));
  expect_log(server, content(11, 1000), 1);
}

TEST(LogServer, APromisedTermOutlastsTheServer) {
  ServerProcess server;
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(17, 100));
  }
  ASSERT_TRUE(connect(server, hello(LogRole::kClaimant, {7, 12})).ok());
  server.kill_now();
  server.start();
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {6, 11})).ok());
}

// A log may be large, and who claims a term waits: the promise alone is written.
TEST(LogServer, APromiseLeavesTheSavedLogAsItIs) {
  ServerProcess server;
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(16, 1000));
  }
  expect_log(server, content(16, 1000), 1);
  const std::string saved = fmt::format("{}/{:016x}.log", server.directory(), kDatabase);
  struct stat before = {};
  struct stat after = {};
  ASSERT_EQ(::stat(saved.c_str(), &before), 0);
  ASSERT_TRUE(connect(server, hello(LogRole::kClaimant, {2, 12})).ok());
  ASSERT_EQ(::stat(saved.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "it was written anew";
  server.kill_now();
  server.start();
  EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {1, 11})).ok());
  expect_log(server, content(16, 1000), 1);
}

// A disk that can't be written to, and can again: the directory is away.
class DiskThatFails {
 public:
  explicit DiskThatFails(const ServerProcess& server) : directory_(server.directory()) {
    std::filesystem::rename(directory_, directory_ + ".away");
  }
  ~DiskThatFails() { std::filesystem::rename(directory_ + ".away", directory_); }

 private:
  const std::string directory_;
};

TEST(LogServer, PromisesNothingThatItsDiskDoesNotHave) {
  ServerProcess server;
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(14, 1000));
  }
  expect_log(server, content(14, 1000), 1);
  {
    const DiskThatFails disk(server);
    EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {2, 12})).ok());
    EXPECT_FALSE(connect(server, hello(LogRole::kWriter, {2, 12})).ok()) << "asking again changes nothing";
  }
  {
    Engine engine(server, {2, 12});
    engine.send(CloseMessage{1});
    engine.send(FlushMessage{1});
    ASSERT_TRUE(std::holds_alternative<FlushedMessage>(engine.answer()));
    server.kill_now();
  }
  server.start();
  auto reader = connect(server, hello(LogRole::kReader));
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  EXPECT_EQ(reader->welcome().term, (LogTerm{2, 12}));
  const auto files = reader->list();
  ASSERT_TRUE(files.ok()) << files.error().message;
  EXPECT_EQ(files->whole_term, 0u) << "the copy from before the change passes for the log";
}

TEST(LogServer, SavesWhatItCouldNotSaveBefore) {
  ServerProcess server;
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(15, 1000));
    const DiskThatFails disk(server);
    auto other = connect(server, hello(LogRole::kReader));
    ASSERT_TRUE(other.ok());
    EXPECT_FALSE(other->shut_down().ok());
  }
  EXPECT_TRUE(server.terminate());
  server.start();
  expect_log(server, content(15, 1000), 1);
}

TEST(LogServer, RefusesWhatItCannotHold) {
  const ServerProcess server(SocketMethod::kUring, nullptr, 1 << 20);
  {
    Engine engine(server, {1, 11});
    engine.send(CreateMessage{1, 1 << 21});
    EXPECT_EQ(refusal(engine), RefusedMessage::Reason::kNoMemory);
  }
  {
    Engine engine(server, {1, 11});
    engine.send(CreateMessage{1, 4096});
    engine.send(WriteMessage{1, 4095, content(9, 2)});
    EXPECT_EQ(refusal(engine), RefusedMessage::Reason::kNotAllowed);
  }
  Engine engine(server, {1, 11});
  engine.send(WriteMessage{2, 0, content(9, 2)});
  EXPECT_EQ(refusal(engine), RefusedMessage::Reason::kNoSuchFile);
}

TEST(LogServer, RefusesAnotherVersion) {
  const ServerProcess server;
  HelloMessage greeting = hello(LogRole::kReader);
  greeting.version = 2;
  const auto connection = connect(server, greeting);
  ASSERT_FALSE(connection.ok());
  EXPECT_NE(connection.error().message.find("version 1 is spoken here"), std::string::npos)
      << connection.error().message;
}

TEST(LogServer, ListensBeyondLoopbackOnlyWithAKey) {
  LogServerOptions options;
  options.listen.host = "0.0.0.0";
  std::string directory = testing::TempDir() + "/beyond-loopback-XXXXXX";
  options.directory = ::mkdtemp(directory.data());
  const auto open = LogServer::start(options);
  ASSERT_FALSE(open.ok());
  EXPECT_EQ(open.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(open.error().message.find("without a key"), std::string::npos) << open.error().message;
  options.key = key_of('k');
  EXPECT_TRUE(LogServer::start(options).ok());
  std::filesystem::remove_all(options.directory);
}

TEST(LogServer, ListensOnTcpOnlyWithAKeyOrIfThatIsAccepted) {
  LogServerOptions options;
  std::string directory = testing::TempDir() + "/without-a-key-XXXXXX";
  options.directory = ::mkdtemp(directory.data());
  std::string told;
  options.tell = [&](const std::string& sentence) { told += sentence; };
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "can be reached by every user of this machine");
  options.without_key = true;
  EXPECT_TRUE(LogServer::start(options).ok());
  EXPECT_NE(told.find("can read, overwrite and end these logs"), std::string::npos) << told;
  options.listen.host = "0.0.0.0";
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "can be reached from other machines");
  std::filesystem::remove_all(options.directory);
}

// As a server that was killed leaves it.
void leave_a_socket(const std::string& path) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // By the folder's number: the path may be too long.
  const int folder = ::open(std::filesystem::path(path).parent_path().c_str(), O_PATH | O_DIRECTORY);
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder,
                std::filesystem::path(path).filename().c_str());
  ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << std::strerror(errno);
  ::close(descriptor);
  ::close(folder);
}

TEST(LogServer, TakesThePlaceOfASocketLeftBehindAndOfNothingElse) {
  const LocalPlace place;
  leave_a_socket(place.path());
  {
    const ServerThread server(place.options());
    EXPECT_TRUE(connect(server, hello(LogRole::kReader)).ok());
    LogServerOptions other = place.options();
    other.directory = place.folder() + "/other";
    test::expect_refused(LogServer::start(other), ErrorKind::kInvalidArgument,
                         "another log server listens on unix:");
    EXPECT_TRUE(connect(server, hello(LogRole::kReader)).ok()) << "its socket is there yet";
  }
  LogServerOptions options = place.options();
  options.directory = place.folder() + "/logd";
  const std::string elsewhere = place.folder() + "/elsewhere";
  { std::ofstream(elsewhere) << "mine"; }
  std::filesystem::create_symlink(elsewhere, place.path());
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "is no socket, and stays as it is");
  std::filesystem::remove(place.path());
  std::filesystem::rename(elsewhere, place.path());
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "is no socket, and stays as it is");
  EXPECT_EQ(*read_text_file(place.path()), "mine");
}

TEST(LogServer, WorksInDirectoriesOfItsOwnAlone) {
  const LocalPlace place;
  LogServerOptions options = place.options();
  options.directory = place.folder() + "/logd";
  std::filesystem::permissions(place.folder(), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "can be written by others than its owner");
  std::filesystem::permissions(place.folder(), std::filesystem::perms::others_write,
                               std::filesystem::perm_options::remove);
  std::filesystem::permissions(options.directory, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  test::expect_refused(LogServer::start(options), ErrorKind::kInvalidArgument,
                       "can be written by others than its owner");
  std::filesystem::permissions(options.directory, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::remove);
  EXPECT_TRUE(LogServer::start(options).ok());
  struct stat made = {};
  ASSERT_EQ(::stat(options.directory.c_str(), &made), 0);
  EXPECT_EQ(made.st_mode & 0777, 0700u);
}

TEST(LogServer, AnEngineSendsNoLogInTheClear) {
  const auto connection = LogConnection::open({"192.0.2.1", 7433}, nullptr, HelloMessage{}, kPatience);
  ASSERT_FALSE(connection.ok());
  EXPECT_NE(connection.error().message.find("in the clear"), std::string::npos) << connection.error().message;
}

TEST(LogServer, ADamagedCopyIsRefused) {
  ServerProcess server;
  {
    Engine engine(server, {1, 11});
    write_log(engine, content(10, 5000));
  }
  expect_log(server, content(10, 5000), 1);
  server.kill_now();
  const std::string path = fmt::format("{}/{:016x}.log", server.directory(), kDatabase);
  ASSERT_TRUE(load_logs(server.directory()).ok());
  { std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(3000).put('x'); }
  const auto loaded = load_logs(server.directory());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(loaded.error().message.find(path), std::string::npos);
}

// As no server writes it, with a right checksum: the second file's bytes would go where the first has less
// room.
TEST(LogServer, ACopyThatHoldsAFileTwiceIsRefused) {
  std::string directory = testing::TempDir() + "/mneme-twice-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const LogTerm term{1, 11};
  LogStore log;
  ASSERT_FALSE(log.claim(term));
  for (const uint32_t file : {1u, 2u}) {
    ASSERT_FALSE(log.create(term, {file, file * uint64_t{65536}}, 1 << 20));
    ASSERT_FALSE(log.write(term, {file, 0, content(10, file * size_t{60000})}));
  }
  ASSERT_TRUE(save_log(directory, kDatabase, log).ok());
  const std::string path = fmt::format("{}/{:016x}.log", directory, kDatabase);
  std::string bytes = *read_text_file(path);
  constexpr size_t kChecksumAt = 8;
  constexpr size_t kBodyAt = 12;
  constexpr size_t kSecondNumberAt = 68;
  ASSERT_EQ(bytes[kSecondNumberAt], 2);
  bytes[kSecondNumberAt] = 1;
  const uint32_t checksum = crc32c(as_bytes(bytes).subspan(kBodyAt));
  std::memcpy(bytes.data() + kChecksumAt, &checksum, sizeof checksum);
  ASSERT_TRUE(replace_text_file(path, bytes).ok());
  const auto loaded = load_logs(directory);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDamaged);
  EXPECT_NE(loaded.error().message.find("it holds a file twice"), std::string::npos)
      << loaded.error().message;
  std::filesystem::remove_all(directory);
}

TEST(LogServer, AKeyFileIsASecret) {
  std::string directory = testing::TempDir() + "/mneme-key-XXXXXX";
  ASSERT_NE(::mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/key";
  { std::ofstream(path) << std::string(40, 'k') << '\n'; }
  ::chmod(path.c_str(), 0644);
  EXPECT_FALSE(read_key_file(path).ok()) << "others may read it";
  ::chmod(path.c_str(), 0600);
  const auto key = read_key_file(path);
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ((*key)->secret, std::string(40, 'k'));
  { std::ofstream(path) << "short\n"; }
  EXPECT_FALSE(read_key_file(path).ok());
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  test::expect_refused(read_key_file(path), ErrorKind::kInvalidArgument, "is no regular file");
  test::expect_refused(read_key_file("/dev/zero"), ErrorKind::kInvalidArgument, "is no regular file");
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace mneme
