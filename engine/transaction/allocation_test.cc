// Goal: in the steady state transactions allocate nothing. Method: operator new counts; after a warm-up,
// thousands of transactions that look up, scan, update, insert and erase must not call it at all.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "engine/testing/test_database.h"

namespace {

thread_local uint64_t allocations = 0;

void* allocate(size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(size_t bytes) {
  return allocate(bytes);
}
void* operator new[](size_t bytes) {
  return allocate(bytes);
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, size_t) noexcept {
  std::free(memory);
}

namespace mneme {
namespace {

class AllocationTest : public testing::TestWithParam<bool> {};

TEST_P(AllocationTest, TheSteadyStateAllocatesNothing) {
  constexpr int64_t kRows = 2000;
  TestDatabase t(1, GetParam());
  t.db.attach_log(t.log, RecordContent::kAll);
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  const auto run = [&](int64_t n) {
    x.begin();
    // A queue: a row comes in at one end, another leaves at the other.
    CHECK(t.insert(x, n + kRows, n % 50, n + kRows, 1) == AccessStatus::kOk);
    CHECK(t.erase(x, n) == AccessStatus::kOk);
    for (int64_t i = 1; i <= 10; ++i) CHECK(t.set(x, n + i * 7, t.kAmount, n) == AccessStatus::kOk);
    int64_t seen = 0;
    const AccessStatus status =
        x.scan(t.kByGroup, t.group_range(n % 50), RowAccess::Direction::kForward, [&](const RowRef&) {
          ++seen;
          return true;
        });
    CHECK(status == AccessStatus::kOk && seen > 0);
    const std::array<RowLookup, 2> lookups{RowLookup{t.kById, ImageParts::all(), t.id_key(n + 5)},
                                           RowLookup{t.kByCode, ImageParts::all(), t.code_key(n + 9)}};
    x.prefetch(lookups);
    if (n % 100 == 99) {
      x.abort();
      x.begin();
      CHECK(t.insert(x, n + kRows, n % 50, n + kRows, 1) == AccessStatus::kOk);
      CHECK(t.erase(x, n) == AccessStatus::kOk);
    }
    CHECK(t.commit(x).status == CommitStatus::kCommitted);
  };
  x.begin();
  for (int64_t id = 0; id < kRows; ++id) CHECK(t.insert(x, id, id % 50, id, 1) == AccessStatus::kOk);
  CHECK(t.commit(x).status == CommitStatus::kCommitted);
  int64_t n = 0;
  while (n < 20000) run(n++);
  const uint64_t before = allocations;
  while (n < 40000) run(n++);
  EXPECT_EQ(allocations - before, 0u);
}

INSTANTIATE_TEST_SUITE_P(Indexes, AllocationTest, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& info) {
                           return info.param ? "Btree" : "Hash";
                         });

}  // namespace
}  // namespace mneme
