#include "logging/nvm/persistent_memory.h"

#include <sys/mman.h>

#include <cerrno>

#include "base/clock.h"

namespace mneme {

namespace {

constexpr uint64_t kEarlyOneIn = 8;

void* map_with(int flags, const File& file, size_t bytes) {
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file.descriptor(), 0);
}

void busy_wait(std::chrono::nanoseconds time) {
  if (time.count() == 0) return;
  const uint64_t end = monotonic_ns() + static_cast<uint64_t>(time.count());
  while (monotonic_ns() < end) {
  }
}

}  // namespace

Result<std::unique_ptr<PersistentMemory>> PersistentMemory::map(const File& file,
                                                                const PersistentMemoryOptions& options) {
  const auto size = file.size();
  if (!size.ok()) return size.error();
  CHECK(*size > 0);
  CHECK(*size % AlignedBytes::kAlignment == 0);
  bool is_persistent = false;
  void* memory = MAP_FAILED;
#if defined(__x86_64__)  // elsewhere stores go through caches that nothing here writes back
  memory = map_with(MAP_SHARED_VALIDATE | MAP_SYNC, file, *size);
  is_persistent = memory != MAP_FAILED;
#endif
  if (memory == MAP_FAILED) memory = map_with(MAP_SHARED, file, *size);
  if (memory == MAP_FAILED) return file_error("map", file.path(), errno);
  // A shared mapping's pages are writable only once they were written to: else a worker would stop for each
  // new one. A kernel older than 5.14 refuses; then it does.
  ::madvise(memory, *size, MADV_POPULATE_WRITE);
  // A child of fork() would keep the file, and its lock.
  ::madvise(memory, *size, MADV_DONTFORK);
  return std::unique_ptr<PersistentMemory>(
      new PersistentMemory(static_cast<std::byte*>(memory), *size, is_persistent, options));
}

PersistentMemory::PersistentMemory(std::byte* memory, size_t bytes, bool is_persistent,
                                   const PersistentMemoryOptions& options)
    : memory_(memory), bytes_(bytes), is_persistent_(is_persistent), options_(options) {
  if (!options.volatile_cache) return;
  CHECK(!options.durable_cache);
  cache_.emplace(bytes);
  std::memcpy(cache_->data(), memory_, bytes);
}

PersistentMemory::~PersistentMemory() {
  ::munmap(memory_, bytes_);
}

// A number that is as good as random, and the same for a line whenever it is asked for.
uint64_t PersistentMemory::chance(size_t at) const {
  uint64_t x = (at / kCacheLineBytes + 1) * 0x9e3779b97f4a7c15u + options_.seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

void PersistentMemory::store_in_cache(size_t at, const std::byte* line) {
  std::memcpy(cache_->data() + at, line, kCacheLineBytes);
  if (chance(at) % kEarlyOneIn == 0) write_back(at);
}

void PersistentMemory::delay() const {
  busy_wait(options_.latency);
}

void PersistentMemory::fence() {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

// Not in the order of the addresses, which nothing may rest on.
void PersistentMemory::drain(size_t at, size_t bytes) {
  if (!cache_) return;
  for (const uint64_t turn : {1, 0}) {
    for (size_t line = at; line < at + bytes; line += kCacheLineBytes) {
      if (chance(line) / kEarlyOneIn % 2 == turn) write_back(line);
    }
  }
}

void PersistentMemory::harden(size_t at, size_t bytes) {
  if (!cache_) {
    fence();
    delay();
    return;
  }
  // The latency first, so that a crash in it takes the lines.
  delay();
  drain(at, bytes);
}

}  // namespace mneme
