// Goal: whatever the program does to its process (its locale, working directory, floating point, signals,
// children, threads that end), the database works as without it.
//
// Method: a locale with a decimal comma is written by the test: what glibc would read of an installed one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cfenv>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <locale>
#include <set>
#include <thread>

#include "embedding/testing/embedded_fixture.h"
#include "procedures/native/native_toolchain.h"

namespace mneme {
namespace {

using testing::HasSubstr;

// What glibc reads of an installed locale (locale/localeinfo.h): a number that says which category and layout
// it is, the count of entries, where each begins, and the entries: the decimal point, the thousands'
// separator, grouping, the first two as wide characters, the character set.
void write_comma_locale(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder / "comma");
  const std::string entries(
      ","
      "\0"
      "."
      "\0"
      "\3\3\0\0"
      ","
      "\0\0\0"
      "."
      "\0\0\0"
      "ANSI_X3.4-1968\0",
      31);
  const uint32_t head[] = {0x20031115 ^ LC_NUMERIC, 6, 32, 34, 36, 40, 44, 48};
  std::ofstream file(folder / "comma" / "LC_NUMERIC", std::ios::binary);
  file.write(reinterpret_cast<const char*>(head), sizeof head);
  file.write(entries.data(), static_cast<std::streamsize>(entries.size()));
}

class CommaLocale {
 public:
  CommaLocale() {
    write_comma_locale(folder_);
    ::setenv("LOCPATH", folder_.c_str(), 1);
    const bool is_set = std::setlocale(LC_NUMERIC, "comma") != nullptr;
    EXPECT_TRUE(is_set && std::string(std::localeconv()->decimal_point) == ",");
    std::locale::global(std::locale(std::locale::classic(), new Grouped));
  }
  ~CommaLocale() {
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }

 private:
  struct Grouped : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::filesystem::path folder_ = testing::TempDir() + "mneme-locale-" + std::to_string(getpid());
};

// Everything that reads or writes a fraction.
constexpr const char* kFractions =
    "SELECT CAST('1.5' AS DOUBLE PRECISION), CAST(CAST(1234567.25 AS DOUBLE PRECISION) AS TEXT), "
    "CAST(CAST('2.675' AS DOUBLE PRECISION) AS NUMERIC(10,2)), CAST(1.25 AS DOUBLE PRECISION) * 3, "
    "CAST('9007199254740993' AS DOUBLE PRECISION), CAST('5e-324' AS DOUBLE PRECISION), CAST(CAST(12345.678 "
    "AS NUMERIC(10,3)) AS TEXT), "
    "CAST('2024-02-29 01:02:03.5' AS TIMESTAMP) FROM counter WHERE id = 1";

TEST_F(EmbeddedDatabaseTest, ADecimalCommaInTheProcessesLocaleChangesNothing) {
  std::vector<std::vector<std::optional<std::string>>> before;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection, kTable);
    run(connection, "INSERT INTO counter VALUES (1, 1)");
    const StatementResult fractions = connection.run(kFractions);
    ASSERT_TRUE(fractions.ok()) << fractions.message;
    before = fractions.rows;
    ASSERT_EQ(before.size(), 1u);
    EXPECT_EQ(before[0][0], "1.5");
    EXPECT_EQ(before[0][1], "1234567.25");
    run(connection, "CREATE TABLE kept (id INT PRIMARY KEY, d DOUBLE PRECISION, t VARCHAR(30))");
    run(connection,
        "CREATE PROCEDURE keep(p_id INT, p_text VARCHAR(30)) LANGUAGE plpgsql AS $$ BEGIN "
        "INSERT INTO kept VALUES (p_id, CAST(p_text AS DOUBLE PRECISION), CAST(CAST(p_text AS DOUBLE "
        "PRECISION) / 3 AS TEXT)); END; $$");
    ASSERT_TRUE(connection.call("keep", {integer(1), Argument::of(Value::of_text("2.5"))}).committed());
  }
  std::vector<std::vector<std::optional<std::string>>> kept;
  {
    const CommaLocale locale;
    const auto database = open();  // replays the call
    Connection connection = connect(*database);
    EXPECT_EQ(connection.run(kFractions).rows, before);
    const CallResult call = connection.call("keep", {integer(2), Argument::of(Value::of_text("2.5"))});
    EXPECT_TRUE(call.committed()) << call.message;
    EXPECT_FALSE(connection.call("keep", {integer(3), Argument::of(Value::of_text("2,5"))}).committed());
    kept = connection.run("SELECT d, t FROM kept ORDER BY id").rows;
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0], kept[1]);
    EXPECT_EQ(kept[0][0], "2.5");
  }
  const auto database = open();
  EXPECT_EQ(connect(*database).run("SELECT d, t FROM kept ORDER BY id").rows, kept);
}

