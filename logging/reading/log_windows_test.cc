// Goal: a log that is not kept gives, window by window, the records that it gives whole, and takes no memory
// for them. Method: logs of one file after the other, of stripes and in persistent memory, with records of
// many lengths, skips and changes of the schema among them, are read both ways, with windows of several
// sizes. Then a file changes between the two readings. What of damage and torn tails is the same both ways,
// log_reader_test.cc shows.
#include "logging/reading/log_windows.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/testing/test_refusal.h"
#include "logging/testing/nvm_test_log.h"
#include "logging/testing/test_log.h"
#include "logging/testing/test_rewrite.h"

namespace mneme {
namespace {

using namespace test;

struct Record {
  Lsn lsn;
  RecordKind kind;
  std::vector<std::byte> payload;

  bool operator==(const Record&) const = default;
};

void add(std::span<const RecordView> views, std::vector<Record>& records) {
  for (const RecordView& view : views) {
    records.push_back({view.lsn, view.kind, {view.payload.begin(), view.payload.end()}});
  }
}

// A whole log, of which records below `from` are left out.
std::vector<Record> kept(const std::string& directory, Lsn from) {
  const LogContents log = must(read_directory(directory, {.threads = 2, .from = from}));
  EXPECT_TRUE(log.is_kept);
  EXPECT_TRUE(log.windows.empty());
  std::vector<Record> records;
  add(log.records, records);
  return records;
}

LogReadOptions in_windows(uint64_t bytes, Lsn from = {}) {
  return {.threads = 2, .from = from, .most_kept_bytes = 0, .window_bytes = bytes};
}

void expect_equal_in_windows(const std::string& directory, Lsn from) {
  const std::vector<Record> all = kept(directory, from);
  for (const uint64_t bytes : {1, 3000, 20000, 10'000'000}) {
    const LogContents log = must(read_directory(directory, in_windows(bytes, from)));
    EXPECT_FALSE(log.is_kept);
    EXPECT_TRUE(log.records.empty());
    for (const LogContents::Segment& segment : log.segments) EXPECT_EQ(segment.bytes.capacity(), 0u);
    EXPECT_EQ(log.record_count(), all.size());
    std::vector<Record> records;
    for (size_t w = 0; w < log.windows.size(); ++w) {
      const LogWindow window = must(read_window(directory, log, w));
      EXPECT_EQ(window.records.size(), log.windows[w].records);
      // It is full with the record that reaches its size, and a part of it begins wherever the log goes on
      // elsewhere.
      if (log.windows[w].records > 1) {
        EXPECT_LE(window.bytes.size(), bytes + 2000);
      }
      const auto is_of = [&](RecordKind kind) {
        return std::ranges::any_of(window.records, [&](const RecordView& each) { return each.kind == kind; });
      };
      EXPECT_EQ(log.windows[w].is_of_schema, is_of(RecordKind::kSchema));
      EXPECT_EQ(log.windows[w].has_rows, is_of(RecordKind::kLogical));
      if (log.windows[w].is_of_schema) {
        EXPECT_EQ(window.records.size(), 1u);
      }
      add(window.records, records);
    }
    EXPECT_EQ(records, all) << "windows of " << bytes;
  }
}

// Returns the LSN of a record in the middle.
Lsn write_log(const std::string& directory, const DurableLogOptions& options) {
  OpenLog opened = open_for_work(directory, options);
  Lsn middle;
  for (uint64_t i = 0; i < 700; ++i) {
    if (i % 50 == 17) {
      opened.log->await_space(kWorker, 40);
      opened.log->fill(kWorker, opened.log->reserve(kWorker, 40), RecordKind::kSkip, {});
    }
    const RecordKind kind = i % 200 == 99 ? RecordKind::kSchema
                            : i % 90 == 7 ? RecordKind::kLogical
                                          : RecordKind::kCommand;
    const Lsn lsn = append(*opened.log, kWorker, payload_of(i, i * 13 % 900), kind);
    if (i == 333) middle = lsn;
    if (i % 37 == 0) {
      EXPECT_TRUE(opened.log->wait_durable(lsn));
    }
  }
  return middle;
}

void expect_equal_in_windows(const DurableLogOptions& options) {
  TemporaryDirectory directory;
  write_log(directory.path(), options);
  const Lsn middle = write_log(directory.path(), options);
  expect_equal_in_windows(directory.path(), Lsn{});
  expect_equal_in_windows(directory.path(), middle);
}

TEST(LogWindows, OfOneFileAfterTheOther) {
  expect_equal_in_windows(small_log());
}

TEST(LogWindows, OfStripes) {
  TemporaryDirectory outside;
  DurableLogOptions options = small_log();
  options.device = LogDeviceKind::kStriped;
  options.device_options.directories = {"here", outside.path(), "there"};
  expect_equal_in_windows(options);
}

TEST(LogWindows, OfPersistentMemory) {
  expect_equal_in_windows(small_nvm_log());
}

TEST(LogWindows, AShortLogIsKept) {
  TemporaryDirectory directory;
  write_log(directory.path(), small_log());
  const LogContents whole = must(read_directory(directory.path()));
  EXPECT_TRUE(must(read_directory(directory.path(), {.most_kept_bytes = whole.file_bytes})).is_kept);
  EXPECT_FALSE(must(read_directory(directory.path(), {.most_kept_bytes = whole.file_bytes - 1})).is_kept);
}

TEST(LogWindows, AFileThatChangesMeanwhileIsDamaged) {
  TemporaryDirectory directory;
  write_log(directory.path(), small_log());
  const LogContents log = must(read_directory(directory.path(), in_windows(5000)));
  ASSERT_GT(log.windows.size(), 10u);
  const LogContents::Window& window = log.windows[7];
  const LogContents::Place place = log.place_of(window.parts[0].begin + 30);
  {
    std::fstream file(directory.path() + "/" + place.file, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(place.offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(place.offset));
    file.put(static_cast<char>(byte ^ 1));
  }
  EXPECT_TRUE(read_window(directory.path(), log, 6).ok());
  const Result<LogWindow> changed = read_window(directory.path(), log, 7);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().kind, ErrorKind::kDamaged);
  EXPECT_THAT(changed.error().message, testing::HasSubstr(place.file + " at byte"));
}

// By a writer that makes its checksums right.
TEST(LogWindows, ARecordThatIsNoneMeanwhileIsMissed) {
  TemporaryDirectory directory;
  write_log(directory.path(), small_log());
  const LogContents whole = must(read_directory(directory.path()));
  const LogContents log = must(read_directory(directory.path(), in_windows(10'000'000)));
  // How records lie in blocks depends on when they were flushed.
  const RecordView last = last_in_one_block(whole);
  const auto window = std::ranges::find_if(log.windows, [&](const LogContents::Window& each) {
    const StreamPosition at = one_stream_position(last.lsn);
    return each.parts.front().begin <= at && at < each.parts.back().end;
  });
  ASSERT_NE(window, log.windows.end());
  rewrite_record(directory.path(), whole.place_of(last),
                 [](RecordHeader& header, std::span<std::byte>) { header.kind = RecordKind::kSkip; });
  expect_refused(
      read_window(directory.path(), log, static_cast<size_t>(window - log.windows.begin())),
      ErrorKind::kDamaged,
      fmt::format(
          "the log has changed while it was being replayed: {} records stand below LSN {}, where {} did",
          window->records - 1, window->parts.back().end.value, window->records));
}

}  // namespace
}  // namespace mneme
