// DurableLogOptions: how a log is opened. The options are grouped by their owners: the threads that append,
// the streams, the buffer, the device, its files, and the flusher.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "logging/buffer/log_buffer_factory.h"
#include "logging/commit/epoch_options.h"
#include "logging/commit/group_commit.h"
#include "logging/commit/stream_options.h"
#include "logging/device/device_options.h"
#include "logging/device/log_device_kind.h"
#include "logging/directory/log_layout.h"
#include "logging/record/record_format.h"

namespace mneme {

// An interval that the log chooses: a quarter of a millisecond where the flusher has a processor to itself,
// which keeps it from flushing for a handful of records. Where the workers need all processors, each flush
// takes time from them, whatever it carries; then flushes are spaced so that this is a few hundredths of
// theirs (docs/performance.md). A thread that waits for one record is not held up by either
// (GroupCommit::waiters_hurry).
inline constexpr std::chrono::microseconds kChosenInterval{-1};

// The files of a log.
struct SegmentOptions {
  size_t bytes = size_t{32} << 20;  // of a file; raised where the largest record needs more
  uint32_t ahead = 1;               // ready when the log is open; later one is
  bool at_need = false;  // made by the thread that needs one, which waits for it; no other thread makes any
  bool reuse = true;     // of files that a checkpoint has passed
};

struct DurableLogOptions {
  // Threads that append
  uint32_t workers = 1;
  // Threads besides, which append a record now and then, and are no reason to space flushes: their ids follow
  // the workers'. A checkpoint's LSN is drawn by one.
  uint32_t helpers = 0;
  size_t largest_payload_bytes = kMaxPayloadBytes;

  // Streams
  // The layout of a new directory; nullopt makes one of a single stream. An existing directory must have this
  // layout; nullopt accepts any.
  std::optional<LogLayout> layout{};
  EpochOptions epoch{};  // of the layout `epoch`, which has no use for the buffer's kind and group's bounds
  StreamOptions streams{};  // of the layout `distributed`
  // Where the loggers or streams of such a layout write, dealt to them in turns. Each is absolute, or inside
  // the data directory, where the log makes missing ones.
  std::vector<std::string> stream_directories{""};

  // Buffer
  LogBufferKind buffer = kDefaultLogBuffer;
  LogBufferTuning tuning{};
  size_t ring_bytes = size_t{16} << 20;  // raised where the workers' largest records need more

  // Device
  LogDeviceKind device = LogDeviceKind::kFile;
  DeviceOptions device_options{};
  SegmentOptions segments{};

  // Flush
  GroupCommit group{.interval = kChosenInterval};

  uint32_t appenders() const { return workers + helpers; }
};

// Whether each worker makes its own records durable, so that there is neither buffer nor flusher (nvm_log.h).
inline bool hardens_by_worker(const DurableLogOptions& options) {
  return !traits_of(options.device).has_flusher && options.layout != LogLayout::kDistributed;
}

}  // namespace mneme
