// ServerSettings: where a server listens, for whom and for how many, as options on the command line.
//
// Invariants  an option that has no use beside the others is an error, never ignored.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"
#include "cli/output/output.h"
#include "server/listener/server.h"

namespace mneme {

class ServerSettings {
 public:
  void add_options(CLI::App& command);

  // After parsing. `threads`: the server's. What it has to tell goes to `output`, which outlives the server.
  Result<ServerOptions> choose(const CLI::App& command, uint32_t threads, const Output& output) const;
  // An error if one of the options is given.
  static Result<void> refuse(const CLI::App& command, const char* without);

 private:
  Result<void> choose_tls(const CLI::App& command, ServerOptions& options) const;

  std::string listen_;
  std::string socket_;
  uint32_t connections_ = 256;
  uint32_t blocks_ = 128;
  std::string network_ = "uring";
  std::string auth_ = "trust";
  std::string users_;
  std::string tls_certificate_;
  std::string tls_key_;
  std::string tls_ = "offered";
};

// The first line of a server's output, which programs that start one wait for.
void tell_ready(const Server& server);

}  // namespace mneme