// A third is rounded, 5e-324 is flushed to zero, and 0.0 / 0.0 traps, where the thread says so.
TEST_F(EmbeddedDatabaseTest, AThreadsFloatingPointModeChangesNothingAndStays) {
  std::vector<std::vector<std::optional<std::string>>> kept;
  {
    const auto database = open();
    Connection connection = connect(*database);
    run(connection,
        "CREATE TABLE kept (id INT PRIMARY KEY, third DOUBLE PRECISION, tiny DOUBLE PRECISION, sum DOUBLE "
        "PRECISION)");
    run(connection,
        "CREATE PROCEDURE keep(p_id INT, p_one DOUBLE PRECISION, p_tiny DOUBLE PRECISION) LANGUAGE plpgsql "
        "AS $$ BEGIN "
        "INSERT INTO kept VALUES (p_id, p_one / 3, p_tiny / 2, CAST('0.1' AS DOUBLE PRECISION) + p_one); "
        "END; $$");
    const Argument one = Argument::of(Value::of_double(1));
    const Argument tiny = Argument::of(Value::of_double(4e-320));
    ASSERT_TRUE(connection.call("keep", {integer(1), one, tiny}).committed());

    const uint32_t plain = _mm_getcsr();
    std::fesetround(FE_UPWARD);
    EXPECT_TRUE(connection.call("keep", {integer(2), one, tiny}).committed());
    run(connection, "INSERT INTO kept VALUES (12, CAST(1 AS DOUBLE PRECISION) / 3, 0, 0)");
    EXPECT_EQ(std::fegetround(), FE_UPWARD) << "the program's stays";
    std::fesetround(FE_TONEAREST);
    constexpr uint32_t kFlushToZero = 0x8040;
    _mm_setcsr(plain | kFlushToZero);
    EXPECT_TRUE(connection.call("keep", {integer(3), one, tiny}).committed());
    EXPECT_EQ(_mm_getcsr() & kFlushToZero, kFlushToZero);
    _mm_setcsr(plain);
    ::feenableexcept(FE_INEXACT | FE_UNDERFLOW);
    EXPECT_TRUE(connection.call("keep", {integer(4), one, tiny}).committed());
    std::fesetenv(FE_DFL_ENV);
    kept = connection.run("SELECT third, tiny, sum FROM kept WHERE id < 10 ORDER BY id").rows;
    ASSERT_EQ(kept.size(), 4u);
    EXPECT_NE(kept[0][1], "0");
    for (const auto& row : kept) EXPECT_EQ(row, kept[0]);
    EXPECT_EQ(value(connection, "SELECT third FROM kept WHERE id = 12"), kept[0][0]);
  }
  std::fesetround(FE_UPWARD);
  {
    const auto database = open();
    EXPECT_EQ(connect(*database).run("SELECT third, tiny, sum FROM kept WHERE id < 10 ORDER BY id").rows,
              kept);
  }
  std::fesetround(FE_TONEAREST);
}

TEST_F(EmbeddedDatabaseTest, ARelativeDirectoryIsOneOfTheWorkingDirectoryOfItsOpening) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directories(directory_ + "/here");
  std::filesystem::create_directories(directory_ + "/there");
  std::filesystem::current_path(directory_ + "/here");
  {
    DurableLogOptions log;
    log.segments.bytes = size_t{1} << 20;
    log.ring_bytes = size_t{1} << 20;
    auto opened = EmbeddedDatabase::open("bank", {.execution = Execution::kInterpreted, .log = log});
    std::filesystem::current_path(directory_ + "/there");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Connection connection = connect(**opened);
    run(connection, "CREATE TABLE long (id INT PRIMARY KEY, t VARCHAR(8000))");
    run(connection, "INSERT INTO long VALUES (0, repeat('x', 8000))");
    // Over several segments, which are made one after the other.
    for (int i = 1; i <= 400; ++i)
      run(connection, "INSERT INTO long VALUES (" + std::to_string(i) + ", repeat('x', 8000))");
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_ + "/there"));
  std::filesystem::current_path(directory_ + "/here");
  {
    auto opened = EmbeddedDatabase::open("bank", {.execution = Execution::kInterpreted});
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    Connection connection = connect(**opened);
    EXPECT_EQ(value(connection, "SELECT count(*) FROM long"), "401");
  }
  std::filesystem::current_path(before);
  EXPECT_FALSE(EmbeddedDatabase::open("").ok());
}

