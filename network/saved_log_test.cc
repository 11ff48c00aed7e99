// Goal: what a log server has promised, or saved, survives a power failure. Method: the order of the steps
// that make it durable; files that are wrong behind right checksums. What the files hold is
// log_server_test.cc's business, and the fuzz targets'.
#include "network/saved_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/file/file.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_durable_steps.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

TEST(SavedLogTest, APromisedTermIsSyncedBeforeItHasItsNameAndTheNameBehindIt) {
  const test::TemporaryDirectory directory;
  const test::DurableSteps steps;
  ASSERT_TRUE(keep_term(directory.path(), 0x12, {3, 4}).ok());
  EXPECT_EQ(steps.get(),
            (std::vector<std::string>{"sync 0000000000000012.term.tmp", "rename 0000000000000012.term",
                                      "sync " + directory.name()}));
}

// A saved log of no files, changed and given the right checksum.
template <typename Change>
void put_changed(const std::string& directory, const Change& change) {
  ASSERT_TRUE(note_serving(directory, 0x12, {3, 4}).ok());
  const std::string path = directory + "/0000000000000012.log";
  ByteBuffer file;
  file.put_bytes(as_bytes(*read_text_file(path)));
  change(file);
  store(file.data() + 8, crc32c(file.span().subspan(12)));
  ASSERT_TRUE(replace_text_file(path, as_text(file.span())).ok());
}

TEST(SavedLogTest, OfAnotherVersionIsRefused) {
  const test::TemporaryDirectory directory;
  put_changed(directory.path(), [](ByteBuffer& file) { store(file.data() + 12, uint32_t{7}); });
  test::expect_refused(load_logs(directory.path()), ErrorKind::kInvalidArgument,
                       "0000000000000012.log has version 7, and this program reads version 1");
}

TEST(SavedLogTest, BiggerThanAnyMemoryIsRefused) {
  const test::TemporaryDirectory directory;
  put_changed(directory.path(), [](ByteBuffer& file) {
    store(file.data() + 40, uint32_t{1});  // files
    file.put(uint32_t{1});                 // its number, its term
    file.put(uint32_t{3});
    file.put(uint64_t{1} << 60);
    file.put(uint64_t{0});  // so much of it is written
  });
  test::expect_refused(load_logs(directory.path()), ErrorKind::kFailed,
                       "there is no memory for the log that " + directory.path());
}

// A server keeps two files for a log. A missing one counts as lost with the server's memory, which engines
// find out.
TEST(SavedLogTest, AFileThatIsNotWhatWasSavedIsRefusedAndStaysAsItIs) {
  namespace fs = std::filesystem;
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(note_serving(directory.path(), 0x12, {3, 4}).ok());
  ASSERT_TRUE(keep_term(directory.path(), 0x12, {5, 6}).ok());
  const test::TemporaryDirectory other;
  ASSERT_TRUE(note_serving(other.path(), 0x13, {3, 4}).ok());
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> ways = {
      {"empty", [](const fs::path& path) { fs::resize_file(path, 0); }},
      {"zeroed",
       [](const fs::path& path) {
         const auto bytes = fs::file_size(path);
         fs::resize_file(path, 0);
         fs::resize_file(path, bytes);
       }},
      {"half", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) / 2); }},
      {"a byte less", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) - 1); }},
      {"longer", [](const fs::path& path) { fs::resize_file(path, fs::file_size(path) + 1); }},
      {"another log's",
       [&](const fs::path& path) {
         fs::copy(other.path() + "/0000000000000013.log", path, fs::copy_options::overwrite_existing);
       }},
      {"a link",
       [&](const fs::path& path) {
         fs::remove(path);
         fs::create_symlink(other.path() + "/0000000000000013.log", path);
       }},
      {"a directory",
       [](const fs::path& path) {
         fs::remove(path);
         fs::create_directory(path);
       }},
      {"a pipe",
       [](const fs::path& path) {
         fs::remove(path);
         ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
       }},
  };
  for (const char* const file : {"0000000000000012.log", "0000000000000012.term"}) {
    const fs::path path = directory.path() + "/" + file;
    const std::string content = *read_text_file(path);
    for (const auto& [way, change] : ways) {
      SCOPED_TRACE(std::string(file) + ", " + way);
      change(path);
      const auto type = fs::symlink_status(path).type();
      const std::string left = type == fs::file_type::regular ? *read_text_file(path) : "";
      test::expect_refused(load_logs(directory.path()), ErrorKind::kDamaged, file);
      EXPECT_EQ(fs::symlink_status(path).type(), type);
      if (type == fs::file_type::regular) {
        EXPECT_EQ(*read_text_file(path), left);
      }
      fs::remove(path);
      ASSERT_TRUE(replace_text_file(path, content).ok());
    }
  }
  EXPECT_EQ(load_logs(directory.path())->at(0x12).term().number, 5u);
}

// Where another user's pipe would keep it waiting.
TEST(SavedLogTest, IsSavedOverWhateverHasTheTemporaryName) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(::mkfifo((directory.path() + "/0000000000000012.log.tmp").c_str(), 0600), 0);
  ASSERT_TRUE(note_serving(directory.path(), 0x12, {3, 4}).ok());
  EXPECT_EQ(load_logs(directory.path())->at(0x12).term().number, 3u);
}

TEST(SavedLogTest, ADirectoryThatIsNotThereIsTold) {
  test::expect_refused(load_logs("/nowhere"), ErrorKind::kFailed,
                       "cannot look through /nowhere: No such file or directory");
}

}  // namespace
}  // namespace mneme
