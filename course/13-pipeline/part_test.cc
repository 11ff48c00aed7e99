// Goal: windows come in their order, the next one is read meanwhile and no more than that one, an error is
// one, and a change of the schema is never in the middle. Method: a log whose windows are made here
// (read_window() is the test's), which notes what is read, and by whom.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "course/grading.h"
#include "recovery/log/record_stream.h"

namespace mneme {
namespace course {
namespace {

constexpr size_t kNoWindow = 1000;
constexpr std::chrono::seconds kPatience{10};
constexpr std::string_view kChange = "CREATE TABLE rate (name INT, value INT)";

// What read_window() below has done, and is to do.
struct Reader {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<size_t> read;  // the windows, in the order in which they were asked for
  bool by_the_owner = false;
  std::thread::id owner;
  size_t fails_at = kNoWindow;
  size_t waits_at = kNoWindow;  // until the owner has a window
  bool owner_has_one = false;
  bool waited_in_vain = false;
};
Reader* reader = nullptr;

// Record number n of the log has LSN n.
LogWindow window_of(const LogContents& log, size_t number) {
  uint64_t first = 1;
  for (size_t w = 0; w < number; ++w) first += log.windows[w].records;
  LogWindow window;
  const bool is_of_schema = log.windows[number].is_of_schema;
  if (is_of_schema) window.bytes.assign(as_bytes(kChange).begin(), as_bytes(kChange).end());
  for (uint64_t i = 0; i < log.windows[number].records; ++i) {
    const RecordKind kind = is_of_schema ? RecordKind::kSchema : RecordKind::kCommand;
    window.records.emplace_back(Lsn{first + i}, kind, ByteSpan(window.bytes));
  }
  return window;
}

class Streams : public testing::Test {
 protected:
  Streams() {
    reader_.owner = std::this_thread::get_id();
    reader = &reader_;
  }
  ~Streams() override { reader = nullptr; }

  // Windows with so many records each; 0: one with a change of the schema.
  static LogContents log_of(const std::vector<uint64_t>& sizes) {
    LogContents log;
    log.is_kept = false;
    for (const uint64_t size : sizes) {
      LogContents::Window window;
      window.records = size == 0 ? 1 : size;
      window.is_of_schema = size == 0;
      log.windows.push_back(std::move(window));
    }
    return log;
  }
  // A log that is kept: a c is a call, an s a change of the schema.
  static LogContents kept(const std::string& kinds) {
    LogContents log;
    for (const char kind : kinds) {
      log.records.emplace_back(Lsn{log.records.size() + 1},
                               kind == 's' ? RecordKind::kSchema : RecordKind::kCommand, ByteSpan{});
    }
    return log;
  }
  static std::string lsns(std::span<const RecordView> records) {
    std::string text;
    for (const RecordView& record : records)
      text += fmt::format("{}{}", text.empty() ? "" : " ", record.lsn.value);
    return text;
  }
  // All windows, as "1 2 | 3"; at most so many, in case that there is no end.
  static std::string all(RecordStream& stream, size_t most = 100) {
    std::string text;
    for (size_t i = 0; i < most; ++i) {
      const Result<HeldWindow> window = stream.next();
      if (!window) return text + "(" + window.error().message + ")";
      if (*window == nullptr) return text;
      text += (text.empty() ? "" : " | ") + lsns((*window)->records());
    }
    return text + " and so on";
  }
  // The log's stretches and changes, as "[1 2 | 3] change 4 [5]".
  static std::string all(const LogContents& log) {
    LogStretches stretches("directory", log);
    std::string text;
    for (size_t i = 0; i < 100; ++i) {
      RecordStream stream = stretches.next_stretch();
      text += (text.empty() ? "[" : " [") + all(stream) + "]";
      const Result<std::optional<RecordView>> change = stretches.next_change();
      if (!change) return text + " (" + change.error().message + ")";
      if (!*change) return text;
      text += fmt::format(" change {}", (*change)->lsn.value);
    }
    return text + " and so on";
  }
  std::string read() {
    const std::lock_guard lock(reader_.mutex);
    std::vector<size_t> windows = reader_.read;
    std::ranges::sort(windows);
    return fmt::format("{}", fmt::join(windows, " "));
  }

