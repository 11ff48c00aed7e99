// Goal: a record is taken apart at its changes, each of its row's page, and what says nothing of places is of
// none. Method: transactions commit to a log in memory; each piece is held against what a ChangeReader finds.
#include "engine/schema/page_split.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "engine/schema/change_codec.h"
#include "engine/testing/test_database.h"
#include "logging/testing/kept_log.h"

namespace mneme {
namespace {

struct Piece {
  size_t end;
  std::optional<uint64_t> page;
};

std::vector<Piece> pieces_of(const RecordView& record) {
  std::vector<Piece> pieces;
  page_splitter()(record.kind, record.payload, [&](size_t end, std::optional<uint64_t> page) {
    pieces.push_back({end, page});
  });
  return pieces;
}

// Runs transactions that change rows of several pages, and returns their records.
std::vector<RecordView> run(TestDatabase& t, KeptLog& log, RecordContent content) {
  t.db.attach_log(log, content);
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  for (int64_t first = 0; first < 700; first += 7) {
    x.begin();
    for (int64_t id = first; id < first + 7; ++id)
      EXPECT_EQ(t.insert(x, id, 10, 1000 + id, id), AccessStatus::kOk);
    if (first >= 70) {
      EXPECT_EQ(t.set(x, first - 69, t.kAmount, 5), AccessStatus::kOk);
      EXPECT_EQ(t.erase(x, first - 70), AccessStatus::kOk);
    }
    EXPECT_EQ(t.commit(x).status, CommitStatus::kCommitted);
  }
  return log.records();
}

TEST(PageSplit, CutsARecordAtItsChanges) {
  for (const RecordContent content : {RecordContent::kPhysical, RecordContent::kAll}) {
    KeptLog log;
    TestDatabase t{1};
    std::set<uint64_t> pages;
    for (const RecordView& record : run(t, log, content)) {
      const std::vector<Piece> pieces = pieces_of(record);
      ASSERT_FALSE(pieces.empty());
      EXPECT_FALSE(pieces.front().page);
      EXPECT_EQ(pieces.back().end, record.payload.size());
      ChangeReader reader(t.db.change_codec(), *changes_of(record.kind, record.payload));
      RowChange change;
      size_t next = 1;
      for (; reader.next(change); ++next) {
        ASSERT_LT(next, pieces.size());
        const std::byte* end = change.columns.data() + change.columns.size();
        EXPECT_EQ(pieces[next].end, static_cast<size_t>(end - record.payload.data()));
        EXPECT_EQ(pieces[next].page, change.table.value + change.location.slot / kPageSlots);
        pages.insert(*pieces[next].page);
      }
      EXPECT_EQ(next, pieces.size());
    }
    EXPECT_GE(pages.size(), 3u);
  }
}

TEST(PageSplit, WhatSaysNothingOfPlacesStaysWhole) {
  for (const RecordContent content : {RecordContent::kCommand, RecordContent::kLogical}) {
    KeptLog log;
    TestDatabase t{1};
    for (const RecordView& record : run(t, log, content)) {
      const std::vector<Piece> pieces = pieces_of(record);
      ASSERT_EQ(pieces.size(), 1u);
      EXPECT_EQ(pieces.front().end, record.payload.size());
      EXPECT_FALSE(pieces.front().page);
    }
    const Result<void> refused = check_pages(content);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("--log physical"), std::string::npos);
  }
  EXPECT_TRUE(check_pages(RecordContent::kPhysical).ok());
  EXPECT_TRUE(check_pages(RecordContent::kAll).ok());
}

}  // namespace
}  // namespace mneme
