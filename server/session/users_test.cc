// Goal: a file of users is read as it is meant, and one that says what can't be is refused with its line.
// Method: files of each kind, in a folder of the test's.
#include "server/session/users.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/testing/test_directory.h"

namespace mneme {
namespace {

class UsersTest : public testing::Test {
 protected:
  Result<Users> read(const std::string& text) {
    const std::string path = directory_.path() + "/users";
    std::ofstream(path) << text;
    std::filesystem::permissions(path,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return Users::read(path);
  }
  std::string refusal(const std::string& text) {
    const Result<Users> users = read(text);
    return users ? "" : users.error().message;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(UsersTest, HaveAPasswordOrAVerifier) {
  const std::string verifier =
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
      "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
  const Result<Users> users = read("# the bank's\n\nann a secret\r\nbob " + verifier + "\n");
  ASSERT_TRUE(users.ok()) << users.error().message;
  const ScramVerifier ann = users->verifier("ann");
  EXPECT_EQ(ann.stored_key, ScramVerifier::of_password("a secret", ann.salt).stored_key);
  EXPECT_EQ(users->verifier("bob").iterations, 4096U);
  EXPECT_TRUE(users->verifier("eve").is_nobody);
}

TEST_F(UsersTest, AreRefusedWithTheirLine) {
  using testing::HasSubstr;
  EXPECT_THAT(refusal("ann secret\nbob\n"), HasSubstr(":2: a line of users is NAME SECRET"));
  EXPECT_THAT(refusal("ann SCRAM-SHA-256$x\n"), HasSubstr(":1: a SCRAM verifier is written"));
  EXPECT_THAT(refusal("ann a\nann b\n"), HasSubstr(":2: the user ann stands in an earlier line"));
  EXPECT_THAT(refusal("# nobody\n"), HasSubstr("names no user"));
  EXPECT_THAT(refusal(std::string(2 << 20, '#')), HasSubstr("bytes of users"));
}

}  // namespace
}  // namespace mneme
