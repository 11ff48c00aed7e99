// PersistentMemory: a file, mapped, that stands for non-volatile memory: stored with streaming stores, made
// durable by a fence and no system call.
//
// Flow        store_line() ... store_line() -> harden(): what this thread stored is durable. Or in steps, for
//             a caller that makes several stores durable at once: store_line() ... delay() ... -> drain(),
//             fence()
// Stores      streaming ones go to memory past the caches, through the processor's write-combining buffers,
//             which a fence, an interrupt or a context switch drains: as stores to memory that is mapped
//             write-combining do (section 4.1). Where caches are durable, too, ordinary ones serve: they are
//             durable once they have left the store buffer, in program order on x86, and need neither
//             (section 4.2).
// Emulation   the fence is followed by a wait that occupies the processor, for what slower memory would take
//             longer than DRAM: 1.2 us by default. Where the file lies on memory that is persistent (DAX,
//             mapped with MAP_SYNC), what is hardened survives a power failure. An ordinary file's pages
//             stand for such memory elsewhere: they survive the process, however it dies, not the machine.
//             is_persistent() says which.
// Crashes     an ordinary file's pages survive a process even where it forgot the fence, so a killed process
//             would prove nothing. With `volatile_cache`, stores go to the process's own memory, which stands
//             for the processor's caches and dies with it; harden() writes its lines back, in some order, and
//             a line now and then is written back sooner, as caches do.
// Threads     any. A line is stored by one thread at a time, and hardened by the one that stored it.
// Waiting     harden() alone, for the latency.
// Source      Wang and Johnson, "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), sections
//             4.1, 4.2 and 5.1 (the delay); Fang et al., "High Performance Database Logging using Storage
//             Class Memory" (ICDE'11).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/cache_line.h"
#include "base/check.h"
#include "base/file/file.h"
#include "base/memory/aligned_bytes.h"
#include "base/result.h"

namespace mneme {

inline constexpr std::chrono::nanoseconds kNvmLatency{1200};

struct PersistentMemoryOptions {
  std::chrono::nanoseconds latency = kNvmLatency;
  bool volatile_cache = false;
  bool durable_cache = false;  // ordinary stores will do; not with a volatile cache
  uint64_t seed = 1;           // chooses which lines the volatile cache writes back early
};

class PersistentMemory {
 public:
  // Maps the whole file, whose pages are brought into memory first. Its size is a multiple of a page's.
  static Result<std::unique_ptr<PersistentMemory>> map(const File& file,
                                                       const PersistentMemoryOptions& options);
  PersistentMemory(const PersistentMemory&) = delete;
  PersistentMemory& operator=(const PersistentMemory&) = delete;
  ~PersistentMemory();

  size_t size() const { return bytes_; }
  bool is_persistent() const { return is_persistent_; }

  // Stores a cache line at `at`, a multiple of its size.
  void store_line(size_t at, const std::byte* line) {
    DCHECK(at % kCacheLineBytes == 0);
    DCHECK(at + kCacheLineBytes <= bytes_);
    if (cache_) {
      store_in_cache(at, line);
    } else if (options_.durable_cache) {
      std::memcpy(memory_ + at, line, kCacheLineBytes);
    } else {
      stream_line(memory_ + at, line);
    }
  }
  // The lines that this thread stored in [at, at + bytes) are durable on return.
  void harden(size_t at, size_t bytes);

  // The memory as this process sees it.
  std::byte* view() { return cache_ ? cache_->data() : memory_; }
  bool has_volatile_cache() const { return cache_.has_value(); }
  // Waits, busy, for what slower memory would take longer.
  void delay() const;
  // This thread's streaming stores, to whichever memory, leave the write-combining buffers.
  static void fence();
  // For a volatile cache: makes these lines durable, which one thread stored, as a fence or an interrupt
  // would.
  void drain(size_t at, size_t bytes);

 private:
  PersistentMemory(std::byte* memory, size_t bytes, bool is_persistent,
                   const PersistentMemoryOptions& options);

  // Past the caches, so that the fence alone makes it durable. ThreadSanitizer sees plain stores only, and
  // gets those.
  static void stream_line(std::byte* to, const std::byte* from) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    for (size_t i = 0; i < kCacheLineBytes; i += sizeof(__m128i)) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    }
#else
    std::memcpy(to, from, kCacheLineBytes);
#endif
  }
  uint64_t chance(size_t at) const;
  void store_in_cache(size_t at, const std::byte* line);
  void write_back(size_t at) { std::memcpy(memory_ + at, cache_->data() + at, kCacheLineBytes); }

  std::byte* const memory_;
  const size_t bytes_;
  const bool is_persistent_;
  const PersistentMemoryOptions options_;
  std::optional<AlignedBytes> cache_;  // of a volatile cache: the lines as this process sees them
};

}  // namespace mneme
