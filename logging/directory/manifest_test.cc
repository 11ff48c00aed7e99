// Goal: a manifest comes back as written, a change is all or nothing, and no other bytes pass for one.
// Method: round trips, every single-bit mutation of the text, and each error with the words that a person
// needs.
#include "logging/directory/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <span>

#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/testing/test_refusal.h"
#include "logging/directory/directory_lock.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using test::must;
using test::TemporaryDirectory;

Manifest full_manifest() {
  Manifest manifest = test::new_manifest();
  manifest.database_id = 0xfedcba9876543210;
  manifest.checkpoint_file = "checkpoint-000001";
  manifest.checkpoint_lsn = Lsn{uint64_t{1} << 60};
  manifest.incarnations = {{1, kFirstLsn, Lsn{5000}}, {2, Lsn{5000}}};
  manifest.holes = {{StreamPosition{1000}, StreamPosition{1128}},
                    {StreamPosition{2000}, StreamPosition{2064}}};
  manifest.segments = {{"log-000001.segment", 1, 1}, {"log-000002.segment", 2, 2}};
  manifest.attributes = {{"workload", "tpcc"}, {"odd", "quotes \" and \n lines"}};
  return manifest;
}

TEST(Manifest, RoundTrip) {
  const std::string text = full_manifest().encode();
  const Manifest read = must(Manifest::decode(text, "M"));
  EXPECT_EQ(read.encode(), text);
  EXPECT_EQ(read.database_id, 0xfedcba9876543210u);
  EXPECT_EQ(read.checkpoint_lsn, Lsn{uint64_t{1} << 60});
  EXPECT_EQ(read.incarnations[1].begin, Lsn{5000});
  EXPECT_EQ(read.incarnations[0].closed, Lsn{5000});
  EXPECT_FALSE(read.incarnations[1].closed.has_value());
  EXPECT_EQ(read.holes, full_manifest().holes);
  EXPECT_EQ(read.segments[1].file, "log-000002.segment");
  EXPECT_EQ(read.attributes.at("odd"), "quotes \" and \n lines");
}

TEST(Manifest, EveryFlippedBitAndEveryTruncationIsSeen) {
  std::string text = full_manifest().encode();
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(Manifest::decode(text, "M").ok()) << "bit " << bit;
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
  }
  for (size_t bytes = 0; bytes < text.size(); ++bytes) {
    EXPECT_FALSE(Manifest::decode(text.substr(0, bytes), "M").ok()) << bytes << " bytes";
  }
}

// A checkpoint has removed them, and an archive may keep them by their numbers.
TEST(Manifest, NumbersOfSegmentsThatAreGoneDoNotComeUpAgain) {
  const TemporaryDirectory directory;
  {
    auto file = must(ManifestFile::create(directory.path(), full_manifest()));
    EXPECT_EQ(file->current().next_segment_number(), 3u);
    must(file->update([](Manifest& manifest) { manifest.segments.push_back({"log-000007.segment", 7, 2}); }));
    must(file->update([](Manifest& manifest) { manifest.segments.pop_back(); }));
    EXPECT_EQ(file->current().next_segment_number(), 8u);
    must(file->update([](Manifest& manifest) { manifest.segments.clear(); }));
  }
  EXPECT_EQ(must(read_manifest(directory.path())).next_segment_number(), 8u);
}

TEST(Manifest, SaysWhatIsWrong) {
  struct ManifestCase {
    std::string text;
    ErrorKind kind;
    std::string words;
  };
  std::string other_version = full_manifest().encode();
  other_version.replace(other_version.find("\"format_version\": "), 19, "\"format_version\": 9");
  std::string other_value = full_manifest().encode();
  other_value.replace(other_value.find("5000"), 4, "5001");
  // As another version writes it, whose checksum is computed alike.
  std::string whole_other_version = other_version.substr(0, other_version.rfind("crc32c "));
  whole_other_version +=
      fmt::format("crc32c {:08x}\n", crc32c(std::as_bytes(std::span(whole_other_version))));
  std::string other_format = full_manifest().encode();
  other_format.replace(other_format.find("mneme data"), 5, "mnemo");
  const ManifestCase cases[] = {
      {other_format, ErrorKind::kDamaged, "isn't the JSON that Mneme writes"},
      {whole_other_version, ErrorKind::kInvalidArgument, "has format version 9"},
      {"hello", ErrorKind::kInvalidArgument, "was not written by Mneme"},
      {"{\"format\": \"something\"}", ErrorKind::kInvalidArgument, "was not written by Mneme"},
      {other_version, ErrorKind::kDamaged, "says format version 9"},
      {other_value, ErrorKind::kDamaged, "its checksum doesn't match"},
  };
  for (const ManifestCase& each : cases) {
    const auto result = Manifest::decode(each.text, "DIR/MANIFEST");
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, each.kind) << result.error().message;
    EXPECT_NE(result.error().message.find(each.words), std::string::npos) << result.error().message;
    EXPECT_NE(result.error().message.find("DIR/MANIFEST"), std::string::npos) << result.error().message;
  }
}

