// Goal: a server gets its certificate and key from files that fit, and each other file is refused with what
// to do; bytes that are no TLS end a session, and no plain byte passes before the handshake.
// Method: certificates made here, with keys of several kinds.
#include "network/tls_certificate.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/testing/test_directory.h"
#include "network/tls_session.h"

namespace mneme {
namespace {

using testing::HasSubstr;

class TlsCertificateTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }

  // Makes NAME.crt and NAME.key; returns the certificate's bytes.
  std::string make(const std::string& name, EVP_PKEY* key, const EVP_MD* digest,
                   const char* passphrase = nullptr) {
    X509* const certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("bank"), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_set_pubkey(certificate, key);
    EXPECT_GT(X509_sign(certificate, key, digest), 0);
    std::FILE* const to = std::fopen(path(name + ".crt").c_str(), "w");
    EXPECT_EQ(PEM_write_X509(to, certificate), 1);
    std::fclose(to);
    std::FILE* const key_to = std::fopen(path(name + ".key").c_str(), "w");
    EXPECT_EQ(PEM_write_PrivateKey(key_to, key, passphrase == nullptr ? nullptr : EVP_aes_256_cbc(), nullptr,
                                   0, nullptr, const_cast<char*>(passphrase)),
              1);
    std::fclose(key_to);
    permit(name + ".key", 0600);
    unsigned char* bytes = nullptr;
    const int size = i2d_X509(certificate, &bytes);
    std::string der(reinterpret_cast<char*>(bytes), static_cast<size_t>(size));
    OPENSSL_free(bytes);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return der;
  }
  void permit(const std::string& name, unsigned mode) const {
    std::filesystem::permissions(path(name), static_cast<std::filesystem::perms>(mode));
  }
  std::string refusal(const std::string& certificate, const std::string& key) const {
    const auto read = TlsCertificate::read(path(certificate), path(key));
    return read.ok() ? "" : read.error().message;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(TlsCertificateTest, TiesPasswordsToItsDigest) {
  const std::string der = make("ec", EVP_EC_gen("P-256"), EVP_sha256());
  const auto read = TlsCertificate::read(path("ec.crt"), path("ec.key"));
  ASSERT_TRUE(read.ok()) << read.error().message;
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(der.data()), der.size(), hash);
  EXPECT_EQ((*read)->end_point(), std::string(reinterpret_cast<char*>(hash), sizeof hash));

  make("rsa", EVP_RSA_gen(2048), EVP_sha384());
  const auto longer = TlsCertificate::read(path("rsa.crt"), path("rsa.key"));
  ASSERT_TRUE(longer.ok()) << longer.error().message;
  EXPECT_EQ((*longer)->end_point().size(), size_t{SHA384_DIGEST_LENGTH});

  make("ed", EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), nullptr);
  const auto without = TlsCertificate::read(path("ed.crt"), path("ed.key"));
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_EQ((*without)->end_point(), "");
}

TEST_F(TlsCertificateTest, RefusesFilesThatDoNotFit) {
  make("one", EVP_EC_gen("P-256"), EVP_sha256());
  make("two", EVP_EC_gen("P-256"), EVP_sha256());
  make("locked", EVP_EC_gen("P-256"), EVP_sha256(), "secret");
  EXPECT_THAT(refusal("one.crt", "two.key"), HasSubstr("does not fit the certificate"));
  EXPECT_THAT(refusal("none.crt", "one.key"), HasSubstr("cannot read the certificate"));
  EXPECT_THAT(refusal("one.key", "one.key"), HasSubstr("cannot read the certificate"));
  EXPECT_THAT(refusal("one.crt", "none.key"), HasSubstr("read the key file"));
  EXPECT_THAT(refusal("one.crt", "one.crt"), HasSubstr("chmod 600"));
  permit("one.crt", 0600);
  EXPECT_THAT(refusal("one.crt", "one.crt"), HasSubstr("cannot read a private key"));
  EXPECT_THAT(refusal("locked.crt", "locked.key"), HasSubstr("no passphrase"));
  permit("one.key", 0640);
  EXPECT_THAT(refusal("one.crt", "one.key"), HasSubstr("chmod 600"));
  std::ofstream(path("large.key")) << std::string((size_t{1} << 20) + 1, 'k');
  permit("large.key", 0600);
  EXPECT_THAT(refusal("one.crt", "large.key"), HasSubstr("which no key has"));
}

TEST_F(TlsCertificateTest, GarbageEndsTheSessionAndNothingLeavesBeforeTheHandshake) {
  make("ec", EVP_EC_gen("P-256"), EVP_sha256());
  const auto certificate = TlsCertificate::read(path("ec.crt"), path("ec.key"));
  ASSERT_TRUE(certificate.ok());
  TlsSession session(*certificate);
  ASSERT_TRUE(session.send(as_bytes(std::string_view("a row"))).ok());
  session.finish();
  EXPECT_EQ(session.outgoing_bytes(), 0U);
  std::vector<std::byte> plain;
  const auto received = session.receive(as_bytes(std::string_view("Q\0\0\0\x0dSELECT 1\0", 14)), plain);
  ASSERT_FALSE(received.ok());
  EXPECT_THAT(received.error().message, HasSubstr("the TLS handshake failed: "));
  EXPECT_TRUE(plain.empty());
  EXPECT_FALSE(session.is_established());
}

}  // namespace
}  // namespace mneme