  const std::string directory_ = "directory";
  Reader reader_;
  LogMemory memory_;
};

constexpr const char* kLost = "Transactions that were acknowledged are not replayed.";
constexpr const char* kSlow =
    "Nothing is lost, but the threads that replay stand still while the disk is read, and the disk rests "
    "while "
    "they replay: recovery takes as long as both together.";
constexpr const char* kDies =
    "Recovery reads memory that holds other things by now. It dies, or it does not and replays what never "
    "was.";
constexpr const char* kMemory =
    "A log may be longer than memory is large. Recovery takes more and more memory, and is killed each time.";
constexpr const char* kSchema =
    "A call runs with the procedures of another schema, on a table that does not have its column yet.";

TEST_F(Streams, WhatIsKeptComesAtOnce) {
  const LogContents log = kept("ccc");
  RecordStream stream{std::span<const RecordView>(log.records)};
  EXPECT_EQ(all(stream), "1 2 3") << broken("Records that are in memory are one window, which comes once.",
                                            kLost);
}

TEST_F(Streams, WindowsComeInTheirOrder) {
  const LogContents log = log_of({2, 1, 3, 2});
  RecordStream stream(directory_, log, 0, 4, memory_);
  EXPECT_EQ(all(stream), "1 2 | 3 | 4 5 6 | 7 8")
      << broken("All windows come, one after the other, each once, and then no window.", kLost);
}

TEST_F(Streams, TheNextWindowIsReadMeanwhile) {
  const LogContents log = log_of({2, 2, 2, 2, 2});
  {
    RecordStream stream(directory_, log, 0, 5, memory_);
    (void)stream.next();
  }
  EXPECT_EQ(read(), "0 1") << broken(
      "While one window is replayed, the next one is read, and no other: here window 0 was handed out, so 0 "
      "and 1 are to be read.",
      read() == "0" ? kSlow : kMemory);
}

TEST_F(Streams, AnotherThreadReadsIt) {
  const LogContents log = log_of({2, 2, 2});
  RecordStream stream(directory_, log, 0, 3, memory_);
  (void)all(stream);
  EXPECT_FALSE(reader_.by_the_owner) << broken(
      "The next window is read by another thread than the one that asks for it.", kSlow);
}

TEST_F(Streams, AWindowComesBeforeTheNextIsRead) {
  const LogContents log = log_of({2, 2, 2});
  reader_.waits_at = 1;
  RecordStream stream(directory_, log, 0, 3, memory_);
  (void)stream.next();
  {
    const std::lock_guard lock(reader_.mutex);
    reader_.owner_has_one = true;
    EXPECT_FALSE(reader_.waited_in_vain) << broken(
        "A window is handed out before the one behind it has been read: next() doesn't wait for that.",
        kSlow);
  }
  reader_.changed.notify_all();
}

TEST_F(Streams, AStreamEndsWhereItWasTold) {
  const LogContents log = log_of({2, 2, 2, 2, 2});
  {
    RecordStream stream(directory_, log, 1, 3, memory_);
    EXPECT_EQ(all(stream), "3 4 | 5 6")
        << broken("A stream has the windows from `first` on, up to `end`, without it.", kLost);
  }
  EXPECT_EQ(read(), "1 2") << broken(
      "What lies behind the stream's end is not read ahead: it belongs to the next stretch, which may be "
      "read "
      "much later.",
      kMemory);
}

TEST_F(Streams, AFailureIsNoEnd) {
  const LogContents log = log_of({2, 2, 2, 2});
  reader_.fails_at = 2;
  RecordStream stream(directory_, log, 0, 4, memory_);
  EXPECT_EQ(all(stream), "1 2 | 3 4(window 2 can't be read)") << broken(
      "A window that can't be read is an error, in its place behind those before it. It is not the end of "
      "the log.",
      "The disk has failed, and the database comes up without the end of its log, as if all were well.");
}

TEST_F(Streams, AStreamMayBeMoved) {
  const char* rule =
      "A stream may be moved while a thread reads its next window: the thread must not refer to the stream.";
  at_stake(rule, kDies);
  const LogContents log = log_of({2, 2, 2});
  reader_.waits_at = 1;
  alignas(RecordStream) std::byte place[sizeof(RecordStream)];
  auto* const first = new (place) RecordStream(directory_, log, 0, 3, memory_);
  (void)first->next();
  RecordStream stream(std::move(*first));
  first->~RecordStream();
  std::ranges::fill(place, std::byte{0xdd});
  {
    const std::lock_guard lock(reader_.mutex);
    reader_.owner_has_one = true;
  }
  reader_.changed.notify_all();
  EXPECT_EQ(all(stream), "3 4 | 5 6") << broken(rule, kDies);
}

TEST_F(Streams, AStreamKnowsWhatItHas) {
  LogContents log = log_of({2, 1, 3});
  EXPECT_EQ(RecordStream(directory_, log, 0, 3, memory_).size(), 6u) << broken(
      "size() is the number of the records of all windows, before any is read.", "Progress is wrong.");
  EXPECT_FALSE(RecordStream(directory_, log, 0, 3, memory_).has_rows())
      << broken("A stream of calls alone has no rows.", kSlow);
  log.windows[1].has_rows = true;
  EXPECT_TRUE(RecordStream(directory_, log, 0, 3, memory_).has_rows())
      << broken("A stream has rows if one of its windows has.", kLost);
  for (const RecordKind kind : {RecordKind::kLogical, RecordKind::kPhysical}) {
    std::vector<RecordView> records{{Lsn{1}, RecordKind::kCommand, ByteSpan{}}, {Lsn{2}, kind, ByteSpan{}}};
    EXPECT_TRUE(RecordStream(records).has_rows())
        << broken("Records of rows are those of both kinds, logical and physical.", kLost);
  }
}

TEST_F(Streams, AStretchEndsBeforeAChangeOfTheSchema) {
  EXPECT_EQ(all(kept("ccscc")), "[1 2] change 3 [4 5]") << broken(
      "A stretch has the records up to the next change of the schema. The change comes by itself, then the "
      "next "
      "stretch begins.",
      kSchema);
  EXPECT_EQ(all(log_of({2, 1, 0, 2})), "[1 2 | 3] change 4 [5 6]") << broken(
      "The same holds where windows are read: a change of the schema is a window of its own (is_of_schema).",
      kSchema);
}

TEST_F(Streams, AStretchMayBeEmpty) {
  EXPECT_EQ(all(kept("")), "[]") << broken("A log may be empty.", kLost);
  EXPECT_EQ(all(kept("sscs")), "[] change 1 [] change 2 [3] change 4 []")
      << broken("A log may begin or end with a change, and two may follow one another.", kLost);
  EXPECT_EQ(all(log_of({0, 0, 2, 0})), "[] change 1 [] change 2 [3 4] change 5 []")
      << broken("A log may begin or end with a change, and two may follow one another.", kLost);
}

TEST_F(Streams, AChangeIsHeldUntilTheNext) {
  const LogContents log = log_of({0, 0});
  LogStretches stretches(directory_, log);
  for (int i = 0; i < 2; ++i) {
    (void)stretches.next_stretch();
    const Result<std::optional<RecordView>> change = stretches.next_change();
    const bool is_there = change && *change;
    EXPECT_TRUE(is_there) << broken("next_change() returns each change of the schema.", kSchema);
    if (!is_there) return;
    EXPECT_EQ(std::string(as_text((*change)->payload)), kChange) << broken(
        "The record that next_change() returns points into the change's window: the window is held until the "
        "next call.",
        kDies);
  }
}

TEST_F(Streams, TheMostMemoryIsRemembered) {
  LogMemory memory;
  memory.add(10);
  memory.add(20);
  memory.remove(25);
  memory.add(7);
  EXPECT_EQ(memory.peak(), 30u) << broken(
      "peak() is the most that there was at a time, not what there is now, and not the sum of all.",
      "A machine that was bought by this number has too little memory for recovery.");
}

TEST_F(Streams, ADroppedWindowIsFreed) {
  const LogContents log = log_of({100, 100, 100, 100, 100, 100});
  uint64_t one = 0;
  {
    const LogWindow window = window_of(log, 0);
    one = window.memory_bytes();
  }
  {
    RecordStream stream(directory_, log, 0, 6, memory_);
    (void)all(stream);
  }
  EXPECT_LE(memory_.peak(), 2 * one) << broken(
      "Where the caller drops each window before it asks for the next, two are in memory at most: the one "
      "that "
      "it holds, and the one that is read ahead.",
      kMemory);
  EXPECT_GE(memory_.peak(), one) << broken("The memory of each window is counted.", kMemory);
}

TEST_F(Streams, RandomLogsComeBack) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    std::vector<uint64_t> sizes(random() % 12);
    std::string expected = "[";
    uint64_t next = 1;
    bool is_first = true;
    for (uint64_t& size : sizes) {
      size = random() % 4;
      if (size == 0) {
        expected += fmt::format("] change {} [", next++);
        is_first = true;
        continue;
      }
      if (!is_first) expected += " | ";
      is_first = false;
      for (uint64_t i = 0; i < size; ++i) expected += fmt::format("{}{}", i == 0 ? "" : " ", next++);
    }
    ASSERT_EQ(all(log_of(sizes)), expected + "]")
        << broken("Whatever the windows are, all records come back, and each change in its place.", kLost);
  }
}

}  // namespace
}  // namespace course

// Stands in for the engine's (logging/reading/log_windows.h).
Result<LogWindow> read_window(const std::string&, const LogContents& log, size_t window) {
  course::Reader& reader = *course::reader;
  std::unique_lock lock(reader.mutex);
  reader.read.push_back(window);
  reader.by_the_owner |= std::this_thread::get_id() == reader.owner && !log.windows[window].is_of_schema;
  if (window == reader.waits_at) {
    const auto has_one = [&] { return reader.owner_has_one; };
    reader.waited_in_vain = !reader.changed.wait_for(lock, course::kPatience, has_one);
  }
  if (window == reader.fails_at) return failed("window {} can't be read", window);
  return course::window_of(log, window);
}

}  // namespace mneme
