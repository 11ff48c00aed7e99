// Goal: a key file of a replicated log is read as it is documented, and no error repeats what may be a
// secret.
#include "logging/replicated/server_access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/testing/test_directory.h"

namespace mneme {
namespace {

constexpr std::string_view kNames[] = {"user", "password", "ssl."};

class ServerAccessTest : public testing::Test {
 protected:
  Result<ServerAccess> read(const std::string& text, mode_t mode = 0600) {
    const std::string path = directory_.path() + "/access";
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return ServerAccess::read(path, kNames);
  }
  std::string error(const std::string& text, mode_t mode = 0600) { return read(text, mode).error().message; }

  test::TemporaryDirectory directory_;
};

TEST_F(ServerAccessTest, LinesAreNamesAndValues) {
  const Result<ServerAccess> access =
      read("# who\nuser = mneme \r\n\n  password=a=b c\nssl.ca.location=/etc/ca.pem");
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->value("user"), "mneme");
  EXPECT_EQ(access->value("password"), "a=b c");
  EXPECT_EQ(access->value("ssl.ca.location"), "/etc/ca.pem");
  EXPECT_EQ(access->value("token"), "");
  EXPECT_EQ(access->values().size(), 3u);
  EXPECT_TRUE(ServerAccess::read("", kNames)->values().empty());
}

TEST_F(ServerAccessTest, RefusalsRepeatNoSecret) {
  for (const char* const text :
       {"user=x\nhunter2\n", "user=x\nhunter2=y", "user=x\nssl.=hunter2", "user=x\n=hunter2"}) {
    const std::string message = error(text);
    EXPECT_NE(message.find("line 2"), std::string::npos) << message;
    EXPECT_EQ(message.find("hunter2"), std::string::npos) << message;
  }
  EXPECT_NE(error("user=").find("user has no value"), std::string::npos);
  EXPECT_NE(error("user=x\nuser=hunter2").find("user is there twice"), std::string::npos);
  EXPECT_FALSE(read("user=x", 0644).ok());
  EXPECT_FALSE(ServerAccess::read(directory_.path() + "/none", kNames).ok());
}

}  // namespace
}  // namespace mneme
