// For tests: a log in persistent memory, and a directory as a crash would leave it.
#pragma once

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "logging/testing/test_log.h"

namespace mneme::test {

// Small segments, so that a test crosses several, and no latency.
inline DurableLogOptions small_nvm_log(uint32_t workers = 1) {
  DurableLogOptions options;
  options.workers = workers;
  options.device = LogDeviceKind::kNvm;
  options.device_options.latency = std::chrono::nanoseconds(0);
  options.largest_payload_bytes = 1024;
  options.segments.bytes = 32 * 1024;
  return options;
}

// The directory as it is now: what a crash in this moment would leave. No record is written meanwhile; a
// segment that is just being made may come too late for the manifest, which is copied first.
class CrashImage {
 public:
  explicit CrashImage(const std::string& directory) {
    // Again, where the manifest has changed meanwhile: the files would hold what no crash leaves beside it,
    // as a segment with records that is not listed.
    for (std::string manifest; manifest != manifest_of(directory);) {
      manifest = manifest_of(directory);
      copy(directory, manifest);
    }
  }
  const std::string& path() const { return directory_.path(); }

 private:
  static std::string manifest_of(const std::string& directory) {
    return must(read_text_file(directory + "/MANIFEST"));
  }
  void copy(const std::string& directory, const std::string& manifest) const {
    for (const auto& file : std::filesystem::directory_iterator(directory_.path()))
      std::filesystem::remove_all(file.path());
    must(replace_text_file(directory_.path() + "/MANIFEST", manifest));
    // A file may go meanwhile: a manifest that gets its name, say.
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
      if (file.path().filename() == "MANIFEST") continue;
      std::error_code gone;
      do {  // a straggler's signal may interrupt it (passive_group_commit.h)
        std::filesystem::copy(file.path(), directory_.path() + "/" + file.path().filename().string(),
                              std::filesystem::copy_options::overwrite_existing, gone);
      } while (gone == std::errc::interrupted);
    }
  }

  TemporaryDirectory directory_;
};

}  // namespace mneme::test