// Runs in a child of fork(); its status, 0 if all went well.
template <typename Do>
int in_child(Do do_it) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(do_it());
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(EmbeddedDatabaseTest, AChildOfForkHasNotGotTheDatabase) {
  auto database = open();
  std::optional<Connection> connection(connect(*database));
  run(*connection, kTable);
  run(*connection, kAdd);
  run(*connection, "INSERT INTO counter VALUES (1, 0)");
  run(*connection, "BEGIN");
  run(*connection, "UPDATE counter SET n = 1 WHERE id = 1");
  EXPECT_EQ(in_child([&] {
              const StatementResult statement = connection->run("COMMIT");
              if (statement.sqlstate != "08003" || statement.message.find("forked") == std::string::npos)
                return 1;
              const CallResult call = connection->call("add", {integer(1), integer(1)});
              if (call.status != CallResult::Status::kRefused || call.sqlstate != "08003") return 2;
              if (database->connect().ok()) return 3;
              if (EmbeddedDatabase::open(directory_, {.execution = Execution::kInterpreted}).ok()) return 4;
              connection.reset();
              database.reset();
              return 0;
            }),
            0);
  run(*connection, "COMMIT");
  EXPECT_TRUE(connection->call("add", {integer(1), integer(1)}).committed());
  EXPECT_EQ(value(*connection, "SELECT n FROM counter"), "2");
}

// Over each kind of log whose files are locked.
TEST_F(EmbeddedDatabaseTest, AChildOfForkThatLivesOnDoesNotKeepTheDirectory) {
  std::vector<DurableLogOptions> logs(4);
  logs[1].device_options.io.method = IoMethod::kThreads;
  logs[2].layout = LogLayout::kEpoch;
  logs[3].device = LogDeviceKind::kNvm;
  for (DurableLogOptions& log : logs) {
    std::filesystem::remove_all(directory_);
    log.segments.bytes = size_t{4} << 20;
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    auto database = open({.log = log});
    std::optional<Connection> connection(connect(*database));
    run(*connection, kTable);
    const pid_t child = ::fork();
    if (child == 0) {
      char byte;
      ::close(ends[1]);
      ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
    }
    run(*connection, "INSERT INTO counter VALUES (1, 3)");
    connection.reset();
    database.reset();
    database = open({.log = log});
    if (database != nullptr) {
      EXPECT_EQ(value(*std::make_unique<Connection>(connect(*database)), "SELECT n FROM counter"), "3");
    }
    ::close(ends[0]);
    ::close(ends[1]);
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    database.reset();
  }
}

TEST_F(EmbeddedDatabaseTest, MayBeAStaticObject) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto run_and_exit = [this] {
    static std::optional<Connection> connection;  // ends after the database
    static std::unique_ptr<EmbeddedDatabase> database;
    database = open();
    connection.emplace(connect(*database));
    run(*connection, kTable);
    run(*connection, "BEGIN");
    run(*connection, "INSERT INTO counter VALUES (1, 1)");
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(run_and_exit(), testing::ExitedWithCode(0), "");
}

std::set<std::string> names_in(const char* directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename().string());
  return names;
}

std::string link_of(const std::string& descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/fd/" + descriptor, error).string();
}

TEST_F(EmbeddedDatabaseTest, OpeningAndClosingLeavesNothingOpen) {
  const auto cycle = [&] {
    const auto database = open();
    Connection connection = connect(*database);
    connection.run(kTable);
    connection.run("DROP TABLE counter");
    EXPECT_FALSE(EmbeddedDatabase::open(directory_, {.execution = Execution::kInterpreted}).ok());
  };
  for (int i = 0; i < 3; ++i) cycle();
  const size_t descriptors = names_in("/proc/self/fd").size();
  const size_t threads = names_in("/proc/self/task").size();
  for (int i = 0; i < 10; ++i) cycle();
  std::string open_now;
  for (const std::string& descriptor : names_in("/proc/self/fd"))
    open_now += descriptor + " " + link_of(descriptor) + "\n";
  EXPECT_LE(names_in("/proc/self/fd").size(), descriptors) << open_now;
  // The library for parallel loops keeps its own, as many as there are processors.
  EXPECT_LE(names_in("/proc/self/task").size(), threads + std::thread::hardware_concurrency());
}

