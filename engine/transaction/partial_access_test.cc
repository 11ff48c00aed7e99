// Goal: a transaction that asks for parts of a row gets those parts of one version of it, whatever it asks
// for later, and writes back only what it changed. Method: two transactions interleaved by hand on rows of 80
// texts, each in parts of its own.
#include <gtest/gtest.h>

#include "engine/testing/wide_table.h"

namespace mneme {
namespace {

class PartialAccessTest : public testing::Test {
 protected:
  PartialAccessTest() : a(t.db, t.db.worker(WorkerId{0})), b(t.db, t.db.worker(WorkerId{1})) { t.load(1, 7); }
  void TearDown() override {
    a.abort();
    b.abort();
  }

  void expect_committed(uint32_t text, uint64_t number) {
    b.begin();
    RowRef row;
    ASSERT_EQ(t.find(b, 1, t.parts(text), row), AccessStatus::kOk);
    EXPECT_EQ(t.get(row, text), t.text_of(number)) << "text " << text;
    EXPECT_EQ(TestDatabase::commit(b).status, CommitStatus::kCommitted);
  }
  void commit_by_b(uint32_t text, uint64_t number) {
    b.begin();
    RowRef row;
    ASSERT_EQ(t.find(b, 1, t.parts(text), row), AccessStatus::kOk);
    ASSERT_EQ(t.set(b, row, text, t.text_of(number)), AccessStatus::kOk);
    ASSERT_EQ(TestDatabase::commit(b).status, CommitStatus::kCommitted);
  }

