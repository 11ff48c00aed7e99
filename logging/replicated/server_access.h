// ServerAccess: who the engine is to the servers of a replicated log, and how the connection is encrypted:
// the lines NAME=VALUE of a key file (--log-key), which only its owner may read.
//
// NATS        user and password, or token, or credentials (the path of a .creds file); tls=required, tls_ca
//             (a file of those who sign servers' certificates; without it the system's), tls_certificate and
//             tls_key, by which the engine shows who it is; tls_hostname, where the certificate names another
//             one.
// Kafka       librdkafka's own properties, of those whose names begin with security., sasl., ssl. and
//             enable.ssl. or enable.sasl.
// Lines       spaces around a name and a value don't count; empty lines, and those that begin with #,
//             neither.
// Invariants  no value is in an error's text.
// Errors      kInvalidArgument: a name that is not known, twice the same, or no file; kFailed: the file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mneme {

class ServerAccess {
 public:
  // `path` empty: nothing is said. `names`: those that are known; one that ends with a dot stands for all
  // that begin with it.
  static Result<ServerAccess> read(const std::string& path, std::span<const std::string_view> names);

  // Empty: it is not there.
  std::string value(std::string_view name) const;
  const std::vector<std::pair<std::string, std::string>>& values() const { return values_; }

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

}  // namespace mneme