// Numbers in another form, and below or above all that a field holds: a JSON library may convert them.
TEST(Manifest, RefusesNumbersThatAreNone) {
  const std::string text = full_manifest().encode();
  const std::string body = text.substr(0, text.rfind("crc32c "));
  const std::string_view field = "\"number\": ";
  const size_t at = body.find(field) + field.size();
  for (const std::string_view number :
       {"95299e41", "1.5", "-1", "4294967296", "\"1\"", "true", "null", "[1]"}) {
    std::string changed = body;
    changed.replace(at, body.find_first_of(",\n", at) - at, number);
    changed += fmt::format("crc32c {:08x}\n", crc32c(std::as_bytes(std::span(changed))));
    const auto result = Manifest::decode(changed, "DIR/MANIFEST");
    ASSERT_FALSE(result.ok()) << number;
    EXPECT_EQ(result.error().kind, ErrorKind::kDamaged) << number;
    EXPECT_NE(result.error().message.find("where a number from 0 to 4294967295 belongs"), std::string::npos)
        << result.error().message;
  }
}

TEST(Manifest, MissingDirectoryAndMissingDatabase) {
  TemporaryDirectory directory;
  const auto empty = read_manifest(directory.path());
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().message.find("holds no database"), std::string::npos);
  const auto missing = read_manifest(directory.path() + "/nowhere");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("there is no directory"), std::string::npos);
}

TEST(ManifestFile, ChangesAreKeptAndCreateRefusesADatabase) {
  TemporaryDirectory directory;
  auto file = must(ManifestFile::create(directory.path(), full_manifest()));
  must(file->update([](Manifest& m) { m.attributes["position"] = "17"; }));
  EXPECT_EQ(must(read_manifest(directory.path())).attributes.at("position"), "17");
  EXPECT_EQ(must(ManifestFile::open(directory.path()))->current().attributes.at("position"), "17");
  EXPECT_FALSE(ManifestFile::create(directory.path(), full_manifest()).ok());
}

TEST(DirectoryLock, OnlyTheOwnerWorks) {
  if (::geteuid() != 0) {  // root is another user then; no other's directory can be made
    test::expect_refused(DirectoryLock::for_work("/usr"), ErrorKind::kFailed, "/usr belongs to user root");
    return;
  }
  const TemporaryDirectory directory;
  ASSERT_EQ(::chown(directory.path().c_str(), 65534, 65534), 0);
  test::expect_refused(DirectoryLock::for_work(directory.path()), ErrorKind::kFailed,
                       directory.path() + " belongs to user ");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
  EXPECT_TRUE(DirectoryLock::for_reading(directory.path()).ok());
}

TEST(DirectoryLock, ASharedDirectoryIsRefused) {
  const TemporaryDirectory directory;
  ASSERT_EQ(::chmod(directory.path().c_str(), 01777), 0);
  test::expect_refused(DirectoryLock::for_work(directory.path()), ErrorKind::kFailed,
                       "is a directory that other users share (mode 1777)");
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

// A lock can be held by any user who can open its file.
TEST(DirectoryLock, OthersCannotOpenItsFile) {
  const TemporaryDirectory directory;
  std::ofstream(directory.path() + "/lock") << "";
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  ASSERT_EQ(::chmod((directory.path() + "/lock").c_str(), 0666), 0);
  EXPECT_TRUE(DirectoryLock::for_work(directory.path()).ok());
  const auto mode = [](const std::string& path) {
    return static_cast<int>(std::filesystem::status(path).permissions());
  };
  EXPECT_EQ(mode(directory.path() + "/lock"), 0600);
  EXPECT_EQ(mode(directory.path()), 0755);
}

// _Fork() runs no handlers: the child is one that fork() has just made and that has not come to closing the
// lock's file.
TEST(DirectoryLock, EndsWithItsOwnerThoughAYoungChildHasItsFile) {
  const TemporaryDirectory directory;
  auto lock = std::make_unique<DirectoryLock>(must(DirectoryLock::for_work(directory.path())));
  const pid_t child = ::_Fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  lock.reset();
  EXPECT_TRUE(DirectoryLock::for_work(directory.path()).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(DirectoryLock, OneForWorkOrSeveralForReading) {
  TemporaryDirectory directory;
  {
    const auto unused = DirectoryLock::for_reading(directory.path());  // never worked on: nothing to lock
    EXPECT_TRUE(unused.ok());
    EXPECT_FALSE(std::filesystem::exists(directory.path() + "/lock"));
  }
  {
    const auto work = DirectoryLock::for_work(directory.path());
    ASSERT_TRUE(work.ok());
    const auto again = DirectoryLock::for_work(directory.path());
    ASSERT_FALSE(again.ok());
    EXPECT_NE(again.error().message.find("in use by another process"), std::string::npos);
    EXPECT_FALSE(DirectoryLock::for_reading(directory.path()).ok());
  }
  const auto reader = DirectoryLock::for_reading(directory.path());
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(DirectoryLock::for_reading(directory.path()).ok());
  EXPECT_FALSE(DirectoryLock::for_work(directory.path()).ok());
}

}  // namespace
}  // namespace mneme
