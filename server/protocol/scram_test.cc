// Goal: who knows the password is let in, and who doesn't isn't; no bytes harm us.
// Method: the exchange that RFC 7677 prints, a verifier of PostgreSQL 15, messages with a part changed.
#include "server/protocol/scram.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <random>

#include "base/testing/test_effort.h"

namespace mneme {
namespace {

// RFC 7677, section 3: the user is "user", the password "pencil".
constexpr const char* kClientFirst = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
constexpr const char* kServerNonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
constexpr const char* kServerFirst =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
constexpr const char* kClientFinal =
    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+"
    "Ute9ytag9zjfMHgsqmmiz7AndVQ=";
constexpr const char* kServerFinal = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

ScramVerifier of_rfc(std::string_view password) {
  const std::string salt("\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81", 16);
  return ScramVerifier::of_password(password, salt);
}

TEST(Scram, TheExchangeOfTheRfc) {
  ScramServer server(of_rfc("pencil"), kServerNonce);
  EXPECT_EQ(*server.first(kClientFirst), kServerFirst);
  EXPECT_EQ(*server.last(kClientFinal), kServerFinal);
}

TEST(Scram, AWrongPasswordIsRefused) {
  ScramServer server(of_rfc("pencil2"), kServerNonce);
  ASSERT_TRUE(server.first(kClientFirst).ok());
  const Result<std::string> last = server.last(kClientFinal);
  ASSERT_FALSE(last.ok());
  EXPECT_THAT(last.error().message, testing::HasSubstr("the password is wrong"));
}

TEST(Scram, NobodyIsAskedAndRefused) {
  const ScramVerifier nobody = ScramVerifier::of_nobody("user", "secret");
  EXPECT_EQ(nobody.salt, ScramVerifier::of_nobody("user", "secret").salt);
  EXPECT_NE(nobody.salt, ScramVerifier::of_nobody("other", "secret").salt);
  ScramServer server(nobody, kServerNonce);
  EXPECT_TRUE(server.first(kClientFirst).ok());
  EXPECT_FALSE(server.last(kClientFinal).ok());
}

TEST(Scram, WhatIsNotOfferedIsRefused) {
  const auto refusal = [](std::string_view first) {
    return ScramServer(of_rfc("pencil"), kServerNonce).first(first).error().message;
  };
  EXPECT_THAT(refusal("p=tls-server-end-point,,n=user,r=abc"), testing::HasSubstr("channel binding"));
  EXPECT_THAT(refusal("n,a=other,n=user,r=abc"), testing::HasSubstr("another user"));
  EXPECT_THAT(refusal("n,,m=1,n=user,r=abc"), testing::HasSubstr("malformed"));
}

// The messages of a client that knows the password; `header`: its flag and what stands behind it.
class BoundClient {
 public:
  explicit BoundClient(std::string header) : header_(std::move(header)) {}

  std::string first() const { return header_ + "n=user,r=abc"; }
  std::string last(const std::string& server_first, std::string_view end_point) const {
    const std::string without_proof = "c=" + base64(header_ + std::string(end_point)) + "," +
                                      server_first.substr(0, server_first.find(','));
    const std::string text = "n=user,r=abc," + server_first + "," + without_proof;
    const std::string salt("\x5b\x6d\x99\x68\x9d\x12\x35\x8e\xec\xa0\x4b\x14\x12\x36\xfa\x81", 16);
    std::string salted(32, '\0');
    PKCS5_PBKDF2_HMAC("pencil", 6, reinterpret_cast<const unsigned char*>(salt.data()), 16, 4096,
                      EVP_sha256(), 32, reinterpret_cast<unsigned char*>(salted.data()));
    const std::string key = hmac(salted, "Client Key");
    std::string proof = hmac(of_rfc("pencil").stored_key, text);
    for (size_t i = 0; i < proof.size(); ++i) proof[i] = static_cast<char>(proof[i] ^ key[i]);
    return without_proof + ",p=" + base64(proof);
  }

