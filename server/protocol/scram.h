// Scram: SCRAM-SHA-256, by which a client shows that it knows a password that neither travels nor is kept.
//
//     ScramServer server(verifier);
//     server.first(client-first-message) -> server-first-message
//     server.last(client-final-message)  -> server-final-message: the client is who it says
//
// Unknown     a user that there is not is asked like any other (ScramVerifier::of_nobody), and fails at the
//             end: so that no client learns who there is.
// Binding     inside TLS the exchange may include the digest of the server's certificate
//             (SCRAM-SHA-256-PLUS, tls-server-end-point). A client that is connected to somebody between,
//             who has another certificate, then fails. So does one that was told that the server offers no
//             binding.
// Threads     one owner. Errors: what the client sends is no message of the protocol, or the password is
//             wrong.
// Source      RFC 5802, RFC 7677; RFC 5929; PostgreSQL 15, chapter 55.3.1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mneme {

struct ScramVerifier {
  uint32_t iterations = 0;
  std::string salt;        // bytes
  std::string stored_key;  // bytes
  std::string server_key;  // bytes
  bool is_nobody = false;

  static ScramVerifier of_password(std::string_view password, std::string_view salt,
                                   uint32_t iterations = 4096);
  // Reads a verifier as PostgreSQL keeps it: SCRAM-SHA-256$4096:SALT$STORED:SERVER, in Base64.
  static Result<ScramVerifier> parse(std::string_view text);
  // Makes the verifier of a user who does not exist, always the same one for a name.
  static ScramVerifier of_nobody(std::string_view name, std::string_view secret);
};

class ScramServer {
 public:
  // `nonce`: printable, without commas, never used before. `end_point`: the digest of the server's
  // certificate; empty: binding is not offered.
  ScramServer(ScramVerifier verifier, std::string nonce, std::string end_point = {})
      : verifier_(std::move(verifier)), nonce_(std::move(nonce)), end_point_(std::move(end_point)) {}

  bool offers_binding() const { return !end_point_.empty(); }
  // `is_bound`: the client has chosen SCRAM-SHA-256-PLUS, which binding is offered for.
  Result<std::string> first(std::string_view message, bool is_bound = false);
  Result<std::string> last(std::string_view message);

 private:
  const ScramVerifier verifier_;
  std::string nonce_;
  const std::string end_point_;
  std::string binding_;  // in Base64, as the client's last message must repeat it
  std::string client_first_bare_;
  std::string server_first_;
};

}  // namespace mneme
