#include "base/file/directory.h"

#include <dirent.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/testing/test_directory.h"
#include "base/testing/test_refusal.h"

namespace {

// How many entries the system tells yet, before it fails; of this thread.
thread_local int entries_left = std::numeric_limits<int>::max();

template <typename Entry>
Entry* next_entry(DIR* directory, const char* name) {
  if (entries_left-- <= 0) {
    errno = EIO;
    return nullptr;
  }
  return reinterpret_cast<Entry* (*)(DIR*)>(::dlsym(RTLD_NEXT, name))(directory);
}

}  // namespace

// In the place of the C library's: whichever of them the standard library calls.
extern "C" dirent* readdir(DIR* directory) {
  return next_entry<dirent>(directory, "readdir");
}
extern "C" dirent64* readdir64(DIR* directory) {
  return next_entry<dirent64>(directory, "readdir64");
}

namespace mneme {
namespace {

using test::TemporaryDirectory;

TEST(Directory, AreToldInTheOrderOfTheirNames) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(paths_in(directory.path())->empty());
  for (const char* name : {"log-2", "MANIFEST", "log-1", ".hidden"})
    std::ofstream(directory.path() + "/" + name) << name;
  std::vector<std::string> expected;
  for (const char* name : {".hidden", "MANIFEST", "log-1", "log-2"})
    expected.push_back(directory.path() + "/" + name);
  EXPECT_EQ(*paths_in(directory.path()), expected);
}

TEST(Directory, NoDirectoryAndHalfOfOneAreErrors) {
  test::expect_refused(paths_in("/nowhere"), ErrorKind::kFailed,
                       "cannot look through /nowhere: No such file or directory");
  const TemporaryDirectory directory;
  for (const char* name : {"a", "b", "c"}) std::ofstream(directory.path() + "/" + name) << name;
  for (const int told : {0, 1, 2, 3, 4}) {
    entries_left = told;
    const auto paths = paths_in(directory.path());
    entries_left = std::numeric_limits<int>::max();
    test::expect_refused(paths, ErrorKind::kFailed,
                         "cannot look through " + directory.path() + ": Input/output error");
  }
  EXPECT_EQ(paths_in(directory.path())->size(), 3u);
}

}  // namespace
}  // namespace mneme
