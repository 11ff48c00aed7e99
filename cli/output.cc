#include "cli/output.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <fstream>

#include "base/file.h"
#include "cli/file_checks.h"

namespace mneme {

void Output::add_options(CLI::App& command) {
  command
      .add_option("--json", json_path_,
                  "write the result as one JSON object to this file ('-': standard output)")
      ->check(writable_file());
  command.add_flag("--quiet", quiet_, "no progress, no text: the exit status and --json tell");
}

void Output::text(const std::string& text) const {
  if (quiet_) return;
  std::FILE* const to = json_path_ == "-" ? stderr : stdout;
  std::fputs(text.c_str(), to);
  std::fflush(to);
}

void Output::notice(const std::string& sentence) const {
  if (!quiet_) std::fputs(fmt::format("note: {}\n", sentence).c_str(), stderr);
}

Result<void> Output::json(const Json& object) const {
  if (json_path_.empty()) return {};
  const std::string text = object.dump(2) + "\n";
  if (json_path_ == "-") {
    if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0) {
      return file_error("write the result to", "standard output", errno);
    }
    return {};
  }
  std::ofstream file(json_path_);
  file << text;
  file.close();
  if (!file) return file_error("write the result to", json_path_, errno);
  return {};
}

Json latency_json(const Histogram& nanoseconds) {
  const auto us = [](double ns) { return ns / 1000; };
  const auto quantile = [&](double q) { return us(static_cast<double>(nanoseconds.quantile(q))); };
  return {{"mean", us(nanoseconds.mean())}, {"p50", quantile(0.5)},    {"p95", quantile(0.95)},
          {"p99", quantile(0.99)},          {"p999", quantile(0.999)}, {"max", us(static_cast<double>(nanoseconds.max()))}};
}

uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace mneme
