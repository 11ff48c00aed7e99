#include "base/memory/huge_pages.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>

#include "base/check.h"
#include "base/parallel.h"

namespace mneme {

namespace {

constexpr size_t kSmallPageBytes = 4096;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, which the system's headers may lack

// Returns whether transparent huge pages are switched off. The kernel accepts MADV_HUGEPAGE even then, so the
// switch itself is read.
bool transparent_pages_never() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string modes;
  return std::getline(file, modes) && modes.find("[never]") != std::string::npos;
}

}  // namespace

HugePageSource::~HugePageSource() {
  if (keeper_.joinable()) {
    keeper_.request_stop();
    keeper_.join();
  }
  for (const auto& [at, bytes] : pieces_) munmap(at, bytes);
}

std::byte* HugePageSource::allocate(size_t bytes, size_t alignment) {
  if (bytes == kHugePageBytes) return allocate_on(numa_.node(), bytes, alignment);
  std::lock_guard lock(mutex_);
  std::byte* at = map(bytes, alignment, pages_);
  if (at != nullptr && numa_.nodes > 1) interleave_nodes(at, bytes);
  return at;
}

std::byte* HugePageSource::allocate_on(uint32_t node, size_t bytes, size_t alignment) {
  CHECK(node < numa_.nodes);
  std::lock_guard lock(mutex_);
  if (bytes == kHugePageBytes && alignment == kHugePageBytes) {
    if (std::byte* at = take_ready(node)) return at;
  }
  std::byte* at = map(bytes, alignment, pages_);
  if (at != nullptr && numa_.nodes > 1) prefer_node(at, bytes, node);
  return at;
}

std::byte* HugePageSource::allocate_first(uint32_t node) {
  CHECK(node < numa_.nodes);
  std::lock_guard lock(mutex_);
  std::byte* at = map(kHugePageBytes, kHugePageBytes, PageSize::kSmall);
  if (at != nullptr && numa_.nodes > 1) prefer_node(at, kHugePageBytes, node);
  return at;
}

void HugePageSource::outgrown(std::byte* piece) {
  if (pages_ == PageSize::kSmall) return;
  {
    std::lock_guard lock(mutex_);
    advise(piece, kHugePageBytes, PageSize::kHuge);
  }
  // Kernels before 6.1 do not know MADV_COLLAPSE. There khugepaged, a thread of the kernel, moves the
  // piece to a huge page at some later time.
  madvise(piece, kHugePageBytes, kCollapse);
}

void HugePageSource::release(std::byte* piece) {
  std::lock_guard lock(mutex_);
  const auto found = pieces_.find(piece);
  CHECK(found != pieces_.end());
  munmap(piece, found->second);
  pieces_.erase(found);
}

// Called with mutex_ held.
std::byte* HugePageSource::take_ready(uint32_t node) {
  ReadyPages& ready = ready_[node];
  if (!ready.is_kept && pieces_.size() >= kGrownPages) {
    ready.is_kept = true;
    if (!keeper_.joinable())
      keeper_ = std::jthread([this](const std::stop_token& stop) { keep_ready(stop); });
  }
  std::byte* at = nullptr;
  if (!ready.pages.empty()) {
    at = ready.pages.back();
    ready.pages.pop_back();
  }
  if (ready.is_kept && ready.pages.size() < kReadyPages) keeper_wanted_.notify_one();
  return at;
}

size_t HugePageSource::touch_ahead(size_t bytes, size_t threads, FunctionRef<void(size_t)> progress) {
  const std::thread::id caller = std::this_thread::get_id();
  // Both are relaxed: they order no other memory. Joining the threads orders the last read of `touched`.
  std::atomic<size_t> touched{0};
  std::atomic<bool> is_exhausted{false};
  for_each_in_parallel(threads, (bytes + kHugePageBytes - 1) / kHugePageBytes, [&](size_t page) {
    if (is_exhausted.load(std::memory_order_relaxed)) return;
    std::unique_lock lock(mutex_);
    if (!make_ready(static_cast<uint32_t>(page % numa_.nodes), lock))
      return is_exhausted.store(true, std::memory_order_relaxed);
    lock.unlock();
    const size_t sum = touched.fetch_add(kHugePageBytes, std::memory_order_relaxed) + kHugePageBytes;
    if (std::this_thread::get_id() == caller) progress(sum);
  });
  return touched.load(std::memory_order_relaxed);
}

