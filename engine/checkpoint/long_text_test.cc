// Goal: a long text is what was written, for whoever may see it, and is given back once nobody can. Method:
// transactions interleaved by hand, and random ones held against a map; AddressSanitizer watches the memory.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>

#include "engine/table/version_keeper.h"
#include "engine/testing/test_database.h"
#include "engine/transaction/digest.h"

namespace mneme {
namespace {

constexpr TableId kDoc{0};
constexpr IndexId kById{0};
constexpr ColumnId kId{0}, kTitle{1}, kBody{2}, kNotes{3};

// doc(id int primary key, title varchar(20), body text not null, notes varchar(3000))
Catalog doc_catalog() {
  Catalog catalog;
  CHECK(catalog
            .add_table("doc",
                       {{"id", {.kind = TypeKind::kInt}, false},
                        {"title", {.kind = TypeKind::kVarchar, .length = 20}, true},
                        {"body", {.kind = TypeKind::kVarchar, .is_text = true}, false},
                        {"notes", {.kind = TypeKind::kVarchar, .length = 3000}, true}},
                       {kId})
            .ok());
  catalog.mark_ordered(kById);
  return catalog;
}

Value text_or_null(const std::optional<std::string>& text) {
  return text ? Value::of_text(*text) : Value::null();
}

class LongTextTest : public testing::Test {
 protected:
  LongTextTest() { db.attach_log(log); }

  IndexKey key(int64_t id) const {
    const Value value = Value::of_int(id);
    return *db.schema().codec(kById).of_whole({&value, 1});
  }
  AccessStatus insert(Transaction& t, int64_t id, const std::string& body,
                      const std::optional<std::string>& notes = std::nullopt) const {
    const std::array<Value, 4> values{Value::of_int(id), Value::of_text("t"), Value::of_text(body),
                                      text_or_null(notes)};
    return t.insert(kDoc, values);
  }
  AccessStatus set(Transaction& t, int64_t id, ColumnId column, const Value& value) const {
    RowRef row;
    const AccessStatus status = t.find(kById, key(id), row);
    if (status != AccessStatus::kOk) return status;
    const ColumnValue change{column, value};
    return t.update(kDoc, row, {&change, 1});
  }
  std::optional<std::string> get(Transaction& t, int64_t id, ColumnId column) const {
    RowRef row;
    if (t.find(kById, key(id), row) != AccessStatus::kOk) return std::nullopt;
    const Value value = db.schema().layout(kDoc).get(row.image, column);
    return value.is_null() ? std::nullopt : std::optional(std::string(value.as_text()));
  }
  void commit(Transaction& t) { ASSERT_EQ(TestDatabase::commit(t).status, CommitStatus::kCommitted); }

