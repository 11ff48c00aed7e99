// Goal: a log server keeps what it was given, through ends in order; forgets aloud what it lost; obeys the
// newest term alone. That no client harms it is log_server_strangers_test.cc's. Method: servers in processes
// of their own, over loopback, on both ways to serve the network.
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
using test::refusal;
using test::ServerProcess;
using test::ServerThread;
using test::write_log;

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

// Messages that were still under way on an engine's lost connection change nothing once its next connection
// is open.
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

// A log may be large, and a claim of a term waits: the promise alone is written.
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
