// Goal: logging/ serves an engine that is not ours: this program links it and base/, and nothing else.
// Method: a toy key-value store in these few lines logs its own commands, by each buffer in turn. Closed, it
// is recovered to what it held; killed in the middle, to a state that holds all that it acknowledged and that
// a serial replay of the log gives.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <csignal>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

using Entries = std::map<std::string, std::string, std::less<>>;

// A command: the key's length, the key, and for a put "=" and the value.
std::string command_of(std::string_view key, std::optional<std::string_view> value) {
  std::string command(1, static_cast<char>(key.size()));
  command += key;
  if (value) command.append("=").append(*value);
  return command;
}

void apply_command(std::string_view command, Entries& entries) {
  const auto length = static_cast<uint8_t>(command[0]);
  const std::string key(command.substr(1, length));
  if (command.size() == 1u + length) {
    entries.erase(key);
  } else {
    entries[key] = command.substr(2u + length);
  }
}

Entries replay(const LogContents& log) {
  Entries entries;
  for (const RecordView& record : log.records)
    apply_command({reinterpret_cast<const char*>(record.payload.data()), record.payload.size()}, entries);
  return entries;
}

// Keys in stripes, each under a lock; a command's LSN is drawn under it, so that the log's order is the
// store's.
class Store {
 public:
  explicit Store(CommitLog& log) : log_(log) {}

  Lsn put(WorkerId worker, const std::string& key, std::string_view value) {
    return change(worker, key, value);
  }
  Lsn erase(WorkerId worker, const std::string& key) { return change(worker, key, std::nullopt); }
  // At rest.
  Entries entries() const {
    Entries all;
    for (const Stripe& stripe : stripes_) all.insert(stripe.entries.begin(), stripe.entries.end());
    return all;
  }

 private:
  struct Stripe {
    std::mutex mutex;
    Entries entries;
  };

  Lsn change(WorkerId worker, const std::string& key, std::optional<std::string_view> value) {
    const std::string command = command_of(key, value);
    const auto bytes = static_cast<uint32_t>(command.size());
    CHECK(log_.await_space(worker, bytes));
    Lsn lsn;
    {
      Stripe& stripe = stripes_[std::hash<std::string>()(key) % stripes_.size()];
      std::lock_guard lock(stripe.mutex);
      lsn = log_.reserve(worker, bytes);
      apply_command(command, stripe.entries);
    }
    log_.fill(worker, lsn, RecordKind::kCommand, as_bytes(command));
    return lsn;
  }

  CommitLog& log_;
  std::array<Stripe, 16> stripes_;
};

constexpr uint32_t kWorkers = 3;

DurableLogOptions options_of(LogBufferKind kind) {
  DurableLogOptions options = small_log(kWorkers);
  options.buffer = kind;
  return options;
}

// Each worker counts up under a key of its own, and all of them fight over a few that they share.
Lsn work(Store& store, WorkerId worker, uint64_t number) {
  const std::string shared = "shared" + std::to_string((number * 7 + worker.value) % 20);
  if (number % 3 == 0) {
    store.erase(worker, shared);
  } else {
    store.put(worker, shared, std::to_string(worker.value) + ":" + std::to_string(number));
  }
  return store.put(worker, "own" + std::to_string(worker.value), std::to_string(number));
}

class LoggingAlone : public testing::TestWithParam<LogBufferKind> {};

TEST_P(LoggingAlone, AStoreThatWasClosedIsRecovered) {
  TemporaryDirectory directory;
  Entries held;
  {
    OpenLog opened = open_for_work(directory.path(), options_of(GetParam()));
    Store store(*opened.log);
    std::vector<std::jthread> threads;
    for (uint32_t i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&, i] {
        for (uint64_t number = 1; number <= 500; ++number) work(store, WorkerId{i}, number);
      });
    }
    threads.clear();
    held = store.entries();
  }
  const LogContents log = must(read_directory(directory.path()));
  EXPECT_EQ(log.records.size(), 2 * 500 * kWorkers);
  EXPECT_EQ(replay(log), held);
}

// The child writes one to the pipe for each call that is durable, until it is killed: its worker and its
// number.
struct Acknowledgement {
  uint32_t worker;
  uint64_t number;
};

[[noreturn]] void run_until_killed(const std::string& directory, LogBufferKind kind, int pipe) {
  OpenLog opened = open_for_work(directory, options_of(kind));
  Store store(*opened.log);
  std::vector<std::jthread> threads;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t number = 1;; ++number) {
        const Lsn lsn = work(store, WorkerId{i}, number);
        if (number % 8 != 0) continue;
        if (!opened.log->wait_durable(lsn)) _exit(1);
        const Acknowledgement done{i, number};
        if (::write(pipe, &done, sizeof done) != sizeof done) _exit(1);
      }
    });
  }
  threads.clear();
  _exit(1);
}

TEST_P(LoggingAlone, AStoreThatWasKilledLosesNothingThatItAcknowledged) {
  TemporaryDirectory directory;
  std::array<int, 2> pipe;
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) run_until_killed(directory.path(), GetParam(), pipe[1]);
  ::close(pipe[1]);

  std::array<uint64_t, kWorkers> acknowledged{};
  Acknowledgement done;
  for (int count = 0; count < 60 && ::read(pipe[0], &done, sizeof done) == sizeof done; ++count)
    acknowledged[done.worker] = done.number;
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself, with status " << status;
  while (::read(pipe[0], &done, sizeof done) == sizeof done) acknowledged[done.worker] = done.number;
  ::close(pipe[0]);

  const LogContents log = must(read_directory(directory.path(), {.threads = 2}));
  const Entries recovered = replay(log);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < kWorkers; ++i) {
    sum += acknowledged[i];
    const auto own = recovered.find("own" + std::to_string(i));
    uint64_t number = 0;
    if (own != recovered.end())
      std::from_chars(own->second.data(), own->second.data() + own->second.size(), number);
    EXPECT_GE(number, acknowledged[i]) << "worker " << i;
  }
  EXPECT_GT(sum, 0u);
  // A worker's commands stand in the order in which it gave them, without a gap: every one changes two keys.
  std::array<uint64_t, kWorkers> last{};
  for (const RecordView& record : log.records) {
    const std::string_view command(reinterpret_cast<const char*>(record.payload.data()),
                                   record.payload.size());
    if (command.substr(1, 3) != "own") continue;
    const auto worker = static_cast<uint32_t>(command[4] - '0');
    uint64_t number = 0;
    std::from_chars(command.data() + 6, command.data() + command.size(), number);
    ASSERT_EQ(number, ++last[worker]);
  }
}

INSTANTIATE_TEST_SUITE_P(Buffers, LoggingAlone, testing::ValuesIn(log_buffer_kinds()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(LoggingAloneDevices, RefusesADeviceWhoseLibraryIsNotLinked) {
  const TemporaryDirectory directory;
  const auto manifest = must(ManifestFile::create(directory.path(), new_manifest()));
  must(begin_incarnation(*manifest, must(read_log(directory.path(), manifest->current(), {}))));
  DurableLogOptions options = small_log();
  options.device = must(log_device_kind("remote"));
  const auto log = open_directory_log(*manifest, options);
  ASSERT_FALSE(log.ok());
  EXPECT_EQ(log.error().kind, ErrorKind::kInvalidArgument);
  EXPECT_NE(log.error().message.find("without the library for the log device remote"), std::string::npos)
      << log.error().message;
}

}  // namespace
}  // namespace mneme