  CountingLog log;
  Database db{doc_catalog(), 2, PageSize::kSmall};
  Transaction a{db, db.worker(WorkerId{0})};
  Transaction b{db, db.worker(WorkerId{1})};
};

TEST_F(LongTextTest, OnlyColumnsWithoutAShortLengthLieElsewhere) {
  const RowLayout& layout = db.schema().layout(kDoc);
  EXPECT_EQ(layout.long_columns(), (std::vector{kBody, kNotes}));
  EXPECT_EQ(layout.place(kBody).offset % 8, 0u);
  EXPECT_LT(layout.image_bytes(), 200u);
}

TEST_F(LongTextTest, AnIndexTakesTextsIntoTheRowsAndItsEndLetsThemOut) {
  a.begin();
  ASSERT_EQ(insert(a, 1, std::string(200, 'x'), std::string(200, 'y')), AccessStatus::kOk);
  commit(a);
  const auto no_value = [](const Column&) { return Value::null(); };
  const auto no_conversion = [](const Database::Prepared::Converted&) { return false; };
  const auto no_generated = [](const Database::Prepared::Generated&) { return false; };
  const auto change = [&](Catalog catalog) {
    Database::Prepared prepared = db.prepare(std::move(catalog));
    const auto copied = prepared.copy_rows(false, no_value, no_conversion, no_generated).status;
    if (copied == Database::Prepared::Copied::Status::kDone) db.take(std::move(prepared));
    return copied;
  };
  Catalog indexed = db.catalog();
  const Result<IndexId> index = indexed.add_index("doc_body", kDoc, {kBody}, false);
  ASSERT_TRUE(index.ok());
  EXPECT_EQ(text_room(indexed, indexed.table(kDoc), kBody), 255u);
  ASSERT_EQ(change(indexed), Database::Prepared::Copied::Status::kDone);
  EXPECT_EQ(db.schema().layout(kDoc).long_columns(), std::vector{kNotes});
  const auto body_of_row = [&] {
    const Row* row = db.table(kDoc).rows().at(0);
    return std::string(db.schema().layout(kDoc).get(row->image(), kBody).as_text());
  };
  EXPECT_EQ(body_of_row(), std::string(200, 'x'));
  ASSERT_EQ(change(db.catalog().without(*index)), Database::Prepared::Copied::Status::kDone);
  EXPECT_EQ(db.schema().layout(kDoc).long_columns(), (std::vector{kBody, kNotes}));
  EXPECT_EQ(body_of_row(), std::string(200, 'x'));
  a.begin();
  ASSERT_EQ(insert(a, 2, std::string(256, 'x')), AccessStatus::kOk);
  commit(a);
  EXPECT_EQ(change(indexed), Database::Prepared::Copied::Status::kNoRoom);
}

TEST_F(LongTextTest, IsReadAsItWasWrittenInsideAndOutsideOfTheRow) {
  for (const size_t bytes : {0u, 1u, 61u, 62u, 63u, 64u, 1000u, 200'000u}) {
    const auto id = static_cast<int64_t>(bytes);
    a.begin();
    ASSERT_EQ(insert(a, id, std::string(bytes, 'x')), AccessStatus::kOk);
    EXPECT_EQ(get(a, id, kBody), std::string(bytes, 'x'));
    commit(a);
    b.begin();
    EXPECT_EQ(get(b, id, kBody), std::string(bytes, 'x'));
    EXPECT_EQ(get(b, id, kNotes), std::nullopt);
    commit(b);
  }
}

TEST_F(LongTextTest, AReaderKeepsTheTextThatItHasSeenWhileOthersReplaceIt) {
  const std::string former(5000, 'f');
  a.begin();
  ASSERT_EQ(insert(a, 1, former), AccessStatus::kOk);
  commit(a);
  a.begin();
  RowRef row;
  ASSERT_EQ(a.find(kById, key(1), row), AccessStatus::kOk);
  const Value seen = db.schema().layout(kDoc).get(row.image, kBody);
  for (int i = 0; i < 200; ++i) {
    b.begin();
    ASSERT_EQ(set(b, 1, kBody, Value::of_text(std::string(5000, static_cast<char>('a' + i % 26)))),
              AccessStatus::kOk);
    commit(b);
  }
  EXPECT_EQ(seen.as_text(), former);
  a.abort();
}

TEST_F(LongTextTest, WhatIsTakenBackLeavesTheFormerTexts) {
  a.begin();
  ASSERT_EQ(insert(a, 1, std::string(1000, 'a'), std::string(1000, 'n')), AccessStatus::kOk);
  commit(a);
  a.begin();
  ASSERT_EQ(set(a, 1, kBody, Value::of_text(std::string(2000, 'b'))), AccessStatus::kOk);
  const Transaction::Savepoint savepoint = a.savepoint();
  ASSERT_EQ(set(a, 1, kBody, Value::of_text(std::string(3000, 'c'))), AccessStatus::kOk);
  ASSERT_EQ(set(a, 1, kNotes, Value::null()), AccessStatus::kOk);
  ASSERT_EQ(insert(a, 2, std::string(1000, 'd')), AccessStatus::kOk);
  ASSERT_TRUE(a.roll_back_to(savepoint));
  EXPECT_EQ(get(a, 1, kBody), std::string(2000, 'b'));
  EXPECT_EQ(get(a, 1, kNotes), std::string(1000, 'n'));
  a.abort();
  b.begin();
  EXPECT_EQ(get(b, 1, kBody), std::string(1000, 'a'));
  EXPECT_EQ(get(b, 2, kBody), std::nullopt);
  b.abort();
}

TEST_F(LongTextTest, OneRowsTextIsAnothersNewValueAndMovesWithItsKey) {
  a.begin();
  ASSERT_EQ(insert(a, 1, std::string(1000, 'a'), std::string(900, 'n')), AccessStatus::kOk);
  commit(a);
  a.begin();
  RowRef row;
  ASSERT_EQ(a.find(kById, key(1), row), AccessStatus::kOk);
  const RowLayout& layout = db.schema().layout(kDoc);
  const std::array<ColumnValue, 3> changes{{{kBody, layout.get(row.image, kNotes)},
                                            {kNotes, layout.get(row.image, kBody)},
                                            {kId, Value::of_int(7)}}};
  ASSERT_EQ(a.update(kDoc, row, changes), AccessStatus::kOk);
  commit(a);
  a.begin();
  EXPECT_EQ(get(a, 1, kBody), std::nullopt);
  EXPECT_EQ(get(a, 7, kBody), std::string(900, 'n'));
  EXPECT_EQ(get(a, 7, kNotes), std::string(1000, 'a'));
  a.abort();
  db.worker(WorkerId{0}).come_to_rest(log);
}

// The deleted row's slot is used again, and an insert takes over a tombstone.
TEST_F(LongTextTest, ASlotGivesItsTextsBack) {
  for (int i = 0; i < 300; ++i) {
    a.begin();
    ASSERT_EQ(insert(a, i % 3, std::string(500, 'x')), AccessStatus::kOk);
    commit(a);
    a.begin();
    RowRef row;
    ASSERT_EQ(a.find(kById, key(i % 3), row), AccessStatus::kOk);
    ASSERT_EQ(a.erase(kDoc, row), AccessStatus::kOk);
    if (i % 2 == 0) {
      ASSERT_EQ(insert(a, i % 3, std::string(600, 'y')), AccessStatus::kOk);
    }
    commit(a);
    if (i % 2 != 0) continue;
    a.begin();
    EXPECT_EQ(get(a, i % 3, kBody), std::string(600, 'y'));
    ASSERT_EQ(a.find(kById, key(i % 3), row), AccessStatus::kOk);
    ASSERT_EQ(a.erase(kDoc, row), AccessStatus::kOk);
    commit(a);
  }
  db.worker(WorkerId{0}).come_to_rest(log);
  EXPECT_EQ(db.memory_by_table()[0].long_text_bytes, 0u);
}

TEST_F(LongTextTest, AKeptVersionHasItsTextsUntilItIsDrained) {
  a.begin();
  ASSERT_EQ(insert(a, 1, std::string(1000, 'a')), AccessStatus::kOk);
  commit(a);
  db.versions().start();
  const Lsn boundary = log.reserve(WorkerId{2}, 0);
  db.versions().fix(boundary);
  for (const char c : {'b', 'c'}) {
    a.begin();
    ASSERT_EQ(set(a, 1, kBody, Value::of_text(std::string(1000, c))), AccessStatus::kOk);
    commit(a);
  }
  db.worker(WorkerId{0}).come_to_rest(log);
  EXPECT_GE(db.versions().waiting_bytes(), 1000u);
  int drained = 0;
  db.versions().drain([&](const KeptVersion& kept) {
    ++drained;
    EXPECT_EQ(db.schema().layout(kDoc).get(kept.image, kBody).as_text(), std::string(1000, 'a'));
  });
  EXPECT_EQ(drained, 1);
  // A text that nobody drains is given back, too.
  db.versions().stop();
}

TEST_F(LongTextTest, RandomTransactionsLeaveWhatAMapHas) {
  std::mt19937_64 random(7);
  using Row = std::pair<std::string, std::optional<std::string>>;
  std::map<int64_t, Row> model;
  const auto draw = [&] {
    return std::string(random() % 3 == 0 ? random() % 62 : random() % 5000, 'a' + random() % 26);
  };
  for (int i = 0; i < 1500; ++i) {
    Transaction& t = random() % 2 == 0 ? a : b;
    std::map<int64_t, Row> next = model;
    t.begin();
    for (uint64_t ops = 1 + random() % 4; ops > 0; --ops) {
      const auto id = static_cast<int64_t>(random() % 8);
      RowRef row;
      const AccessStatus found = t.find(kById, key(id), row);
      ASSERT_EQ(found == AccessStatus::kOk, next.contains(id));
      if (found != AccessStatus::kOk) {
        next[id] = {draw(), random() % 2 == 0 ? std::optional(draw().substr(0, 3000)) : std::nullopt};
        ASSERT_EQ(insert(t, id, next[id].first, next[id].second), AccessStatus::kOk);
        continue;
      }
      EXPECT_EQ(get(t, id, kBody), next[id].first);
      EXPECT_EQ(get(t, id, kNotes), next[id].second);
      switch (random() % 4) {
        case 0:
          ASSERT_EQ(t.erase(kDoc, row), AccessStatus::kOk);
          next.erase(id);
          break;
        case 1: {
          const std::array<ColumnValue, 2> changes{
              {{kTitle, Value::of_text("new")}, {kNotes, Value::null()}}};
          ASSERT_EQ(t.update(kDoc, row, changes), AccessStatus::kOk);
          next[id].second = std::nullopt;
          break;
        }
        case 2: {
          const auto other = static_cast<int64_t>(8 + random() % 3);
          if (next.contains(other)) break;
          const ColumnValue change{kId, Value::of_int(other)};
          ASSERT_EQ(t.update(kDoc, row, {&change, 1}), AccessStatus::kOk);
          next[other] = next[id];
          next.erase(id);
          break;
        }
        default:
          next[id].first = draw();
          ASSERT_EQ(set(t, id, kBody, Value::of_text(next[id].first)), AccessStatus::kOk);
      }
    }
    if (random() % 4 == 0) {
      t.abort();
    } else {
      commit(t);
      model = std::move(next);
    }
  }
  a.begin();
  for (int64_t id = 0; id < 11; ++id) {
    EXPECT_EQ(get(a, id, kBody), model.contains(id) ? std::optional(model[id].first) : std::nullopt);
  }
  a.abort();
}

// ---- replay ----

TEST(LongTextReplay, AWriterAndADecodedRowOwnTheirTexts) {
  Database db(doc_catalog(), 1, PageSize::kSmall);
  const RowLayout& layout = db.schema().layout(kDoc);
  const RowCodec codec(layout);
  UnloggedWriter writer(db);
  const std::string body(1000, 'b');
  const std::string notes(700, 'n');
  const std::array<Value, 4> values{Value::of_int(1), Value::null(), Value::of_text(body),
                                    Value::of_text(notes)};
  Row* row = nullptr;
  ASSERT_EQ(writer.insert(kDoc, values, &row), AccessStatus::kOk);
  const std::array<ColumnValue, 2> swapped{
      {{kBody, layout.get(row->image(), kNotes)}, {kNotes, layout.get(row->image(), kBody)}}};
  ASSERT_EQ(writer.update(kDoc, row, swapped), AccessStatus::kOk);
  EXPECT_EQ(layout.get(row->image(), kBody).as_text(), notes);
  const ColumnValue part{kBody, Value::of_text(layout.get(row->image(), kNotes).as_text().substr(1))};
  ASSERT_EQ(writer.update(kDoc, row, {&part, 1}), AccessStatus::kOk);
  EXPECT_EQ(layout.get(row->image(), kBody).as_text(), body.substr(1));

  ByteBuffer bytes;
  codec.encode(row->image(), bytes);
  std::vector<std::byte> image(layout.image_bytes());
  ByteReader borrowed(bytes.span());
  ASSERT_TRUE(codec.decode(borrowed, image.data()));
  EXPECT_TRUE(codec.equal(row->image(), image.data()));
  ByteReader owned(bytes.span());
  ASSERT_TRUE(codec.decode(owned, row->image(), ImageOwner::kRow));
  EXPECT_TRUE(codec.equal(row->image(), image.data()));
  ASSERT_TRUE(layout.copy_to_row(image.data(), row->image()));
  EXPECT_TRUE(codec.equal(row->image(), image.data()));

  const ColumnValue moved{kId, Value::of_int(2)};
  ASSERT_EQ(writer.update(kDoc, row, {&moved, 1}), AccessStatus::kOk);
  EXPECT_EQ(layout.get(row->image(), kBody).as_text(), body.substr(1));
  writer.erase(kDoc, row);
  EXPECT_EQ(db.memory_by_table()[0].long_text_bytes, 0u);
}

TEST(LongTextReplay, ATextOfMoreBytesThanAnyHasIsNoRow) {
  Database db(doc_catalog(), 1, PageSize::kSmall);
  const RowLayout& layout = db.schema().layout(kDoc);
  const RowCodec body(layout, std::array{kBody});
  ByteBuffer bytes;
  bytes.put_varint(kMostTextBytes + 1);
  const std::vector<char> text(kMostTextBytes + 1, 'x');
  bytes.put_bytes(as_bytes(std::string_view(text.data(), text.size())));
  std::vector<std::byte> image(layout.image_bytes());
  ByteReader in(bytes.span());
  EXPECT_FALSE(body.decode(in, image.data()));
}

}  // namespace
}  // namespace mneme
