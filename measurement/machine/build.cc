#include "measurement/machine/build.h"

#include <fmt/format.h>

#include <fstream>
#include <span>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace mneme {

std::string version_text(const Build& build) {
  if (build.commit.empty()) return fmt::format("mneme {} (built outside git)", build.version);
  return fmt::format("mneme {} (commit {})", build.version, build.commit);
}

nlohmann::ordered_json json_of(const Build& build) {
  return {{"compiler", build.compiler},
          {"flags", build.flags},
          {"type", build.type},
          {"program", program_digest()}};
}

nlohmann::ordered_json commit_json(const Build& build) {
  return build.commit.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(build.commit);
}

const std::string& program_digest() {
  static const std::string text = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    uint32_t digest = 0;
    std::string buffer(1 << 20, '\0');
    while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0) {
      digest = crc32c(std::as_bytes(std::span(buffer.data(), static_cast<size_t>(file.gcount()))), digest);
    }
    return fmt::format("{:08x}", digest);
  }();
  return text;
}

}  // namespace mneme