TEST_F(EmbeddedDatabaseTest, ThreadsOfADatabaseRunNoHandlersOfTheProgram) {
  const std::set<std::string> before = names_in("/proc/self/task");
  const auto database = open();
  Connection connection = connect(*database);
  run(connection, kTable);
  int looked_at = 0;
  int ending = 0;
  for (const std::string& thread : names_in("/proc/self/task")) {
    if (before.contains(thread)) continue;
    std::ifstream status("/proc/self/task/" + thread + "/status");
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with("SigBlk:")) continue;
      const uint64_t blocked = std::stoull(line.substr(7), nullptr, 16);
      for (const int signal : {SIGALRM, SIGUSR1, SIGCHLD, SIGPROF, SIGPIPE})
        EXPECT_TRUE(blocked >> (signal - 1) & 1) << signal;
      // the kernel's own threads, of io_uring, block everything
      ending += blocked >> (SIGTERM - 1) & 1 ? 0 : 1;
      ++looked_at;
    }
  }
  EXPECT_GT(looked_at, 0);
  EXPECT_GT(ending, 0);
  sigset_t own;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_FALSE(sigismember(&own, SIGALRM)) << "the program's own mask stays";
}

// Each system call that waits is cut short by a handler that asks for no restart.
TEST_F(EmbeddedDatabaseTest, SignalsInterruptNothing) {
  static std::atomic<int> handled{0};
  struct sigaction action {};
  action.sa_handler = [](int) { handled.fetch_add(1); };
  struct sigaction former {};
  ASSERT_EQ(::sigaction(SIGALRM, &action, &former), 0);
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  int64_t rows = 0;
  for (int life = 0; life < 3; ++life) {
    const auto database = open();
    if (database == nullptr) break;
    Connection connection = connect(*database);
    if (life == 0) run(connection, kTable);
    const int before = handled.load();
    // So long that some signals come meanwhile.
    do run(connection, "INSERT INTO counter VALUES (" + std::to_string(rows++) + ", 0)");
    while (handled.load() < before + 5);
    EXPECT_EQ(value(connection, "SELECT count(*) FROM counter"), std::to_string(rows));
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &former, nullptr);
}

// As daemons do; a program that waits for any child takes the status away as well.
TEST_F(EmbeddedDatabaseTest, AProgramThatIgnoresItsChildrenHasACompiler) {
  ::setenv("MNEME_CXX", "/bin/ls", 1);  // it tells its version
  const auto former = ::signal(SIGCHLD, SIG_IGN);
  const Result<NativeToolchain> toolchain = NativeToolchain::of_this_program();
  ::signal(SIGCHLD, former);
  ::unsetenv("MNEME_CXX");
  ASSERT_TRUE(toolchain.ok()) << toolchain.error().message;
  EXPECT_THAT(toolchain->version, HasSubstr("ls"));
}

TEST_F(EmbeddedDatabaseTest, WorksOnASmallStack) {
  const auto database = open();
  struct Work {
    EmbeddedDatabase& database;
    std::string fault;
  } work{*database, "not run"};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  constexpr size_t kStackBytes = size_t{4} << 20;  // its frames are several times as large
#else
  constexpr size_t kStackBytes = size_t{512} << 10;
#endif
#else
  constexpr size_t kStackBytes = size_t{512} << 10;
#endif
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t thread;
  ASSERT_EQ(::pthread_create(
                &thread, &attributes,
                [](void* of) -> void* {
                  auto& mine = *static_cast<Work*>(of);
                  Connection connection = connect(mine.database);
                  run(connection, kTable);
                  run(connection, kAdd);
                  run(connection, "INSERT INTO counter VALUES (1, 0)");
                  const CallResult result = connection.call("add", {integer(1), integer(2)});
                  mine.fault = result.message;
                  run(connection, "SELECT id, n + 1 FROM counter ORDER BY id");
                  return nullptr;
                },
                &work),
            0);
  ::pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(work.fault, "");
}

}  // namespace
}  // namespace mneme
