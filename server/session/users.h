// Users: who may connect, and what shows that they are who they say.
//
// File        a line a user: NAME SECRET, where the secret is a verifier as PostgreSQL keeps it
//             (pg_authid.rolpassword, SCRAM-SHA-256$...), or the password itself. Lines that begin with # are
//             none. The file is for its owner alone, as a key is.
// Threads     constant once read.
// Errors      read(): the file is missing, may be read by others, or says what can't be: a sentence with the
//             line.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "server/protocol/scram.h"

namespace mneme {

class Users {
 public:
  static Result<Users> read(const std::string& path);
  // A name that is not in the file gets a verifier that no password fits.
  ScramVerifier verifier(std::string_view name) const;

 private:
  std::map<std::string, ScramVerifier, std::less<>> verifiers_;
  std::string secret_;
};

}  // namespace mneme
