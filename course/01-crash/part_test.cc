// Goal: a disk cache promises what a sync promises, and no more. Method: small histories of writes, over
// many seeds each, on a medium in memory; then the power fails, and what the medium holds is looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <vector>

#include "course/grading.h"
#include "logging/device/write_cache.h"
#include "logging/record/block_format.h"

namespace mneme::course {
namespace {

constexpr int kSeeds = 600;
constexpr int kLog = 1;    // a file
constexpr int kOther = 2;  // another

// What is on the medium: a letter a sector; '.' where nothing was written, '?' where a sector is neither
// whole nor untouched.
class TestDisk {
 public:
  explicit TestDisk(uint64_t seed)
      : cache_([this](int file, uint64_t offset, ByteSpan bytes) { return write(file, offset, bytes); },
               seed) {}

  WriteCache& cache() { return cache_; }
  // From now on each write to the medium fails with this error; with 0 it succeeds.
  void fail(int error) { error_ = error; }
  // How many writes have failed.
  int failed() const { return failed_; }
  // The letters of the sectors in the order in which they came to the medium.
  const std::string& order() const { return order_; }
  // Writes a block: a sector for each letter.
  int put(int file, uint64_t sector, const std::string& letters) {
    std::vector<std::byte> bytes;
    for (const char letter : letters) bytes.insert(bytes.end(), kSectorBytes, static_cast<std::byte>(letter));
    return cache_.put(file, sector * kSectorBytes, bytes);
  }
  std::string after_power_failure(int file, size_t sectors) const {
    std::string letters;
    for (size_t i = 0; i < sectors; ++i) {
      const auto found = medium_.find(file);
      std::string sector(kSectorBytes, '.');
      if (found != medium_.end() && found->second.size() > i * kSectorBytes) {
        const std::string held = found->second.substr(i * kSectorBytes, kSectorBytes);
        std::ranges::copy(held, sector.begin());
      }
      letters += sector.find_first_not_of(sector[0]) == std::string::npos ? sector[0] : '?';
    }
    return letters;
  }

 private:
  int write(int file, uint64_t offset, ByteSpan bytes) {
    if (error_ != 0) {
      ++failed_;
      return error_;
    }
    if (!bytes.empty()) order_ += static_cast<char>(bytes.front());
    std::string& held = medium_[file];
    if (held.size() < offset + bytes.size()) held.resize(offset + bytes.size(), '.');
    std::ranges::copy(as_text(bytes), held.begin() + static_cast<ptrdiff_t>(offset));
    return 0;
  }