 private:
  static std::string base64(const std::string& bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
    text.resize(static_cast<size_t>(EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                                    reinterpret_cast<const unsigned char*>(bytes.data()),
                                                    static_cast<int>(bytes.size()))));
    return text;
  }
  static std::string hmac(const std::string& key, const std::string& text) {
    std::string hash(32, '\0');
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(hash.data()), nullptr);
    return hash;
  }

  const std::string header_;
};

TEST(Scram, AnExchangeIsTiedToItsConnection) {
  constexpr const char* kBound = "p=tls-server-end-point,,";
  struct Case {
    const char* header;
    bool is_bound;              // the client's mechanism
    const char* end_point;      // that the client sees
    const char* first_refusal;  // nullptr: none
    bool gets_in;
  };
  for (const Case& each : std::vector<Case>{
           {kBound, true, "digest", nullptr, true},
           {kBound, true, "another", nullptr, false},
           {kBound, true, "", nullptr, false},
           {"n,,", false, "", nullptr, true},
           {"n,,", false, "digest", nullptr, false},
           {"y,,", false, "", "was told that it is not", false},
           {kBound, false, "digest", "does not offer", false},
           {"n,,", true, "", "does not offer", false},
           {"p=tls-unique,,", true, "digest", "does not offer", false},
       }) {
    SCOPED_TRACE(std::string(each.header) + (each.is_bound ? " bound " : " ") + each.end_point);
    const BoundClient client(each.header);
    ScramServer server(of_rfc("pencil"), kServerNonce, "digest");
    EXPECT_TRUE(server.offers_binding());
    const Result<std::string> first = server.first(client.first(), each.is_bound);
    EXPECT_EQ(first.ok(), each.first_refusal == nullptr);
    if (!first.ok()) {
      EXPECT_THAT(first.error().message, testing::HasSubstr(each.first_refusal));
      continue;
    }
    const Result<std::string> last = server.last(client.last(*first, each.end_point));
    EXPECT_EQ(last.ok(), each.gets_in);
    if (!last.ok()) {
      EXPECT_THAT(last.error().message, testing::HasSubstr("of another connection"));
    }
  }
  // A client that could bind gets in where the server can't.
  const BoundClient client("y,,");
  ScramServer server(of_rfc("pencil"), kServerNonce);
  EXPECT_TRUE(server.last(client.last(*server.first(client.first()), "")).ok());
}

TEST(Scram, ReadsWhatPostgresKeeps) {
  // CREATE ROLE r PASSWORD 'pencil' with the RFC's salt
  const Result<ScramVerifier> read = ScramVerifier::parse(
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
      "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->stored_key, of_rfc("pencil").stored_key);
  EXPECT_EQ(read->server_key, of_rfc("pencil").server_key);
  for (const char* bad : {"", "md5abc", "SCRAM-SHA-256$4096:x$y:z", "SCRAM-SHA-256$0:AAAA$AAAA:AAAA",
                          "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3Otc:wfPLwcE6nTWh"})
    EXPECT_FALSE(ScramVerifier::parse(bad).ok()) << bad;
}

TEST(Scram, ChangedMessagesAreRefused) {
  std::mt19937 random(20261125);
  for (int round = 0; round < 3000; round += step_if_sanitized(5)) {
    std::string first = kClientFirst;
    std::string last = kClientFinal;
    std::string& changed = round % 2 == 0 ? first : last;
    const size_t at = random() % changed.size();
    const char before = changed[at];
    changed[at] = static_cast<char>(random() % 256);
    if (round % 5 == 0) changed.resize(at);
    ScramServer server(of_rfc("pencil"), kServerNonce);
    if (!server.first(first).ok()) continue;
    if (changed.size() > at && changed[at] == before) continue;
    // "y" for "n" in the flag changes what is signed, through the channel's binding.
    EXPECT_FALSE(server.last(last).ok()) << first << " " << last;
  }
}

}  // namespace
}  // namespace mneme
