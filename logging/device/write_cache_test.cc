// Goal: a sync keeps its file whole; without one each sector is there or not, by chance, and whole. Method: a
// medium in memory, over many seeds. course/01-crash has the rules one by one.
#include "logging/device/write_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "logging/record/block_format.h"

namespace mneme {
namespace {

constexpr int kSeeds = 300;

// The letters of the sectors of file 1, '.' where there is none.
struct LettersMedium {
  std::string letters = "...";
  int written = 0;

  int write(int file, uint64_t offset, ByteSpan bytes) {
    EXPECT_EQ(bytes.size(), kSectorBytes);
    ++written;
    if (file == 1) letters.at(offset / kSectorBytes) = static_cast<char>(bytes[0]);
    return 0;
  }
  WriteCache cache(uint64_t seed) {
    return {[this](int file, uint64_t offset, ByteSpan bytes) { return write(file, offset, bytes); }, seed};
  }
};

void put_letter(WriteCache& cache, int file, uint64_t sector, char letter, size_t sectors = 1) {
  const std::vector<std::byte> bytes(sectors * kSectorBytes, static_cast<std::byte>(letter));
  EXPECT_EQ(cache.put(file, sector * kSectorBytes, bytes), 0);
}

TEST(WriteCache, ASyncWritesAllOfItsFileAndNothingElse) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    LettersMedium medium;
    WriteCache cache = medium.cache(seed);
    put_letter(cache, 1, 1, 'a', 2);
    put_letter(cache, 1, 0, 'b');
    put_letter(cache, 2, 0, 'x');
    put_letter(cache, 1, 2, 'c');
    EXPECT_EQ(medium.written, 0);
    EXPECT_EQ(cache.sync(1), 0);
    EXPECT_EQ(medium.letters, "bac");
    EXPECT_EQ(medium.written, 3);
    EXPECT_EQ(cache.sync(2), 0);
    EXPECT_EQ(medium.written, 4);
  }
}

TEST(WriteCache, WhatNoSyncCoversIsThereByChanceSectorBySector) {
  std::set<std::string> states;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    LettersMedium medium;
    WriteCache cache = medium.cache(seed);
    put_letter(cache, 1, 0, 'a', 3);
    EXPECT_EQ(cache.write_back_early(), 0);
    states.insert(medium.letters);
  }
  EXPECT_EQ(states, (std::set<std::string>{"...", "a..", ".a.", "..a", "aa.", ".aa", "a.a", "aaa"}));
}

TEST(WriteCache, BeyondItsSizeItWritesBack) {
  LettersMedium medium;
  WriteCache cache = medium.cache(1);
  put_letter(cache, 1, 0, 'a', WriteCache::kMostSectors);
  EXPECT_EQ(medium.written, 0);
  put_letter(cache, 2, 0, 'b', 3);
  EXPECT_EQ(medium.letters, "aaa");
}

}  // namespace
}  // namespace mneme
