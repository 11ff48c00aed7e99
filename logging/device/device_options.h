// DeviceOptions: how the log's device is opened, whichever kind it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "logging/device/io_options.h"
#include "logging/device/remote_options.h"

namespace mneme {

class IoQueue;

struct DeviceOptions {
  IoOptions io{};
  // Where the striped device writes: two or more, absolute or inside the data directory, where it makes
  // missing ones.
  std::vector<std::string> directories{};
  uint64_t lossy_seed = 1;  // chooses what the lossy devices tear and reorder
  // Injected: no flush takes less. Without it as the device has it: none, but of emulated persistent memory.
  std::optional<std::chrono::nanoseconds> latency{};
  RemoteLogOptions remote{};
  // Makes the queue by which the log's files are written, in place of what `io` says. It writes single
  // sectors.
  std::function<std::unique_ptr<IoQueue>()> make_queue{};
};

}  // namespace mneme
