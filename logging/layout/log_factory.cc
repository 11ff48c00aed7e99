#include "logging/layout/log_factory.h"

#include <fmt/format.h>

#include "logging/layout/distributed_log.h"
#include "logging/layout/epoch_log.h"
#include "logging/nvm/nvm_log.h"

namespace mneme {

namespace {

template <typename Log>
Result<std::unique_ptr<DirectoryLog>> as_directory_log(Result<std::unique_ptr<Log>> log) {
  if (!log.ok()) return log.error();
  return std::unique_ptr<DirectoryLog>(std::move(*log));
}

}  // namespace

Result<std::unique_ptr<DirectoryLog>> open_directory_log(ManifestFile& manifest,
                                                         const DurableLogOptions& options) {
  const LogLayout layout = manifest.current().layout;
  if (options.layout && *options.layout != layout) {
    const bool is_one = layout == LogLayout::kStream;
    return invalid_argument("{} was made with {}, which its log keeps: leave --log-buffer out, or choose {}",
                            manifest.directory(),
                            is_one ? "a log of one stream" : fmt::format("--log-buffer {}", name_of(layout)),
                            is_one ? "another than epoch and distributed" : name_of(layout));
  }
  if (layout == LogLayout::kEpoch) return as_directory_log(EpochLog::open(manifest, options));
  if (layout == LogLayout::kDistributed) return as_directory_log(DistributedLog::open(manifest, options));
  const LogDeviceTraits& device = traits_of(options.device);
  if (device.has_flusher) return as_directory_log(DurableLog::open(manifest, options));
  NvmLogOptions nvm;
  nvm.workers = options.appenders();
  nvm.largest_payload_bytes = options.largest_payload_bytes;
  nvm.segment_bytes = options.segments.bytes;
  nvm.segments_ahead = options.segments.ahead;
  nvm.memory = {.latency = options.device_options.latency.value_or(kNvmLatency),
                .volatile_cache = device.loses_cache,
                .seed = options.device_options.lossy_seed};
  nvm.hardens = device.hardens;
  return as_directory_log(NvmLog::open(manifest, nvm));
}

}  // namespace mneme
