// Goal: what a database writes belongs to its owner alone, and no link or other user's file stands in for one
// of its files. Method: links, second names, pipes and umasks; another user's files where the test runs as
// root, which alone can make them.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kOtherUser = 65534;

class OwnFile : public testing::Test {
 protected:
  OwnFile() { std::ofstream(victim_) << "victim"; }
  void expect_victim_unchanged() { EXPECT_EQ(*read_text_file(victim_), "victim"); }
  static mode_t mode_of(const std::string& path) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 ? facts.st_mode & 07777 : 0;
  }

  const test::TemporaryDirectory directory_;
  const std::string victim_ = directory_.path() + "/victim";
  const std::string path_ = directory_.path() + "/file";
};

TEST_F(OwnFile, NoLinkIsFollowed) {
  fs::create_symlink(victim_, path_);
  test::expect_refused(File::open_own(path_, O_RDWR | O_CREAT), ErrorKind::kDamaged,
                       "file is a symbolic link");
  test::expect_refused(File::open_alone(path_, O_RDWR | O_CREAT), ErrorKind::kDamaged,
                       "file is a symbolic link");
  // A new file takes the link's name.
  ASSERT_TRUE(File::make(path_)->write_at(as_bytes("new"), 0).ok());
  EXPECT_FALSE(fs::is_symlink(path_));
  fs::create_symlink(victim_, path_ + ".tmp");
  ASSERT_TRUE(replace_text_file(path_, "text").ok());
  EXPECT_EQ(*read_text_file(path_), "text");
  expect_victim_unchanged();
}

TEST_F(OwnFile, ASecondNameKeepsItsContent) {
  for (const bool is_made : {true, false}) {
    fs::create_hard_link(victim_, path_);
    const auto file = is_made ? File::make(path_) : File::open_alone(path_, O_RDWR | O_CREAT);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write_at(as_bytes("x"), 0).ok());
    expect_victim_unchanged();
    fs::remove(path_);
  }
}

TEST_F(OwnFile, APipeIsNoFile) {
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  for (const int flags : {O_RDWR, O_RDONLY, O_WRONLY})
    test::expect_refused(File::open_own(path_, flags), ErrorKind::kDamaged, "file is not a regular file");
  test::expect_refused(File::open_in(directory_.path(), "file"), ErrorKind::kDamaged,
                       "file is not a regular file");
}

TEST_F(OwnFile, ADirectoryIsNoFile) {
  fs::create_directory(path_);
  for (const int flags : {O_RDWR, O_RDONLY})
    test::expect_refused(File::open_own(path_, flags), ErrorKind::kDamaged, "file is not a regular file");
  test::expect_refused(File::make(path_), ErrorKind::kDamaged, "file is not a regular file");
  test::expect_refused(File::open_in(directory_.path(), "file"), ErrorKind::kDamaged,
                       "file is not a regular file");
}

TEST_F(OwnFile, IsItsOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0, 0022, 0777}) {
    const mode_t before = ::umask(mask);
    EXPECT_TRUE(File::make(path_).ok());
    EXPECT_TRUE(File::open_own(path_ + "-own", O_RDWR | O_CREAT).ok());
    EXPECT_TRUE(replace_text_file(path_ + "-text", "text").ok());
    EXPECT_TRUE(copy_file_in(directory_.path(), "file-text", path_ + "-copy").ok());
    EXPECT_TRUE(make_directories(path_ + "-folder/inner").ok());
    ::umask(before);
    for (const char* each : {"", "-own", "-text", "-copy"}) EXPECT_EQ(mode_of(path_ + each), 0600u) << each;
    for (const char* each : {"-folder", "-folder/inner"}) EXPECT_EQ(mode_of(path_ + each), 0700u) << each;
    for (const auto& each : fs::directory_iterator(directory_.path())) {
      if (each.path() != victim_) fs::remove_all(each.path());
    }
  }
}

TEST_F(OwnFile, ThatOthersCouldOpenIsClosed) {
  std::ofstream(path_) << "rows";
  fs::permissions(path_, fs::perms(0666));
  const auto file = File::open_own(path_, O_RDWR);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(mode_of(path_), 0600u);
  EXPECT_EQ(::fcntl(file->descriptor(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(OwnFile, WhatTheUserAskedForFollowsTheUmask) {
  const mode_t before = ::umask(0027);
  EXPECT_TRUE(replace_text_file(path_, "report", Readers::kByUmask).ok());
  ::umask(before);
  EXPECT_EQ(mode_of(path_), 0640u);
}

TEST_F(OwnFile, AnotherUsersIsRefused) {
  if (::geteuid() != 0) {  // root is another user then; no other's files can be made
    test::expect_refused(File::open_own("/etc/passwd", O_RDONLY), ErrorKind::kFailed,
                         "/etc/passwd belongs to user root");
    return;
  }
  std::ofstream(path_) << "theirs";
  ASSERT_EQ(::chown(path_.c_str(), kOtherUser, kOtherUser), 0);
  test::expect_refused(File::open_own(path_, O_RDWR), ErrorKind::kFailed, "file belongs to user ");
  test::expect_refused(File::open_in(directory_.path(), "file"), ErrorKind::kFailed, "file belongs to user ");
  // In that user's own directory only what is theirs is read, whatever leads there.
  const std::string theirs = directory_.path() + "/theirs";
  fs::create_directory(theirs);
  fs::rename(path_, theirs + "/file");
  fs::create_hard_link(victim_, theirs + "/hard");
  fs::create_symlink(victim_, theirs + "/link");
  fs::create_directory_symlink(directory_.path(), theirs + "/folder");
  ASSERT_EQ(::chown(theirs.c_str(), kOtherUser, kOtherUser), 0);
  EXPECT_EQ(*read_text_in(theirs, "file"), "theirs");
  for (const char* each : {"hard", "folder/victim", "../victim"}) {
    test::expect_refused(read_text_in(theirs, each), ErrorKind::kFailed, " belongs to user ");
  }
  test::expect_refused(read_text_in(theirs, "link"), ErrorKind::kDamaged, "link is a symbolic link");
}

}  // namespace
}  // namespace mneme