void HugePageSource::keep_ready(const std::stop_token& stop) {
  const auto is_short = [](const ReadyPages& ready) {
    return ready.is_kept && ready.pages.size() < kReadyPages;
  };
  std::unique_lock lock(mutex_);
  while (keeper_wanted_.wait(lock, stop, [&] { return std::ranges::any_of(ready_, is_short); }) &&
         !stop.stop_requested()) {
    const auto node = std::ranges::find_if(ready_, is_short) - ready_.begin();
    if (!make_ready(static_cast<uint32_t>(node), lock)) return;  // no memory: allocate() reports it
  }
}

// Maps a page, touches it, and adds it to those that are ready. Releases the lock while it touches the page.
// Returns false if there is no memory.
bool HugePageSource::make_ready(uint32_t node, std::unique_lock<std::mutex>& lock) {
  std::byte* at = map(kHugePageBytes, kHugePageBytes, pages_);
  if (at == nullptr) return false;
  lock.unlock();
  if (numa_.nodes > 1) prefer_node(at, kHugePageBytes, node);
  for (size_t offset = 0; offset < kHugePageBytes; offset += kSmallPageBytes) at[offset] = std::byte{0};
  lock.lock();
  ready_[node].pages.push_back(at);
  return true;
}

// Called with mutex_ held.
std::byte* HugePageSource::map(size_t bytes, size_t alignment, PageSize pages) {
  CHECK(bytes > 0 && bytes % kHugePageBytes == 0);
  CHECK(alignment % kHugePageBytes == 0 && (alignment & (alignment - 1)) == 0);
  std::byte* at = nullptr;
  // The kernel aligns reserved pages to their own size only.
  if (pages == PageSize::kHuge && alignment == kHugePageBytes && !reserved_pages_exhausted_)
    at = map_reserved(bytes);
  if (at == nullptr) at = map_aligned(bytes, alignment, pages);
  if (at != nullptr) pieces_.emplace(at, bytes);
  return at;
}

std::byte* HugePageSource::map_reserved(size_t bytes) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (21 << MAP_HUGE_SHIFT);
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  if (at == MAP_FAILED) {
    reserved_pages_exhausted_ = true;
    return nullptr;
  }
  // A kernel that does not know MAP_HUGETLB may ignore it (some sandboxes do). It then returns ordinary
  // memory, aligned to 4 KiB.
  if (reinterpret_cast<uintptr_t>(at) % kHugePageBytes != 0) {
    munmap(at, bytes);
    reserved_pages_exhausted_ = true;
    return nullptr;
  }
  return static_cast<std::byte*>(at);
}

std::byte* HugePageSource::map_aligned(size_t bytes, size_t alignment, PageSize pages) {
  const size_t mapped_bytes = bytes + alignment;
  void* mapped =
      mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;

  // Cut the aligned piece out of the mapping.
  auto* first = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<uintptr_t>(first);
  const size_t before = (alignment - address % alignment) % alignment;
  if (before > 0) munmap(first, before);
  const size_t after = mapped_bytes - before - bytes;
  if (after > 0) munmap(first + before + bytes, after);

  std::byte* at = first + before;
  advise(at, bytes, pages);
  return at;
}

void HugePageSource::advise(std::byte* at, size_t bytes, PageSize pages) {
  if (pages == PageSize::kSmall) {
    madvise(at, bytes, MADV_NOHUGEPAGE);  // else the kernel may use huge pages unasked
    return;
  }
  if (madvise(at, bytes, MADV_HUGEPAGE) != 0) {
    notice_ = fmt::format("rows and indexes lie on 4 KiB pages: the kernel refuses huge ones ({})",
                          strerror(errno));
  } else if (!notice_ && transparent_pages_never()) {
    notice_ =
        "rows and indexes lie on 4 KiB pages: /sys/kernel/mm/transparent_hugepage/enabled says never; "
        "\"madvise\" "
        "there, or vm.nr_hugepages, would make them faster";
  }
}

size_t HugePageSource::bytes_allocated() const {
  std::lock_guard lock(mutex_);
  size_t bytes = 0;
  for (const auto& piece : pieces_) bytes += piece.second;
  return bytes - ready_bytes();
}

size_t HugePageSource::bytes_ready() const {
  std::lock_guard lock(mutex_);
  return ready_bytes();
}

// Called with mutex_ held.
size_t HugePageSource::ready_bytes() const {
  size_t pages = 0;
  for (const ReadyPages& ready : ready_) pages += ready.pages.size();
  return pages * kHugePageBytes;
}

std::optional<std::string> HugePageSource::notice() const {
  std::lock_guard lock(mutex_);
  return notice_;
}

}  // namespace mneme
