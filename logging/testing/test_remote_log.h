// For tests: an engine's log on other machines, opened as recovery does, and records whose payloads hold
// their numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "logging/reading/remote_recovery.h"
#include "logging/remote/remote_device.h"
#include "logging/replicated/replicated_device.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

// Registers the devices at servers before the first test of a program that includes this.
inline const bool servers_are_registered = [] {
  register_remote_device();
  register_replicated_devices();
  return true;
}();

// As recovery opens a directory for work.
inline Result<OpenLog> open_remote(const std::string& directory, const DurableLogOptions& options) {
  OpenLog opened;
  opened.manifest = must(holds_database(directory) ? ManifestFile::open(directory)
                                                   : ManifestFile::create(directory, new_manifest()));
  const auto claim = claim_remote_log(directory, options);
  if (!claim.ok()) return claim.error();
  DurableLogOptions claimed = options;
  claimed.device_options.remote.owner = claim->term.owner;
  const auto log = read_log(directory, opened.manifest->current(), {});
  if (!log.ok()) return log.error();
  must(begin_incarnation(*opened.manifest, *log, claim->term.number));
  auto directory_log = open_directory_log(*opened.manifest, claimed);
  if (!directory_log.ok()) return directory_log.error();
  opened.log = std::move(*directory_log);
  return opened;
}

inline bool has_file(const std::string& directory, uint32_t segment) {
  return std::filesystem::exists(directory + "/" + remote_segment_file(segment));
}

inline std::vector<std::byte> payload(uint64_t number) {
  std::vector<std::byte> bytes = payload_of(number, 8 + number % 700);
  store(bytes.data(), number);
  return bytes;
}

// Appends records of these numbers and waits until all are durable. False: the log has failed.
inline bool append_durably(DirectoryLog& log, uint64_t begin, uint64_t end) {
  Lsn last;
  for (uint64_t number = begin; number < end; ++number) {
    const auto bytes = payload(number);
    if (!log.await_space(WorkerId{0}, static_cast<uint32_t>(bytes.size()))) return false;
    last = log.reserve(WorkerId{0}, static_cast<uint32_t>(bytes.size()));
    log.fill(WorkerId{0}, last, RecordKind::kCommand, bytes);
  }
  return log.wait_durable(last);
}

// The log holds the records from `begin` on, in order, each as it was written. Returns behind the last one's
// number.
inline uint64_t end_of(const LogContents& log, uint64_t begin = 0) {
  uint64_t number = begin;
  for (const RecordView& record : log.records) {
    const auto expected = payload(number);
    EXPECT_TRUE(std::ranges::equal(record.payload, expected)) << "record " << number;
    if (::testing::Test::HasFailure()) break;
    ++number;
  }
  return number;
}

inline uint64_t end_on(const std::string& directory) {
  const auto log = read_directory(directory);
  EXPECT_TRUE(log.ok()) << log.error().message;
  return log.ok() ? end_of(*log) : 0;
}

// Copies a directory while an engine works in it, whose threads replace its manifest meanwhile.
inline void copy_directory(const std::string& from, const std::string& to) {
  constexpr auto kOptions =
      std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
  // As it was at one moment: std::filesystem asks for a file's size before it opens it.
  const std::string manifest = must(read_text_file(from + "/MANIFEST"));
  std::error_code error;
  do {
    error.clear();
    std::filesystem::copy(from, to, kOptions, error);
  } while (error == std::errc::no_such_file_or_directory);
  ASSERT_FALSE(error) << error.message();
  must(replace_text_file(to + "/MANIFEST", manifest));
}

}  // namespace mneme::test
