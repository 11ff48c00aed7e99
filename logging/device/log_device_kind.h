// The kinds of log devices, and what sets each apart. Both come out of the table in log_device_list.h: other
// code asks a kind for a trait, and names no kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace mneme {

enum class LogDeviceKind : uint8_t {
#define LOG_DEVICE(kind, ...) kind,
#include "logging/device/log_device_list.h"
#undef LOG_DEVICE
};

inline constexpr size_t kLogDeviceKinds = 0
#define LOG_DEVICE(...) +1
#include "logging/device/log_device_list.h"
#undef LOG_DEVICE
    ;

struct LogDeviceTraits {
  std::string_view help;  // for --log-device's list
  // The promise of an acknowledgement. For a device with servers, how many of how many copies have the
  // record, as "{} of {} memories", and what it is of a single copy, where that reads otherwise.
  std::string_view promise = "nothing";
  std::string_view promise_of_one{};
  bool has_flusher = true;   // false: persistent memory, to which each worker writes by itself
  bool has_units = true;     // a flusher writes units of blocks (IoOptions::unit_bytes)
  bool has_segments = true;  // a flusher writes segment files in directories
  bool has_io = false;       // those files are written as IoOptions::method says
  bool is_striped = false;   // over several directories at once
  bool notes_close =
      false;                // the log lies in files that no crash is emulated on: its end is noted at closing
  bool is_bounded = false;  // the log goes round in a bounded number of segments, and needs checkpoints
  bool has_servers = false;      // the log lies at servers that RemoteLogOptions names
  bool has_log_servers = false;  // those are log servers of our own (mneme logd)
  bool is_replicated = false;    // those keep a replicated log (replicated_log.h)
  bool loses_cache = false;      // emulates a volatile cache, which a crash empties
  bool hardens = true;           // false: leaves syncs or fences out, so that a crash test must fail
  // Where a stream whose buffer lies in persistent memory (nvm_ring.h) is destaged to.
  std::optional<LogDeviceKind> destaged_to{};
};

const LogDeviceTraits& traits_of(LogDeviceKind kind);
// As --log-device and the manifest name it, such as "file".
std::string_view name_of(LogDeviceKind kind);
// Fails with kInvalidArgument, and a sentence that lists the names, if no kind has this one.
Result<LogDeviceKind> log_device_kind(std::string_view name);
// "file: ...; striped: ...", of all kinds in the table's order.
std::string log_device_help();

}  // namespace mneme
