// Goal: partial reads are consistent and partial writes lose nothing while threads change different parts of
// the same rows. Method: text i and text i + 40 of a row, which lie in different parts, always hold the same
// number. A transaction raises a pair by one, reading the two at once, or the second one only after it has
// written the first; readers compare pairs. In the end the numbers sum up to the commits.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine/testing/wide_table.h"

namespace mneme {
namespace {

constexpr uint32_t kAccessors = 4;
constexpr int64_t kWideRows = 3;
constexpr uint32_t kPairs = WideTable::kTexts / 2;
constexpr int kTransactionsOfEach = 1500;

uint64_t number_in(std::string_view text) {
  return std::stoull(std::string(text.substr(text.size() - 10)));
}

struct Stresser {
  WideTable& t;
  Transaction x;
  std::mt19937 random;

  AccessStatus raise(bool together, bool into_image) {
    const int64_t id = random() % kWideRows;
    const uint32_t one = random() % kPairs;
    const uint32_t other = one + kPairs;
    RowRef row;
    const ImageParts first = together ? t.parts(one) | t.parts(other) : t.parts(one);
    if (const AccessStatus s = t.find(x, id, first, row); s != AccessStatus::kOk) return s;
    const uint64_t number = number_in(t.get(row, one));
    if (together) {
      EXPECT_EQ(number_in(t.get(row, other)), number);
    }
    if (const AccessStatus s = set(row, one, number + 1, into_image); s != AccessStatus::kOk) return s;
    if (!together) {
      if (const AccessStatus s = t.find(x, id, t.parts(other), row); s != AccessStatus::kOk) return s;
      EXPECT_EQ(number_in(t.get(row, other)), number);
      EXPECT_EQ(number_in(t.get(row, one)), number + 1);
    }
    return set(row, other, number + 1, into_image);
  }
  AccessStatus set(RowRef& row, uint32_t text, uint64_t number, bool into_image) {
    if (!into_image) return t.set(x, row, text, t.text_of(number));
    std::byte* image = nullptr;
    const AccessStatus status = x.change_parts(t.kWide, row, t.parts(text), image);
    if (status == AccessStatus::kOk)
      t.layout().set(image, t.text_column(text), Value::of_text(t.text_of(number)));
    return status;
  }
  AccessStatus compare() {
    const uint32_t one = random() % kPairs;
    RowRef row;
    const AccessStatus status = t.find(x, random() % kWideRows, t.parts(one) | t.parts(one + kPairs), row);
    if (status == AccessStatus::kOk) {
      EXPECT_EQ(t.get(row, one), t.get(row, one + kPairs));
    }
    return status;
  }
};

TEST(PartialAccessStress, PairsStayPairs) {
  WideTable t(kAccessors);
  for (int64_t id = 0; id < kWideRows; ++id) t.load(id, 0);
  std::vector<uint64_t> raised(kAccessors, 0);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kAccessors; ++thread) {
    threads.emplace_back([&, thread] {
      Stresser s{t, Transaction(t.db, t.db.worker(WorkerId{thread})), std::mt19937(thread)};
      for (int i = 0; i < kTransactionsOfEach; ++i) {
        s.x.begin();
        const bool writes = s.random() % 4 != 0;
        const AccessStatus status = writes ? s.raise(s.random() % 2 == 0, s.random() % 2 == 0) : s.compare();
        if (status != AccessStatus::kOk) {
          s.x.abort();
          std::this_thread::yield();
        } else if (TestDatabase::commit(s.x).status == CommitStatus::kCommitted && writes) {
          ++raised[thread];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  uint64_t commits = 0;
  for (const uint64_t count : raised) commits += count;
  EXPECT_GT(commits, 0u);
  uint64_t sum = 0;
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  x.begin();
  for (int64_t id = 0; id < kWideRows; ++id) {
    RowRef row;
    ASSERT_EQ(t.find(x, id, ImageParts::all(), row), AccessStatus::kOk);
    for (uint32_t text = 0; text < kPairs; ++text) {
      EXPECT_EQ(t.get(row, text), t.get(row, text + kPairs));
      sum += number_in(t.get(row, text));
    }
  }
  EXPECT_EQ(sum, commits);
}

}  // namespace
}  // namespace mneme
