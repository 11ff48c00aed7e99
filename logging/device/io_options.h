// IoOptions: how the log's writes reach a file, and when they count as done. Each choice is there to be
// measured (docs/performance.md); the defaults are what measured best.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mneme {

enum class IoMethod : uint8_t {
  kUring,        // io_uring; falls back to kThreads, with a notice, where it is not permitted
  kPolledUring,  // the same, and a thread of the kernel's looks for requests: no system call, but a processor
  kThreads,      // pwrite and fdatasync on a thread each
  kInline,  // pwrite and fdatasync by the thread that flushes: one that waits for its record, if any does
};

enum class IoSync : uint8_t {
  kFlush,         // a write, and then an fdatasync that covers it
  kWriteThrough,  // a write that is durable when it ends (RWF_DSYNC)
};

struct IoOptions {
  IoMethod method = IoMethod::kUring;
  IoSync sync = IoSync::kFlush;
  bool registered = true;                 // io_uring: buffers and files are made known to the kernel once
  uint32_t depth = 4;                     // writes in flight at most, each with its sync
  size_t unit_bytes = size_t{512} << 10;  // of one write, unless a single record needs more
};

inline constexpr uint32_t kMostInFlight = 32;
inline constexpr size_t kLargestUnitBytes = size_t{16} << 20;

}  // namespace mneme
