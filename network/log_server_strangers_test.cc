// Goal: no client harms a log server: neither garbage, silence, floods nor invented databases keep an engine
// out or take more than their share. Method: as log_server_test.cc.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "base/clock.h"
#include "network/log_connection.h"
#include "network/log_server.h"
#include "network/saved_log.h"
#include "network/testing/log_server_fixture.h"
#include "network/tls_session.h"

namespace mneme {
namespace {

using test::content;
using test::Engine;
using test::expect_log;
using test::hello;
using test::kDatabase;
using test::key_of;
using test::kPatience;
using test::LogServerOn;
using test::ServerProcess;
using test::ServerThread;
using test::Stranger;
using test::write_log;

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

}  // namespace
}  // namespace mneme
