// Goal: what is hardened is in the file, and with a volatile cache nothing else is sure to be. Method: lines
// are stored by hand, and the file is read as another process would.
#include "logging/nvm/persistent_memory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "logging/testing/test_log.h"

namespace mneme {
namespace {

using namespace test;

constexpr size_t kLines = 1024;
constexpr size_t kBytes = kLines * kCacheLineBytes;

class PersistentMemoryTest : public ::testing::Test {
 protected:
  PersistentMemoryTest() : file_(must(File::open(directory_.path() + "/memory", O_RDWR | O_CREAT))) {
    EXPECT_EQ(::ftruncate(file_.descriptor(), kBytes), 0);
  }
  std::unique_ptr<PersistentMemory> map(bool volatile_cache, std::chrono::nanoseconds latency = {}) const {
    return must(PersistentMemory::map(file_, {.latency = latency, .volatile_cache = volatile_cache}));
  }
  static std::vector<std::byte> line(size_t number) { return payload_of(number, kCacheLineBytes); }
  static void store_all(PersistentMemory& memory) {
    for (size_t i = 0; i < kLines; ++i) memory.store_line(i * kCacheLineBytes, line(i).data());
  }
  // How many of the lines [from, to) the file holds; the others must be zeros.
  size_t in_file(size_t from, size_t to) const {
    size_t count = 0;
    std::vector<std::byte> read(kCacheLineBytes);
    for (size_t i = from; i < to; ++i) {
      EXPECT_EQ(must(file_.read_at(read, i * kCacheLineBytes)), kCacheLineBytes);
      if (read == line(i)) {
        ++count;
      } else {
        EXPECT_EQ(read, std::vector<std::byte>(kCacheLineBytes)) << "line " << i;
      }
    }
    return count;
  }

  TemporaryDirectory directory_;
  File file_;
};

TEST_F(PersistentMemoryTest, WhatIsHardenedIsInTheFile) {
  const auto memory = map(false);
  EXPECT_EQ(memory->size(), kBytes);
  store_all(*memory);
  memory->harden(0, kBytes);
  EXPECT_EQ(in_file(0, kLines), kLines);
}

TEST_F(PersistentMemoryTest, AVolatileCacheLosesWhatWasNotHardened) {
  {
    const auto memory = map(true);
    store_all(*memory);
    memory->harden(256 * kCacheLineBytes, 512 * kCacheLineBytes);
  }
  EXPECT_EQ(in_file(256, 768), 512u);
  // Some lines leave a cache early; a program that rests on that, or on the contrary, must be found out.
  const size_t others = in_file(0, 256) + in_file(768, kLines);
  EXPECT_GT(others, 20u);
  EXPECT_LT(others, 150u);
}

TEST_F(PersistentMemoryTest, HardeningTakesTheLatency) {
  const auto memory = map(false, std::chrono::microseconds(50));
  const uint64_t begin = monotonic_ns();
  for (int i = 0; i < 10; ++i) memory->harden(0, kCacheLineBytes);
  EXPECT_GE(monotonic_ns() - begin, 500'000u);
}

}  // namespace
}  // namespace mneme
