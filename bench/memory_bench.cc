// Dependent reads: each read's address comes out of the one before, as on the way down an index, over memory
// far larger than the caches. `chains` independent ones at once show how far overlapping hides the wait,
// which is what replay's prefetching lives on. On 2 MiB and on 4 KiB pages: the difference is what
// translating addresses costs.
//
// Unit        nanoseconds a step of all chains; per_read: one read's time. The label says how much of the
//             memory the kernel really put on huge pages.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <string>

#include "base/cache_line.h"
#include "base/check.h"
#include "base/memory/huge_pages.h"
#include "bench/benchmarks.h"

namespace mneme::bench {
namespace {

enum class Pages { kHuge, kSmall };

// Cache lines, each with the number of the next one on a cycle through all of them.
class Region {
 public:
  struct alignas(kCacheLineBytes) Line {
    uint64_t next;
  };

  Region(size_t bytes, Pages pages) : mapped_bytes_(bytes + kHugePageBytes), count_(bytes / sizeof(Line)) {
    mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(mapped_ != MAP_FAILED);
    // Refused advice shows in huge_percent().
    (void)madvise(mapped_, mapped_bytes_, pages == Pages::kHuge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    const auto address = reinterpret_cast<uintptr_t>(mapped_);
    lines_ = reinterpret_cast<Line*>((address + kHugePageBytes - 1) & ~(kHugePageBytes - 1));
    for (uint64_t i = 0; i < count_; ++i) lines_[i].next = next_in_cycle(i, count_);
  }
  ~Region() { munmap(mapped_, mapped_bytes_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  uint64_t count() const { return count_; }
  uint64_t next(uint64_t at) const { return lines_[at].next; }

  // Returns the share of the memory that lies on huge pages, as the kernel reports it.
  size_t huge_percent() const {
    std::ifstream file("/proc/self/smaps");
    bool ours = false;
    for (std::string line; std::getline(file, line);) {
      const size_t dash = line.find('-');
      uintptr_t begin = 0;
      uintptr_t end = 0;
      if (dash != std::string::npos &&
          std::from_chars(line.data(), line.data() + dash, begin, 16).ptr == line.data() + dash) {
        std::from_chars(line.data() + dash + 1, line.data() + line.size(), end, 16);
        const auto first = reinterpret_cast<uintptr_t>(lines_);
        ours = begin <= first && first < end;
      }
      constexpr std::string_view kField = "AnonHugePages:";
      if (ours && line.starts_with(kField)) {
        return std::stoull(line.substr(kField.size())) * 1024 * 100 / (count_ * sizeof(Line));
      }
    }
    return 0;
  }

 private:
  const size_t mapped_bytes_;
  const uint64_t count_;
  void* mapped_;
  Line* lines_;
};

template <size_t kChains>
void read_dependently(benchmark::State& state, const Region& region) {
  std::array<uint64_t, kChains> at;
  for (size_t c = 0; c < kChains; ++c) at[c] = region.count() / kChains * c;
  for (auto _ : state) {
    for (size_t c = 0; c < kChains; ++c) at[c] = region.next(at[c]);
  }
  for (size_t c = 0; c < kChains; ++c) {
    benchmark::DoNotOptimize(at[c]);
    CHECK(at[c] < region.count());
  }
  state.counters["per_read"] = benchmark::Counter(static_cast<double>(state.iterations() * kChains),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetLabel(fmt::format("{} MiB, {}% on huge pages", region.count() * sizeof(Region::Line) >> 20,
                             region.huge_percent()));
}

// The region of the benchmark that runs: made on its first use, and given back when one on other pages is
// wanted.
class CurrentRegion {
 public:
  explicit CurrentRegion(size_t bytes) : bytes_(bytes) {}

  const Region& on(Pages pages) {
    if (region_ == nullptr || pages_ != pages) {
      region_.reset();
      region_ = std::make_unique<Region>(bytes_, pages);
      pages_ = pages;
    }
    return *region_;
  }

 private:
  const size_t bytes_;
  Pages pages_ = Pages::kHuge;
  std::unique_ptr<Region> region_;
};

template <size_t kChains>
void register_reads(const std::shared_ptr<CurrentRegion>& current, Pages pages) {
  const std::string name =
      fmt::format("memory/{}/chains:{}", pages == Pages::kHuge ? "2MiB_pages" : "4KiB_pages", kChains);
  benchmark::RegisterBenchmark(name.c_str(), [current, pages](benchmark::State& state) {
    read_dependently<kChains>(state, current->on(pages));
  });
}

}  // namespace

void register_memory(const Sizes& sizes) {
  const auto current = std::make_shared<CurrentRegion>(sizes.region_bytes);
  for (const Pages pages : {Pages::kHuge, Pages::kSmall}) {
    register_reads<1>(current, pages);
    register_reads<4>(current, pages);
    register_reads<16>(current, pages);
  }
}

}  // namespace mneme::bench
