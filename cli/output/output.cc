#include "cli/output/output.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "base/file/file.h"
#include "engine/schema/qualified_name.h"

namespace mneme {

namespace {

// The errno of the first write to standard output that failed; 0: none has.
int standard_output_error = 0;

void note_standard_output_error() {
  if (standard_output_error == 0) standard_output_error = errno;
}

bool write_standard_output(const std::string& text) {
  errno = 0;
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return true;
  note_standard_output_error();
  return false;
}

// The names in it as people write them: s.t.
std::string readable(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    if (c != kSchemaBegin) shown.push_back(c == kSchemaEnd ? '.' : c);
  }
  return shown;
}

Json readable_json(const Json& json) {
  if (json.is_string()) return readable(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json shown = json.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array()) {
      shown.push_back(readable_json(value));
    } else {
      shown[readable(key)] = readable_json(value);
    }
  }
  return shown;
}

}  // namespace

void Output::text(const std::string& written) const {
  if (quiet_) return;
  const std::string text = readable(written);
  // main() reports at its end what standard output has not taken.
  if (json_path_ != "-") {
    (void)write_standard_output(text);
  } else {
    std::fputs(text.c_str(), stderr);
  }
}

void Output::notice(const std::string& sentence) const {
  if (!quiet_) std::fputs(fmt::format("note: {}\n", sentence).c_str(), stderr);
}

Result<void> Output::json(const Json& object) const {
  if (json_path_.empty()) return {};
  const std::string text = readable_json(object).dump(2) + "\n";
  if (json_path_ == "-") {
    (void)write_standard_output(text);
    return check_standard_output();
  }
  return write_user_file("the result", json_path_, text);
}

Result<void> write_user_file(std::string_view what, const std::string& path, std::string_view text) {
  const std::string doing = fmt::format("write {} to", what);
  std::FILE* const file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return file_error(doing, path, errno);
  const bool written =
      std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int error = errno;
  if (std::fclose(file) != 0 && written) return file_error(doing, path, errno);
  if (!written) return file_error(doing, path, error);
  return {};
}

Result<void> check_standard_output() {
  // A write by somebody else, of help for example, has left its reason in errno.
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) note_standard_output_error();
  if (std::ferror(stdout) == 0 && std::cout.good() && standard_output_error == 0) return {};
  if (standard_output_error == EPIPE) return {};
  return file_error("write the result to", "standard output",
                    standard_output_error != 0 ? standard_output_error : EIO);
}

Json latency_json(const Histogram& nanoseconds) {
  const auto us = [](double ns) { return ns / 1000; };
  const auto quantile = [&](double q) { return us(static_cast<double>(nanoseconds.quantile(q))); };
  return {{"mean", us(nanoseconds.mean())}, {"p50", quantile(0.5)},
          {"p95", quantile(0.95)},          {"p99", quantile(0.99)},
          {"p999", quantile(0.999)},        {"max", us(static_cast<double>(nanoseconds.max()))}};
}

uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

uint64_t resident_bytes() {
  unsigned long pages = 0, resident = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu %lu", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return uint64_t{resident} * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace mneme
