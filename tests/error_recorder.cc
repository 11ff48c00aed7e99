// Tells which message's text each test fills in: a library that scripts/errors loads before a test's programs
// (LD_PRELOAD). It takes the place of fmt::vformat, through which all messages of errors go, so that what is
// shipped knows nothing of it.
//
// MNEME_ERRORS_TO  the file that gets a line for each text and process: the test, a tab, the text
// MNEME_TEST       the test, for its children; a test's own process takes it from its command line
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

namespace {

// "Suite.Name" of the one test that a filter names, or a script's name; empty: neither.
std::string test_of_command_line() {
  std::ifstream file("/proc/self/cmdline");
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view kFilter = "--gtest_filter=";
  constexpr std::string_view kScript = "_test.py";
  for (size_t at = 0; at < words.size();) {
    const std::string_view word = words.c_str() + at;
    at += word.size() + 1;
    if (word.starts_with(kFilter)) return std::string(word.substr(kFilter.size()));
    if (word.ends_with(kScript)) return std::string(word.substr(word.rfind('/') + 1));
  }
  return {};
}

class Recorder {
 public:
  Recorder() {
    const char* const path = std::getenv("MNEME_ERRORS_TO");
    if (path == nullptr) return;
    if (const std::string test = test_of_command_line(); !test.empty())
      ::setenv("MNEME_TEST", test.c_str(), 1);
    descriptor_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }

  void add(std::string_view text) {
    if (descriptor_ < 0) return;
    {
      const std::lock_guard lock(mutex_);
      if (!seen_.emplace(text).second) return;
    }
    const char* const test = std::getenv("MNEME_TEST");
    std::string line = test == nullptr ? "?" : test;
    line += '\t';
    for (const char each : text) line += each == '\n' ? std::string("\\n") : std::string(1, each);
    line += '\n';
    // EFBIG: of a test that limits the size of files.
    if (::write(descriptor_, line.data(), line.size()) < 0 && errno != EFBIG) std::abort();
  }

 private:
  int descriptor_ = -1;
  std::mutex mutex_;
  std::unordered_set<std::string> seen_;
};

Recorder& recorder() {
  static auto* const kRecorder = new Recorder();  // to the end: others' destructors may format, too
  return *kRecorder;
}

// Before main(), as children take the test's name from the environment.
[[maybe_unused]] const Recorder& kReady = recorder();

}  // namespace

FMT_BEGIN_NAMESPACE

std::string vformat(string_view text, format_args arguments) {
  recorder().add({text.data(), text.size()});
  std::string filled;
  vformat_to(std::back_inserter(filled), text, arguments);
  return filled;
}

FMT_END_NAMESPACE
