#include "base/machine_costs.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "base/cache_line.h"
#include "base/check.h"
#include "base/spin.h"

namespace mneme {
namespace {

constexpr int kRounds = 5;
constexpr uint32_t kHandovers = 20'000;
constexpr size_t kRegionBytes = size_t{128} << 20;
constexpr uint32_t kReads = 200'000;

double ns_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    for (int c = 0; c < CPU_SETSIZE; ++c) {
      if (CPU_ISSET(c, &set)) cores.push_back(c);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

// Where the system refuses this, the thread runs wherever the system puts it.
void stay_on(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  (void)sched_setaffinity(0, sizeof(set), &set);
}

double handover_ns(int first, int second) {
  // Whose turn it is: the first thread's where it is even. Each thread waits for its turn (acquire) and then
  // gives it to the other (release), so only one of them writes at a time.
  alignas(kCacheLineBytes) std::atomic<uint32_t> turn = 0;
  const auto take_turns = [&](int core, uint32_t mine) {
    stay_on(core);
    for (uint32_t n = mine; n < 2 * kHandovers; n += 2) {
      for (uint32_t tries = 0; turn.load(std::memory_order_acquire) != n; ++tries) spin_pause(tries);
      turn.store(n + 1, std::memory_order_release);
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { take_turns(second, 1); });
  std::thread one([&] { take_turns(first, 0); });
  one.join();
  other.join();
  return ns_since(begin) / (2.0 * kHandovers);
}

// Memory of which each page is mapped and written, if the system has so much.
class Region {
 public:
  Region() {
    void* mapped = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (mapped == MAP_FAILED) return;
    words_ = static_cast<uint64_t*>(mapped);
    for (size_t at = 0; at < kRegionBytes / sizeof(uint64_t); at += kCacheLineBytes / sizeof(uint64_t))
      words_[at] = at;
  }
  ~Region() {
    if (is_there()) munmap(words_, kRegionBytes);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  bool is_there() const { return words_ != nullptr; }
  // Reads `count` lines, none of whose places depends on what another one holds. Returns their sum, so that
  // they are read.
  uint64_t read_lines(uint64_t seed, uint32_t count) const {
    constexpr size_t kLines = kRegionBytes / kCacheLineBytes;
    static_assert((kLines & (kLines - 1)) == 0);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      sum += words_[((seed >> 33) & (kLines - 1)) * (kCacheLineBytes / sizeof(uint64_t))];
    }
    return sum;
  }

 private:
  uint64_t* words_ = nullptr;
};

double bytes_per_ns(const Region& region, std::span<const int> cores) {
  // Added to by all threads, read after they have been joined. Relaxed: it only keeps the reads from being
  // optimized away.
  std::atomic<uint64_t> sum = 0;
  // Threads that have started; each adds itself and waits for all. Relaxed: nothing is handed over with it.
  std::atomic<size_t> ready = 0;
  std::vector<double> times(cores.size(), 0);
  std::vector<std::thread> threads;
  for (size_t c = 0; c < cores.size(); ++c) {
    threads.emplace_back([&, c] {
      stay_on(cores[c]);
      ready.fetch_add(1, std::memory_order_relaxed);
      for (uint32_t tries = 0; ready.load(std::memory_order_relaxed) < cores.size(); ++tries)
        spin_pause(tries);
      const auto begin = std::chrono::steady_clock::now();
      sum.fetch_add(region.read_lines(c + 1, kReads), std::memory_order_relaxed);
      times[c] = ns_since(begin);
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(sum.load() != 0);
  return static_cast<double>(cores.size()) * kReads * kCacheLineBytes / std::ranges::max(times);
}

}  // namespace

MachineCosts measure_machine_costs() {
  const std::vector<int> cores = allowed_cores();
  MachineCosts costs{.cores = static_cast<uint32_t>(cores.size())};
  if (cores.size() > 1) {
    costs.handover_ns = std::numeric_limits<double>::max();
    for (int round = 0; round < kRounds; ++round)
      costs.handover_ns = std::min(costs.handover_ns, handover_ns(cores[0], cores[1]));
  }
  const Region region;
  for (int round = 0; region.is_there() && round < kRounds; ++round)
    costs.memory_bytes_per_ns = std::max(costs.memory_bytes_per_ns, bytes_per_ns(region, cores));
  return costs;
}

}  // namespace mneme