  WideTable t{2};
  Transaction a;
  Transaction b;
};

TEST(ImageParts, PartsAreTheLinesOfARowThatBeginsOnOne) {
  EXPECT_EQ(ImageParts::of(0, 56).bits(), 1u);
  EXPECT_EQ(ImageParts::of(55, 2).bits(), 3u);
  EXPECT_EQ(ImageParts::of(56, 64).bits(), 2u);
  EXPECT_EQ(ImageParts::of(64 * 62 + 56, 1).bits(), uint64_t{1} << 63);
  EXPECT_EQ(ImageParts::of(100000, 10).bits(), uint64_t{1} << 63);
  EXPECT_TRUE(ImageParts::of(0, 0).is_empty());
}

TEST(ImageParts, RunsCoverEveryWordOnce) {
  for (const size_t words : {1u, 7u, 8u, 15u, 63u, 511u, 512u, 2000u}) {
    std::vector<int> visits(words, 0);
    ImageParts::all().for_each_run(words, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++visits[i];
    });
    EXPECT_EQ(visits, std::vector<int>(words, 1)) << words;
    for (size_t i = 0; i < words; ++i) {
      bool found = false;
      ImageParts::of(8 * i, 8).for_each_run(
          words, [&](size_t begin, size_t end) { found |= begin <= i && i < end; });
      EXPECT_TRUE(found) << i << " of " << words;
    }
  }
}

TEST_F(PartialAccessTest, AnyPartsCanBeReadAlone) {
  a.begin();
  for (uint32_t text = 0; text < t.kTexts; ++text) {
    RowRef row;
    ASSERT_EQ(t.find(a, 1, t.parts(text), row), AccessStatus::kOk);
    EXPECT_EQ(t.get(row, text), t.text_of(7)) << text;
  }
  RowRef row;
  EXPECT_EQ(t.find(a, 1, ImageParts(), row), AccessStatus::kOk);
  EXPECT_EQ(t.find(a, 2, ImageParts(), row), AccessStatus::kAbsent);
  EXPECT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
}

TEST_F(PartialAccessTest, AWriteLeavesTheOtherPartsAlone) {
  for (uint32_t text = 0; text < t.kTexts; ++text) {
    a.begin();
    RowRef row;
    ASSERT_EQ(t.find(a, 1, t.parts(text), row), AccessStatus::kOk);
    ASSERT_EQ(t.set(a, row, text, t.text_of(100 + text)), AccessStatus::kOk);
    ASSERT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
  }
  for (uint32_t text = 0; text < t.kTexts; ++text) expect_committed(text, 100 + text);
}

TEST_F(PartialAccessTest, AnUpdateReadsWhatItDidNotAskFor) {
  a.begin();
  RowRef row;
  ASSERT_EQ(t.find(a, 1, ImageParts(), row), AccessStatus::kOk);
  // Shorter than what stands there: the rest of the parts must be what it was.
  ASSERT_EQ(t.set(a, row, 4, "short"), AccessStatus::kOk);
  ASSERT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
  expect_committed(3, 7);
  expect_committed(5, 7);
  b.begin();
  ASSERT_EQ(t.find(b, 1, ImageParts::all(), row), AccessStatus::kOk);
  EXPECT_EQ(t.get(row, 4), "short");
}

TEST_F(PartialAccessTest, AnOwnWriteShowsPartsAskedForLater) {
  a.begin();
  RowRef first, second, all;
  ASSERT_EQ(t.find(a, 1, t.parts(0), first), AccessStatus::kOk);
  ASSERT_EQ(t.find(a, 1, t.parts(79), second), AccessStatus::kOk);
  ASSERT_EQ(t.set(a, first, 0, t.text_of(1)), AccessStatus::kOk);
  EXPECT_EQ(t.get(first, 0), t.text_of(1));
  // Through the copy that was read on its own: the write has none of its parts.
  ASSERT_EQ(t.set(a, second, 78, t.text_of(2)), AccessStatus::kOk);
  EXPECT_EQ(t.get(second, 78), t.text_of(2));
  EXPECT_EQ(t.get(second, 79), t.text_of(7));
  ASSERT_EQ(t.find(a, 1, ImageParts::all(), all), AccessStatus::kOk);
  for (uint32_t text = 0; text < t.kTexts; ++text)
    EXPECT_EQ(t.get(all, text), t.text_of(text == 0 ? 1 : text == 78 ? 2 : 7)) << text;
  EXPECT_EQ(t.get(first, 0), t.text_of(1));
  ASSERT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
  expect_committed(0, 1);
  expect_committed(1, 7);
  expect_committed(78, 2);
  expect_committed(79, 7);
}

TEST_F(PartialAccessTest, ColumnsWrittenIntoTheImageAreInstalled) {
  a.begin();
  RowRef row;
  std::byte* image = nullptr;
  ASSERT_EQ(t.find(a, 1, t.parts(10), row), AccessStatus::kOk);
  ASSERT_EQ(a.change_parts(t.kWide, row, t.parts(10), image), AccessStatus::kOk);
  t.layout().set(image, t.text_column(10), Value::of_text(t.text_of(3)));
  ASSERT_EQ(t.find(a, 1, t.parts(40), row), AccessStatus::kOk);
  ASSERT_EQ(a.change_parts(t.kWide, row, t.parts(40), image), AccessStatus::kOk);
  t.layout().set(image, t.text_column(40), Value::of_text(t.text_of(4)));
  ASSERT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
  expect_committed(10, 3);
  expect_committed(40, 4);
  expect_committed(20, 7);
}

TEST_F(PartialAccessTest, PartsOfAnotherVersionAreAConflict) {
  a.begin();
  RowRef row, later;
  ASSERT_EQ(t.find(a, 1, t.parts(0), row), AccessStatus::kOk);
  ASSERT_EQ(t.set(a, row, 0, t.text_of(1)), AccessStatus::kOk);
  commit_by_b(79, 9);
  EXPECT_EQ(t.find(a, 1, t.parts(79), later), AccessStatus::kConflict);
  a.abort();

  a.begin();
  ASSERT_EQ(t.find(a, 1, t.parts(0), row), AccessStatus::kOk);
  commit_by_b(79, 10);
  EXPECT_EQ(t.set(a, row, 79, t.text_of(1)), AccessStatus::kConflict);
  a.abort();

  // Versions are the whole row's: another part's change is seen at the commit, too.
  a.begin();
  ASSERT_EQ(t.find(a, 1, t.parts(0), row), AccessStatus::kOk);
  commit_by_b(79, 11);
  EXPECT_EQ(TestDatabase::commit(a).status, CommitStatus::kConflict);
}

TEST_F(PartialAccessTest, AnErasedAndInsertedRowIsWholeAgain) {
  a.begin();
  RowRef row;
  ASSERT_EQ(t.find(a, 1, t.parts(5), row), AccessStatus::kOk);
  ASSERT_EQ(t.set(a, row, 5, t.text_of(1)), AccessStatus::kOk);
  ASSERT_EQ(a.erase(t.kWide, row), AccessStatus::kOk);
  EXPECT_EQ(t.find(a, 1, t.parts(5), row), AccessStatus::kAbsent);
  const std::string text = t.text_of(50);
  std::vector<Value> values(1 + t.kTexts, Value::of_text(text));
  values[0] = Value::of_int(1);
  ASSERT_EQ(a.insert(t.kWide, values), AccessStatus::kOk);
  ASSERT_EQ(TestDatabase::commit(a).status, CommitStatus::kCommitted);
  for (uint32_t i = 0; i < t.kTexts; ++i) expect_committed(i, 50);
}

}  // namespace
}  // namespace mneme
