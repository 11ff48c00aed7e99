#include "base/fork.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/check.h"

namespace mneme {

namespace {

struct Forks {
  std::mutex mutex;                // held during a fork(): the child's copy of the list is not half changed
  std::vector<int> descriptors;    // guarded by mutex
  std::atomic<uint64_t> count{0};  // relaxed: changed only in a new child that still has one thread
};

// Never destroyed: a database may be destroyed after the program's other static objects.
Forks& forks() {
  static Forks* const all = new Forks;
  // The handlers call forks(), so they run only once `all` and `handled` are initialised.
  static const bool handled = [] {
    return ::pthread_atfork([] { forks().mutex.lock(); }, [] { forks().mutex.unlock(); },
                            [] {
                              for (const int descriptor : forks().descriptors) ::close(descriptor);
                              forks().descriptors.clear();
                              forks().count.fetch_add(1, std::memory_order_relaxed);
                              forks().mutex.unlock();
                            }) == 0;
  }();
  CHECK(handled);
  return *all;
}

}  // namespace

uint64_t this_process() {
  return forks().count.load(std::memory_order_relaxed);
}

ClosedInChild::ClosedInChild(int descriptor) : descriptor_(descriptor), process_(this_process()) {
  const std::lock_guard lock(forks().mutex);
  forks().descriptors.push_back(descriptor);
}

ClosedInChild::~ClosedInChild() {
  if (is_closed()) return;
  const std::lock_guard lock(forks().mutex);
  std::vector<int>& all = forks().descriptors;
  all.erase(std::ranges::find(all, descriptor_));
}

}  // namespace mneme
