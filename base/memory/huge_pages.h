// HugePageSource: large pieces of zeroed memory on 2 MiB pages, for rows and index nodes.
//
// Flow        allocate() tries a reserved huge page (MAP_HUGETLB), then ordinary memory with the advice to
//             use transparent huge pages, and takes 4 KiB pages where the kernel grants neither.
// Small       the kernel zeroes 2 MiB to give a huge page, and most tables of a schema with thousands of them
//             have a few rows. So the first piece of a table or an index comes on 4 KiB pages, and gets a
//             huge one once an eighth of it is in use: outgrown().
// Ahead       the kernel zeroes a huge page when it is first touched, which takes a millisecond or several:
//             too long for the transaction that happens to need it. touch_ahead() touches as much as the
//             caller knows that it will need. Beyond that, once a source has grown, a thread of its own keeps
//             a few single pages ready, and sleeps while the reserve lasts. A caller that asks faster gets
//             untouched pages.
// NUMA        a page lies on the node of the thread that asks for it, or on the one that is asked for; a
//             larger piece, which threads share, on all nodes in turn. Each node has pages ready of its own.
// Invariants  pieces are aligned as asked, zeroed, and stay until they are released or the source is
//             destroyed: what lies in them is type-stable, which optimistic readers rely on. Untouched pages
//             cost nothing unless the kernel backs them.
// Threads     any; a mutex, since a piece is asked for once in many thousand rows.
// Errors      no memory: nullptr. Small pages instead of huge ones: notice() says so, for the program to
//             show.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "base/memory/numa_memory.h"

namespace mneme {

inline constexpr size_t kHugePageBytes = size_t{2} << 20;
// So much of a first piece may be in use before it is outgrown.
inline constexpr size_t kSmallUseBytes = kHugePageBytes / 8;

// A source hands out huge pages. One of small pages exists for comparisons.
enum class PageSize : uint8_t { kHuge, kSmall };

class HugePageSource {
 public:
  explicit HugePageSource(PageSize pages = PageSize::kHuge, NumaView numa = NumaView::of_machine())
      : pages_(pages), numa_(numa), ready_(numa.nodes) {}
  ~HugePageSource();
  HugePageSource(const HugePageSource&) = delete;
  HugePageSource& operator=(const HugePageSource&) = delete;

  // `bytes` and `alignment` are multiples of a huge page, `alignment` a power of two.
  std::byte* allocate(size_t bytes, size_t alignment = kHugePageBytes);
  // For one node.
  std::byte* allocate_on(uint32_t node, size_t bytes, size_t alignment = kHugePageBytes);
  // The same, one huge page, for an owner that may never fill it: 4 KiB pages for now.
  std::byte* allocate_first(uint32_t node);
  // The owner of such a piece uses more of it: it moves to a huge page where the kernel can do that. Others
  // may read and write meanwhile.
  void outgrown(std::byte* piece);
  // Gives a piece back to the kernel, which no reader knows any more: its table or index is gone.
  void release(std::byte* piece);

  const NumaView& numa() const { return numa_; }

  // Touches `bytes` (rounded up to whole huge pages), on `threads` threads and for all nodes alike, and keeps
  // them for allocate() to give out singly. Returns how many bytes that were: fewer where the kernel has no
  // more. Calls `progress` with the bytes so far now and then, on the caller's thread.
  size_t touch_ahead(size_t bytes, size_t threads, FunctionRef<void(size_t)> progress);

  // Given out; what is kept ready does not count.
  size_t bytes_allocated() const;
  // Touched, and not given out yet.
  size_t bytes_ready() const;
  // Why some of the memory is not on huge pages; nothing when all of it is, as far as the kernel says.
  std::optional<std::string> notice() const;

 private:
  // So many pages the thread keeps ready, of sources that have mapped so many pieces.
  static constexpr size_t kReadyPages = 8;
  static constexpr size_t kGrownPages = 32;

  std::byte* take_ready(uint32_t node);
  std::byte* map(size_t bytes, size_t alignment, PageSize pages);
  std::byte* map_reserved(size_t bytes);
  std::byte* map_aligned(size_t bytes, size_t alignment, PageSize pages);
  void advise(std::byte* at, size_t bytes, PageSize pages);
  bool make_ready(uint32_t node, std::unique_lock<std::mutex>& lock);
  void keep_ready(const std::stop_token& stop);
  size_t ready_bytes() const;

  const PageSize pages_;
  const NumaView numa_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::byte*, size_t> pieces_;  // their bytes
  bool reserved_pages_exhausted_ = false;
  std::optional<std::string> notice_;
  // Touched, and in pieces_.
  struct ReadyPages {
    std::vector<std::byte*> pages;
    bool is_kept = false;  // by the thread
  };
  std::vector<ReadyPages> ready_;  // by node
  std::condition_variable_any keeper_wanted_;

  std::jthread keeper_;  // the last member: it ends before what it uses
};

}  // namespace mneme
