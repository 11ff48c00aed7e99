// Output: where a command's result goes: a text for people, a JSON object for programs, progress for the
// impatient.
//
// With `--json -` the object alone goes to standard output and the text to standard error; else the text goes
// to standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "base/histogram.h"
#include "base/result.h"

namespace mneme {

// Keeps fields in the order in which they were added.
using Json = nlohmann::ordered_json;

class Output {
 public:
  bool quiet() const { return quiet_; }
  bool wants_json() const { return !json_path_.empty(); }
  void text(const std::string& text) const;
  // Something that the user should know though it is no error: what the machine lacks, what a setting costs.
  void notice(const std::string& sentence) const;
  Result<void> json(const Json& object) const;

 private:
  friend void add_output_options(CLI::App& command, Output& output);

  std::string json_path_;
  bool quiet_ = false;
};

// Writes a text for the user into a file, a device or a pipe, which may be there already. `what` it is, in
// the error: "the result".
Result<void> write_user_file(std::string_view what, const std::string& path, std::string_view text);

// Whether all that was written to standard output has arrived there, by whatever way. A pipe that no process
// reads any more is no error.
Result<void> check_standard_output();

// {"mean","p50","p95","p99","p999","max"} in microseconds, of a histogram of nanoseconds.
Json latency_json(const Histogram& nanoseconds);

// The process's largest resident set so far.
uint64_t peak_rss_bytes();
// Memory of the process that is resident now; 0 if the system does not say.
uint64_t resident_bytes();

}  // namespace mneme
