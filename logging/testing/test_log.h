// For tests: opens, fills and reads logs, with payloads that show each record's number.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/testing/test_directory.h"
#include "logging/directory/incarnation.h"
#include "logging/directory/manifest.h"
#include "logging/layout/durable_log.h"
#include "logging/layout/log_factory.h"
#include "logging/reading/log_reader.h"

namespace mneme::test {

// The worker of a log that has only one.
inline constexpr WorkerId kWorker{0};

// Returns the result's value. If it is an error, adds its message to the test's failures and ends the
// program.
template <typename T>
T must(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  if constexpr (!std::is_void_v<T>) return std::move(result).value();
}

inline Manifest new_manifest() {
  Manifest manifest;
  manifest.database_id = 0x1234;
  manifest.catalog_hash = 0x5678;
  return manifest;
}

// Small segments, so that a test crosses several.
inline DurableLogOptions small_log(uint32_t workers = 1) {
  DurableLogOptions options;
  options.workers = workers;
  options.largest_payload_bytes = 16 * 1024;
  options.segments.bytes = 128 * 1024;
  options.ring_bytes = 64 * 1024;
  options.group = {};
  return options;
}

// Returns a payload of `bytes` bytes made from `seed`, so that a test can recompute what a record must hold.
inline std::vector<std::byte> payload_of(uint64_t seed, size_t bytes) {
  std::vector<std::byte> payload(bytes);
  uint64_t x = seed * 0x9e3779b97f4a7c15u + 1;
  for (std::byte& each : payload) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    each = static_cast<std::byte>(x >> 56);
  }
  return payload;
}

inline Lsn append(CommitLog& log, WorkerId worker, ByteSpan payload, RecordKind kind = RecordKind::kCommand) {
  EXPECT_TRUE(log.await_space(worker, static_cast<uint32_t>(payload.size())));
  const Lsn lsn = log.reserve(worker, static_cast<uint32_t>(payload.size()));
  log.fill(worker, lsn, kind, payload);
  return lsn;
}

inline Result<LogContents> read_directory(const std::string& directory, const LogReadOptions& options = {}) {
  auto manifest = read_manifest(directory);
  if (!manifest.ok()) return manifest.error();
  return read_log(directory, *manifest, options);
}

// A log that is open for work. If `forgets_end`, the destructor removes from the manifest the place where the
// log was closed. A test may then tear the log's end as a crash would.
struct OpenLog {
  OpenLog() = default;
  OpenLog(OpenLog&&) = default;
  OpenLog& operator=(OpenLog&&) = default;
  ~OpenLog() {
    if (manifest == nullptr) return;
    log.reset();
    if (forgets_end)
      (void)manifest->update([](Manifest& changed) { changed.incarnations.back().closed.reset(); });
  }

  std::unique_ptr<ManifestFile> manifest;
  std::unique_ptr<DirectoryLog> log;
  bool forgets_end = false;
};
// Reads the directory's log, as recovery would, and opens it for work. A log in persistent memory does not
// forget its end: a reader takes a new hole for damage if the log was closed.
inline OpenLog open_for_work(const std::string& directory, const DurableLogOptions& options) {
  OpenLog opened;
  Manifest born = new_manifest();
  born.layout = options.layout.value_or(LogLayout::kStream);
  opened.manifest =
      must(holds_database(directory) ? ManifestFile::open(directory) : ManifestFile::create(directory, born));
  must(begin_incarnation(*opened.manifest, must(read_log(directory, opened.manifest->current(), {}))));
  opened.log = must(open_directory_log(*opened.manifest, options));
  opened.forgets_end = !hardens_by_worker(options);
  return opened;
}

// Checks that a skip record keeps its place in the commit order, between two records of transactions, and
// that a reader returns it only if its options ask for skips.
inline void expect_skips_keep_their_place(const DurableLogOptions& options) {
  const TemporaryDirectory directory;
  const WorkerId last{options.workers - 1};
  {
    OpenLog opened = open_for_work(directory.path(), options);
    append(*opened.log, WorkerId{0}, payload_of(1, 100));
    ASSERT_TRUE(opened.log->await_space(last, 50));
    opened.log->fill(last, opened.log->reserve(last, 50), RecordKind::kSkip, {});
    append(*opened.log, WorkerId{options.workers / 2}, payload_of(2, 100));
  }
  EXPECT_EQ(must(read_directory(directory.path())).records.size(), 2u);
  const LogContents all = must(read_directory(directory.path(), {.with_skips = true}));
  ASSERT_EQ(all.records.size(), 3u);
  EXPECT_EQ(all.records[1].kind, RecordKind::kSkip);
  EXPECT_LT(all.records[0].lsn, all.records[1].lsn);
  EXPECT_LT(all.records[1].lsn, all.records[2].lsn);
  EXPECT_EQ(all.skips, 1u);
}

// Returns the payload's length of the index-th record of a log. Records near each other differ in length.
inline size_t payload_bytes_of(uint64_t index) {
  return 20 + index * 37 % 900;
}

// Appends `count` records, the workers taking turns, and waits until some of them are durable. `first` is the
// number of the first record; numbers go on from one opening of the log to the next. Record i has payload i.
inline std::vector<Lsn> append_all(DirectoryLog& log, uint32_t workers, uint64_t first, uint64_t count) {
  std::vector<Lsn> lsns;
  for (uint64_t i = first; i < first + count; ++i) {
    lsns.push_back(
        append(log, WorkerId{static_cast<uint32_t>(i % workers)}, payload_of(i, payload_bytes_of(i))));
    if (i % 50 == 0) {
      EXPECT_TRUE(log.wait_durable(lsns.back()));
      EXPECT_LT(lsns.back(), log.durable());
    }
  }
  return lsns;
}

// Expects the log to hold exactly the records that append_all() wrote from number `first` on, at these LSNs.
inline void expect_records(const LogContents& log, const std::vector<Lsn>& lsns, uint64_t first = 0) {
  ASSERT_EQ(log.records.size(), lsns.size());
  for (uint64_t i = 0; i < lsns.size(); ++i) {
    EXPECT_EQ(log.records[i].lsn, lsns[i]);
    EXPECT_TRUE(
        std::ranges::equal(log.records[i].payload, payload_of(first + i, payload_bytes_of(first + i))))
        << i;
  }
}

}  // namespace mneme::test
