// Goal: no call waits for the compiler: calls are interpreted until the machine code is there, and then run
// by it; a database that is closed before leaves neither a compiler nor its files.
//
// Method: MNEME_CXX names a script that answers for its version at once, and compiles only when the test
// writes a word into a FIFO that it reads. So the test decides when the compiler goes on, and nothing depends
// on how long anything takes.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "embedding/embedded_database.h"
#include "procedures/native/native_build.h"

namespace mneme {
namespace {

class BackgroundCodeTest : public testing::Test {
 protected:
  BackgroundCodeTest() {
    CHECK(mkdtemp(home_.data()) != nullptr);
    CHECK(::mkfifo(gate().c_str(), 0600) == 0);
    // Opened for both, the gate takes a word whether or not a compiler reads: where none runs, the test fails
    // and does not wait.
    gate_file_ = ::open(gate().c_str(), O_RDWR | O_CLOEXEC);
    CHECK(gate_file_ >= 0);
    std::ofstream(compiler()) << "#!/bin/sh\n"
                              << "[ \"$1\" = --version ] && exec " << kNativeBuild.compiler << " --version\n"
                              << "echo $$ > " << process_file() << ".new\n"
                              << "mv " << process_file() << ".new " << process_file() << "\n"
                              << "read word < " << gate() << "\n"
                              << "[ \"$word\" = compile ] || exit 1\n"
                              << "exec " << kNativeBuild.compiler << " \"$@\"\n";
    CHECK(::chmod(compiler().c_str(), 0700) == 0);
    ::setenv("MNEME_CXX", compiler().c_str(), 1);
    // Objects of a compiler that is gone after the test do not belong in the user's cache.
    if (const char* const cache = std::getenv("XDG_CACHE_HOME")) former_cache_ = cache;
    ::setenv("XDG_CACHE_HOME", (home_ + "/cache").c_str(), 1);
    opened_ = *EmbeddedDatabase::open(home_ + "/database", {.notice = [this](const std::string& sentence) {
                                        notices_.push_back(sentence);
                                      }});
    connection_.emplace(*opened_->connect());
    run_statement("CREATE TABLE tally (id INT PRIMARY KEY, n BIGINT NOT NULL)");
    run_statement(
        "CREATE PROCEDURE count_up(p_id INT, INOUT p_now BIGINT) LANGUAGE plpgsql AS $$ BEGIN "
        "UPDATE tally SET n = n + 1 WHERE id = p_id RETURNING n INTO p_now; END; $$");
    run_statement("INSERT INTO tally VALUES (1, 0)");
  }
  ~BackgroundCodeTest() override {
    connection_.reset();
    opened_.reset();
    ::unsetenv("MNEME_CXX");
    if (former_cache_) {
      ::setenv("XDG_CACHE_HOME", former_cache_->c_str(), 1);
    } else {
      ::unsetenv("XDG_CACHE_HOME");
    }
    ::close(gate_file_);
    std::filesystem::remove_all(home_);
  }

  std::string compiler() const { return home_ + "/c++"; }
  std::string gate() const { return home_ + "/gate"; }
  std::string process_file() const { return home_ + "/process"; }
  void run_statement(const std::string& text) {
    const StatementResult result = connection_->run(text);
    ASSERT_TRUE(result.ok()) << text << ": " << result.message;
  }
  int64_t count_up() {
    const CallResult result = connection_->call("count_up", {Argument::of(Value::of_int(1))});
    EXPECT_TRUE(result.committed()) << result.message;
    return result.committed() ? result.results[0].scalar.as_int() : -1;
  }
  void let_compiler(const std::string& word) const {
    const std::string line = word + "\n";
    CHECK(::write(gate_file_, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  }
  // Returns the compiler's process once it runs.
  pid_t await_compiler() const {
    pid_t process = 0;
    while (!(std::ifstream(process_file()) >> process)) std::this_thread::yield();
    return process;
  }

  std::string home_ = testing::TempDir() + "background_code_XXXXXX";
  int gate_file_ = -1;
  std::optional<std::string> former_cache_;
  std::vector<std::string> notices_;
  std::unique_ptr<EmbeddedDatabase> opened_;
  std::optional<Connection> connection_;
};

TEST_F(BackgroundCodeTest, CallsAreInterpretedUntilTheirCodeIsThere) {
  for (int64_t i = 1; i <= 3; ++i) EXPECT_EQ(count_up(), i);
  let_compiler("compile");
  EXPECT_EQ(opened_->await_machine_code(), Execution::kNative);
  for (int64_t i = 4; i <= 6; ++i) EXPECT_EQ(count_up(), i);
  EXPECT_THAT(notices_, testing::IsEmpty());
}

TEST_F(BackgroundCodeTest, CallsStayInterpretedWhereTheCompilerFails) {
  EXPECT_EQ(count_up(), 1);
  EXPECT_THAT(notices_, testing::IsEmpty());
  let_compiler("fail");
  EXPECT_EQ(opened_->await_machine_code(), Execution::kInterpreted);
  EXPECT_EQ(count_up(), 2);
  EXPECT_EQ(count_up(), 3);
  EXPECT_THAT(notices_, testing::ElementsAre(testing::HasSubstr("procedures are interpreted: ")));
}

TEST_F(BackgroundCodeTest, AChangeOfTheSchemaEndsTheCompilerOfTheFormerOne) {
  EXPECT_EQ(count_up(), 1);
  const pid_t former = await_compiler();
  std::filesystem::remove(process_file());
  run_statement("CREATE TABLE other (id INT PRIMARY KEY)");
  EXPECT_EQ(count_up(), 2);
  EXPECT_NE(await_compiler(), former);
  EXPECT_EQ(::kill(former, 0), -1);
  let_compiler("compile");
  EXPECT_EQ(opened_->await_machine_code(), Execution::kNative);
  EXPECT_EQ(count_up(), 3);
}

TEST_F(BackgroundCodeTest, ClosingEndsTheCompilerAndRemovesItsFiles) {
  EXPECT_EQ(count_up(), 1);
  const pid_t running = await_compiler();
  connection_.reset();
  opened_.reset();
  EXPECT_EQ(::kill(running, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home_ + "/database"))
    EXPECT_THAT(entry.path().string(), testing::Not(testing::HasSubstr("compiling-")));
}

}  // namespace
}  // namespace mneme