  std::map<int, std::string> medium_;
  int error_ = 0;
  int failed_ = 0;
  std::string order_;
  WriteCache cache_;
};

// How often the medium holds what, over all seeds, after `history`.
template <typename History>
std::map<std::string, int> states(size_t sectors, History history) {
  std::map<std::string, int> counts;
  for (int seed = 0; seed < kSeeds; ++seed) {
    TestDisk disk(static_cast<uint64_t>(seed));
    history(disk);
    ++counts[disk.after_power_failure(kLog, sectors)];
  }
  return counts;
}

void write_back(TestDisk& disk, int times) {
  for (int i = 0; i < times; ++i) ASSERT_EQ(disk.cache().write_back_early(), 0);
}

TEST(WriteCache, AWriteMayBeLostUntilASyncCoversIt) {
  TestDisk disk(1);
  disk.put(kLog, 0, "A");
  EXPECT_EQ(disk.after_power_failure(kLog, 1), ".") << broken(
      "A write may be lost until a sync covers it: put() keeps it in the cache.",
      "This disk is kinder than a real one. An engine that never syncs would pass every crash test on it, "
      "and lose acknowledged transactions when the power of a real machine fails.");
}

TEST(WriteCache, ASyncMakesAllEarlierWritesOfItsFileDurable) {
  const auto counts = states(4, [](TestDisk& disk) {
    disk.put(kLog, 2, "C");
    disk.put(kLog, 0, "AB");
    disk.put(kLog, 3, "D");
    EXPECT_EQ(disk.cache().sync(kLog), 0);
  });
  EXPECT_EQ(counts, (std::map<std::string, int>{{"ABCD", kSeeds}}))
      << broken("A sync makes all earlier writes of its file durable, whole, not only the last.",
                "The log would have a hole below what was acknowledged: recovery stops at the hole, and each "
                "acknowledged transaction behind it is lost.");
}

TEST(WriteCache, ASyncOfOneFilePromisesNothingOfAnother) {
  TestDisk disk(1);
  disk.put(kLog, 0, "A");
  disk.put(kOther, 0, "X");
  EXPECT_EQ(disk.cache().sync(kOther), 0);
  EXPECT_EQ(disk.after_power_failure(kOther, 1), "X")
      << broken("A sync makes the writes of its own file durable.",
                "All of that file is lost, although its sync has ended.");
  EXPECT_EQ(disk.after_power_failure(kLog, 1), ".") << broken(
      "A sync of one file promises nothing of another.",
      "An engine that writes the log and syncs only the manifest would pass the crash tests. On a real disk "
      "the manifest would name a log whose records were never written.");
  disk.cache().sync(kLog);
  EXPECT_EQ(disk.after_power_failure(kLog, 1), "A")
      << broken("A sync of one file leaves the cached writes of another in the cache, for their own sync.",
                "A record that the engine syncs later, and acknowledges, would already have been dropped.");
}

TEST(WriteCache, ADiskWritesBackEarlyWhenItLikes) {
  const auto counts = states(1, [](TestDisk& disk) {
    disk.put(kLog, 0, "A");
    write_back(disk, 1);
  });
  for (const char* state : {".", "A"}) {
    EXPECT_GE(counts.contains(state) ? counts.at(state) : 0, kSeeds / 100) << broken(
        "A disk writes back early when it likes: what was not synced may be lost, and may be there.",
        std::string("Recovery is never tested on ") +
            (state[0] == 'A' ? "records that are there although nobody was told so: transactions that were "
                               "not acknowledged and happened all the same."
                             : "a log whose last writes are missing."));
  }
}

TEST(WriteCache, ALaterWriteMayBeThereWithoutAnEarlierOne) {
  const auto counts = states(9, [](TestDisk& disk) {
    disk.put(kLog, 0, "A");
    disk.put(kLog, 8, "B");
    write_back(disk, 1);
  });
  const int reordered = counts.contains("........B") ? counts.at("........B") : 0;
  EXPECT_GE(reordered, kSeeds / 100) << broken(
      "A later write may be there without an earlier one: a cache is not written back in the order of the "
      "writes.",
      "Recovery that takes the last record it can find for the log's end would pass, and on a real disk it "
      "would replay what lies behind a hole: transactions whose predecessors are gone.");
}

TEST(WriteCache, ABlockMayBeTornBetweenItsSectors) {
  const auto counts = states(8, [](TestDisk& disk) {
    disk.put(kLog, 0, "AAAAAAAA");
    write_back(disk, 1);
  });
  int torn = 0;
  for (const auto& [state, count] : counts) {
    if (state.find('A') != std::string::npos && state.find('.') != std::string::npos) torn += count;
  }
  EXPECT_GE(torn, kSeeds / 100) << broken(
      "A block may be torn between its sectors: a write of 4096 bytes is eight sectors, and some may be "
      "there "
      "without the others.",
      "A log without checksums would pass. On a real disk half of a record would be replayed as a whole "
      "one.");
}

TEST(WriteCache, ASectorIsWrittenWholeOrNotAtAll) {
  for (const auto& [state, count] : states(8, [](TestDisk& disk) {
         disk.put(kLog, 0, "AAAAAAAA");
         write_back(disk, 3);
       })) {
    ASSERT_EQ(state.find('?'), std::string::npos) << broken(
        "A sector is written whole or not at all: the medium was left with a part of one.",
        "This disk is crueller than a real one. Mneme's format rests on whole sectors (block_format.h): a "
        "block that is torn inside a sector counts as rotted, and recovery would refuse a good directory.");
  }
}

TEST(WriteCache, OfTwoWritesOfASectorTheLaterOneStands) {
  const auto synced = states(1, [](TestDisk& disk) {
    disk.put(kLog, 0, "A");
    write_back(disk, 1);
    disk.put(kLog, 0, "B");
    write_back(disk, 1);
    EXPECT_EQ(disk.cache().sync(kLog), 0);
    write_back(disk, 1);
  });
  EXPECT_EQ(synced, (std::map<std::string, int>{{"B", kSeeds}})) << broken(
      "Of two writes of a sector the later one stands after a sync, whatever was written back between them.",
      "A file that is overwritten in place, as pepoch.log is, would go back to an older content after a "
      "sync had made the newer one durable.");
}

TEST(WriteCache, WhatIsCachedIsBounded) {
  TestDisk disk(1);
  for (size_t i = 0; i < WriteCache::kMostSectors; ++i) disk.put(kLog, i, "A");
  EXPECT_EQ(disk.after_power_failure(kLog, 1), ".") << broken(
      "A cache holds kMostSectors sectors.",
      "Nothing is lost, and that is the fault: the crash tests would meet fewer losses than on a disk.");
  disk.put(kLog, WriteCache::kMostSectors, "A");
  EXPECT_EQ(disk.after_power_failure(kLog, 2), "A.") << broken(
      "What is cached is bounded: beyond kMostSectors the first sector of the first file is written back.",
      "Nothing is lost at once, but a run on this disk would take as much memory as its log is long.");
}

TEST(WriteCache, ASyncHasNoOrder) {
  int forwards = 0;
  for (int seed = 0; seed < kSeeds; ++seed) {
    TestDisk disk(static_cast<uint64_t>(seed));
    disk.put(kLog, 0, "A");
    disk.put(kLog, 8, "B");
    EXPECT_EQ(disk.cache().sync(kLog), 0);
    forwards += disk.order() == "AB" ? 1 : 0;
  }
  EXPECT_TRUE(forwards >= kSeeds / 100 && forwards <= kSeeds - kSeeds / 100) << broken(
      "A sync has no order: it writes the file's sectors to the medium in one drawn by chance.",
      "The power may fail in the middle of a sync. With a fixed order the crash tests would never meet a "
      "sector that is there while one before it is not.");
}

TEST(WriteCache, AnErrorOfTheMediumIsReported) {
  const char* loss = "The engine would acknowledge what the disk could not write.";
  TestDisk disk(1);
  disk.fail(EIO);
  disk.put(kLog, 0, "A");
  EXPECT_EQ(disk.cache().sync(kLog), EIO)
      << broken("An error of the medium is reported by the sync that met it.", loss);
  TestDisk full(1);
  for (size_t i = 0; i < WriteCache::kMostSectors; ++i) full.put(kLog, i, "A");
  full.fail(EIO);
  EXPECT_EQ(full.put(kLog, WriteCache::kMostSectors, "A"), EIO) << broken(
      "An error of the medium is reported by the put() that met it, as it wrote back from a full cache.",
      loss);
  for (int seed = 0; seed < kSeeds; ++seed) {
    TestDisk early(static_cast<uint64_t>(seed));
    early.put(kLog, 0, "AAAAAAAA");
    early.fail(EIO);
    const int error = early.cache().write_back_early();
    ASSERT_EQ(error, early.failed() == 0 ? 0 : EIO)
        << broken("An error of the medium is reported by the write_back_early() that met it.", loss);
  }
}

TEST(WriteCache, AFullCacheTakesTheWholeWriteAndKeepsWhatItCouldNotWriteBack) {
  TestDisk disk(1);
  for (size_t i = 0; i < WriteCache::kMostSectors; ++i) disk.put(kLog, i, "A");
  disk.fail(EIO);
  disk.put(kLog, WriteCache::kMostSectors, "BCD");
  disk.fail(0);
  ASSERT_EQ(disk.cache().sync(kLog), 0);
  const std::string held = disk.after_power_failure(kLog, WriteCache::kMostSectors + 3);
  EXPECT_EQ(held.substr(WriteCache::kMostSectors), "BCD") << broken(
      "put() takes the whole write, also where a full cache could not write back: a later sync that returns "
      "0 "
      "has written it.",
      "That sync would be a lie: the end of the write is neither on the medium nor in the cache.");
  EXPECT_EQ(held.substr(0, 2), "AA") << broken(
      "What put() could not write back stays cached: a later sync that returns 0 has written it.",
      "That sync would be a lie: the sector that failed is neither on the medium nor in the cache.");
}

TEST(WriteCache, WhatASyncCouldNotWriteStaysCached) {
  for (int seed = 0; seed < kSeeds; ++seed) {
    TestDisk disk(static_cast<uint64_t>(seed));
    disk.put(kLog, 0, "ABCD");
    disk.fail(EIO);
    disk.cache().sync(kLog);
    disk.fail(0);
    ASSERT_EQ(disk.cache().sync(kLog), 0);
    ASSERT_EQ(disk.after_power_failure(kLog, 4), "ABCD") << broken(
        "What a sync could not write stays cached: a later sync that returns 0 has written it.",
        "That later sync would be a lie. It says that all earlier writes of the file are durable, while the "
        "sector that failed is neither on the medium nor in the cache.");
  }
}

}  // namespace
}  // namespace mneme::course
