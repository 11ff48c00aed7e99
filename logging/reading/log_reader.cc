#include "logging/reading/log_reader.h"

#include "logging/reading/distributed_log_reader.h"
#include "logging/reading/epoch_log_reader.h"
#include "logging/reading/stream_log_reader.h"

namespace mneme {

namespace {

using ReadLayout = Result<LogContents> (*)(const std::string& directory, const Manifest& manifest,
                                           const LogReadOptions& options);

// By LogLayout.
constexpr ReadLayout kLayoutReaders[] = {read_stream_log, read_epoch_log, read_distributed_log};

}  // namespace

Result<LogContents> read_log(const std::string& directory, const Manifest& manifest,
                             const LogReadOptions& options) {
  return kLayoutReaders[static_cast<size_t>(manifest.layout)](directory, manifest, options);
}

}  // namespace mneme
