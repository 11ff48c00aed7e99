// Goal: what a log server has promised, or saved, survives a power failure.
// Method: the order of the steps that make it durable; files that are wrong behind right checksums. What the files hold is
// log_server_test.cc's business, and the fuzz targets'.
#include "network/saved_log.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/file.h"
#include "base/test_directory.h"
#include "base/test_durable_steps.h"
#include "base/test_refusal.h"

namespace mneme {
namespace {

TEST(SavedLogTest, APromisedTermIsSyncedBeforeItHasItsNameAndTheNameBehindIt) {
  const test::TemporaryDirectory directory;
  const test::DurableSteps steps;
  ASSERT_TRUE(keep_term(directory.path(), 0x12, {3, 4}).ok());
  EXPECT_EQ(steps.get(), (std::vector<std::string>{"sync 0000000000000012.term.tmp", "rename 0000000000000012.term", "sync " + directory.name()}));
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
  test::expect_refused(load_logs(directory.path()), ErrorKind::kFailed, "there is no memory for the log that " + directory.path());
}

TEST(SavedLogTest, ADirectoryThatIsNotThereIsTold) {
  test::expect_refused(load_logs("/nowhere"), ErrorKind::kFailed, "cannot look through /nowhere: No such file or directory");
}

}  // namespace
}  // namespace mneme
