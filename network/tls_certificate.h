// TlsCertificate: a server's certificate with its private key, from files in PEM, ready for TLS sessions.
//
// Invariants  the key fits the certificate. Sessions speak TLS 1.2 or later, with fresh keys for each
//             connection (ECDHE), without renegotiation, compression or resumption.
// Threads     constant once read. OpenSSL counts references to it atomically, so sessions of any thread share
//             one.
// Errors      read(): a file is missing or holds no PEM, the key is readable by others, has a passphrase, or
//             does not fit: a sentence with the path, and what to do.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;

namespace mneme {

class TlsCertificate {
 public:
  // The certificate's file may go on with those of the authorities between it and the one that clients know.
  static Result<std::shared_ptr<const TlsCertificate>> read(const std::string& certificate_path,
                                                            const std::string& key_path);
  ~TlsCertificate();
  TlsCertificate(const TlsCertificate&) = delete;
  TlsCertificate& operator=(const TlsCertificate&) = delete;

  // The certificate's digest, which ties a password exchange to the TLS connection that it travels in
  // (tls-server-end-point, RFC 5929). Empty where its signature has no digest, as Ed25519's: there is then no
  // such binding.
  const std::string& end_point() const { return end_point_; }

  ssl_ctx_st* context() const { return context_; }

 private:
  explicit TlsCertificate(ssl_ctx_st* context) : context_(context) {}

  ssl_ctx_st* const context_;
  std::string end_point_;
};

}  // namespace mneme
