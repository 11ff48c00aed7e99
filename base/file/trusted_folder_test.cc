// Goal: a folder or file is trusted where nobody but root and the effective user could have put its content,
// and refused otherwise. Method: modes, links and pipes in a temporary folder; other users' files where the
// test runs as root, which alone can make them.
#include "base/file/trusted_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"

namespace mneme {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kStranger = 65534;

class TrustedFolder : public testing::Test {
 protected:
  TrustedFolder() { fs::create_directories(inner_); }

  void write(const std::string& path) { std::ofstream(path) << "content"; }
  void expect_refused(const std::string& path, const std::string& words) {
    test::expect_refused(open_trusted_folder(path), ErrorKind::kFailed, words);
  }

  const test::TemporaryDirectory directory_;
  const std::string outer_ = directory_.path() + "/outer";
  const std::string inner_ = outer_ + "/inner";
};

TEST_F(TrustedFolder, OnesOwnIsOpenedAlsoThroughOnesOwnLinks) {
  fs::create_directory_symlink(outer_, directory_.path() + "/absolute");
  fs::create_directory_symlink("absolute", directory_.path() + "/relative");
  for (const char* name : {"outer", "absolute", "relative", "outer/../relative/."}) {
    const Result<File> opened = open_trusted_folder(directory_.path() + "/" + name + "/inner");
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    struct stat one {
    }, other{};
    ASSERT_EQ(::fstat(opened->descriptor(), &one), 0);
    ASSERT_EQ(::stat(inner_.c_str(), &other), 0);
    EXPECT_EQ(one.st_ino, other.st_ino);
  }
  fs::create_directory_symlink("itself", directory_.path() + "/itself");
  expect_refused(directory_.path() + "/itself", "symbolic links");
}

TEST_F(TrustedFolder, IsMadeForItsOwnerAloneWhateverTheUmask) {
  for (const mode_t mask : {0, 0777}) {
    const std::string path = outer_ + "/" + std::to_string(mask);
    EXPECT_FALSE(open_trusted_folder(path + "/new").ok());
    const mode_t before = ::umask(mask);
    const Result<File> made = open_trusted_folder(path + "/new", {.is_made = true});
    ::umask(before);
    ASSERT_TRUE(made.ok()) << made.error().message;
    for (const std::string& each : {path, path + "/new"})
      EXPECT_EQ(fs::status(each).permissions(), fs::perms::owner_all);
  }
}

TEST_F(TrustedFolder, WhatOthersMayWriteToIsRefused) {
  for (const std::string& path : {outer_, inner_}) {
    for (const fs::perms other : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, other, fs::perm_options::add);
      expect_refused(inner_, "other users may write to " + path);
      fs::permissions(path, other, fs::perm_options::remove);
    }
  }
  EXPECT_TRUE(open_trusted_folder(inner_).ok());
  // As /tmp is: a folder above may be shared so, the folder itself not.
  fs::permissions(outer_, fs::perms::all | fs::perms::sticky_bit);
  EXPECT_TRUE(open_trusted_folder(inner_).ok());
  expect_refused(outer_, "other users may write to " + outer_);

  write(inner_ + "/file");
  const Result<File> folder = open_trusted_folder(inner_);
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(open_trusted_file(*folder, "file").ok());
  fs::permissions(inner_ + "/file", fs::perms::group_write, fs::perm_options::add);
  test::expect_refused(open_trusted_file(*folder, "file"), ErrorKind::kFailed,
                       "other users may write to " + inner_ + "/file");
}

TEST_F(TrustedFolder, OnlyRegularFilesAreOpened) {
  const Result<File> folder = open_trusted_folder(inner_);
  ASSERT_TRUE(folder.ok());
  ASSERT_EQ(::mkfifo((inner_ + "/pipe").c_str(), 0600), 0);
  test::expect_refused(open_trusted_file(*folder, "pipe"), ErrorKind::kFailed,
                       "pipe is not a regular file: remove it");
  write(inner_ + "/file");
  fs::create_symlink("file", inner_ + "/link");
  test::expect_refused(open_trusted_file(*folder, "link"), ErrorKind::kFailed,
                       "cannot open " + inner_ + "/link");
}

TEST_F(TrustedFolder, AnotherUsersIsRefused) {
  EXPECT_TRUE(open_trusted_folder("/usr").ok());  // root's is trusted
  if (::geteuid() != 0) return;                   // root alone can make a stranger's files
  const auto give = [](const std::string& path, uid_t user) {
    ASSERT_EQ(::lchown(path.c_str(), user, user), 0);
  };
  for (const std::string& path : {outer_, inner_}) {
    give(path, kStranger);
    expect_refused(inner_, path + " belongs to user ");
    give(path, 0);
  }
  const std::string link = directory_.path() + "/link";
  fs::create_directory_symlink(outer_, link);
  EXPECT_TRUE(open_trusted_folder(link + "/inner").ok());
  give(link, kStranger);
  expect_refused(link + "/inner", link + " belongs to user ");

  write(inner_ + "/file");
  const Result<File> folder = open_trusted_folder(inner_);
  ASSERT_TRUE(folder.ok());
  give(inner_ + "/file", kStranger);
  test::expect_refused(open_trusted_file(*folder, "file"), ErrorKind::kFailed, "file belongs to user ");
}

TEST_F(TrustedFolder, IsReachedByItsDescriptorWhereverItIsMoved) {
  write(inner_ + "/file");
  const Result<File> folder = open_trusted_folder(inner_);
  ASSERT_TRUE(folder.ok());
  fs::rename(inner_, outer_ + "/elsewhere");
  EXPECT_EQ(*read_text_file(path_at(*folder, "file")), "content");
}

}  // namespace
}  // namespace mneme
