// Goal: a transaction's record holds exactly what it changed, and no bytes whatever make its reader run over.
// Method: transactions on the tests' table commit to a log in memory, in which the changes are looked for.
// Then records with random and flipped bytes are read and decoded from memory of exactly their size, where
// AddressSanitizer sees a byte too far.
#include "engine/schema/change_codec.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <string>

#include "engine/testing/test_database.h"
#include "engine/testing/wide_table.h"
#include "logging/testing/kept_log.h"

namespace mneme {
namespace {

struct Changed {
  ChangeAction action;
  int64_t id;
  int64_t amount;  // not of an erased row

  bool operator==(const Changed&) const = default;
};

class ChangeRecordTest : public testing::Test {
 protected:
  ChangeRecordTest() { t_.db.attach_log(log_, RecordContent::kAll); }

  Transaction& begin() {
    x_.begin();
    return x_;
  }
  std::vector<Changed> committed() {
    EXPECT_EQ(t_.commit(x_).status, CommitStatus::kCommitted);
    const RecordView record = log_.records().back();
    EXPECT_EQ(record.kind, RecordKind::kAll);
    EXPECT_EQ(as_text(*call_of(record.kind, record.payload)), "a call");
    return read(*changes_of(record.kind, record.payload));
  }
  std::vector<Changed> read(const LoggedChanges& changes) {
    const ChangeCodec& codec = t_.db.change_codec();
    std::vector<Changed> found;
    ChangeReader reader(codec, changes);
    RowChange change;
    while (reader.next(change)) {
      const RowLayout& layout = t_.db.schema().layout(change.table);
      std::vector<std::byte> image(layout.image_bytes());
      EXPECT_TRUE(codec.decode_row(change.table, change.action, change.columns, image.data()));
      found.push_back({change.action, layout.get(image.data(), t_.kId).as_int(),
                       layout.get(image.data(), t_.kAmount).as_int()});
    }
    EXPECT_FALSE(reader.bad());
    return found;
  }

  KeptLog log_;
  TestDatabase t_{1};
  Transaction x_{t_.db, t_.db.worker(WorkerId{0})};
};

TEST_F(ChangeRecordTest, HoldsWhatWasInsertedUpdatedAndErased) {
  Transaction& x = begin();
  ASSERT_EQ(t_.insert(x, 1, 10, 100, 5), AccessStatus::kOk);
  ASSERT_EQ(t_.insert(x, 2, 10, 200, 6), AccessStatus::kOk);
  EXPECT_EQ(committed(),
            (std::vector<Changed>{{ChangeAction::kInsert, 1, 5}, {ChangeAction::kInsert, 2, 6}}));

  begin();
  ASSERT_EQ(t_.set(x, 1, t_.kAmount, 50), AccessStatus::kOk);
  ASSERT_EQ(t_.set(x, 1, t_.kAmount, 51), AccessStatus::kOk);
  ASSERT_EQ(t_.erase(x, 2), AccessStatus::kOk);
  EXPECT_EQ(committed(),
            (std::vector<Changed>{{ChangeAction::kUpdate, 1, 51}, {ChangeAction::kErase, 2, 0}}));

  // A tombstone comes to life again: to a reader of the log that is an insert.
  begin();
  ASSERT_EQ(t_.insert(x, 2, 11, 200, 7), AccessStatus::kOk);
  EXPECT_EQ(committed(), (std::vector<Changed>{{ChangeAction::kInsert, 2, 7}}));
}

TEST_F(ChangeRecordTest, ReplacedRowsAreUpdatesAndRowsThatCameAndWentAreNothing) {
  Transaction& x = begin();
  ASSERT_EQ(t_.insert(x, 1, 10, 100, 5), AccessStatus::kOk);
  committed();

  begin();
  ASSERT_EQ(t_.erase(x, 1), AccessStatus::kOk);
  ASSERT_EQ(t_.insert(x, 1, 12, 300, 9), AccessStatus::kOk);
  ASSERT_EQ(t_.insert(x, 3, 12, 400, 9), AccessStatus::kOk);
  ASSERT_EQ(t_.erase(x, 3), AccessStatus::kOk);
  EXPECT_EQ(committed(), (std::vector<Changed>{{ChangeAction::kUpdate, 1, 9}}));
}

TEST_F(ChangeRecordTest, AChangedPrimaryKeyIsAnErasureAndAnInsert) {
  Transaction& x = begin();
  ASSERT_EQ(t_.insert(x, 1, 10, 100, 5), AccessStatus::kOk);
  committed();

  begin();
  ASSERT_EQ(t_.set(x, 1, t_.kId, 8), AccessStatus::kOk);
  EXPECT_EQ(committed(), (std::vector<Changed>{{ChangeAction::kErase, 1, 0}, {ChangeAction::kInsert, 8, 5}}));
}

TEST(ChangeRecord, LocationsFormAChainOfVersionsThatASlotKeepsThroughAllItsRows) {
  KeptLog log;
  TestDatabase t(2);
  t.db.attach_log(log, RecordContent::kPhysical);
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  Transaction eraser(
      t.db, t.db.worker(WorkerId{1}));  // its worker takes no tombstone away, as it begins nothing more
  const auto location_of_last = [&] {
    const RecordView record = log.records().back();
    EXPECT_EQ(record.kind, RecordKind::kPhysical);
    EXPECT_FALSE(call_of(record.kind, record.payload).has_value());
    ChangeReader reader(t.db.change_codec(), *changes_of(record.kind, record.payload));
    RowChange change;
    EXPECT_TRUE(reader.next(change));
    return change.location;
  };
  const auto committed = [&](Transaction& transaction, const std::function<AccessStatus()>& change) {
    transaction.begin();
    EXPECT_EQ(change(), AccessStatus::kOk);
    EXPECT_EQ(t.commit(transaction).status, CommitStatus::kCommitted);
    return log.records().back().lsn;
  };

  const Lsn inserted = committed(x, [&] { return t.insert(x, 1, 10, 100, 5); });
  const RowLocation first = location_of_last();
  EXPECT_EQ(first, (RowLocation{first.slot, kCheckpointLsn, false}));
  const Lsn updated = committed(x, [&] { return t.set(x, 1, t.kAmount, 6); });
  EXPECT_EQ(location_of_last(), (RowLocation{first.slot, inserted, true}));
  const Lsn erased = committed(eraser, [&] { return t.erase(eraser, 1); });
  EXPECT_EQ(location_of_last(), (RowLocation{first.slot, updated, true}));
  // Its tombstone stands in the index still, and is what comes to life again.
  const Lsn again = committed(x, [&] { return t.insert(x, 1, 10, 100, 7); });
  EXPECT_EQ(location_of_last(), (RowLocation{first.slot, erased, false}));
  committed(x, [&] { return t.erase(x, 1); });
  EXPECT_EQ(location_of_last(), (RowLocation{first.slot, again, true}));
}

// The names of the columns that the record's only change says were changed.
std::string changed_in(const TestDatabase& t, const RecordView& record, RowChange& change) {
  ChangeReader reader(t.db.change_codec(), *changes_of(record.kind, record.payload));
  EXPECT_TRUE(reader.next(change));
  const std::optional<ColumnBits> changed = t.db.change_codec().changed_columns(change.table, change.columns);
  EXPECT_TRUE(changed.has_value());
  std::string names;
  const std::span<const ColumnId> columns = t.db.change_codec().rest_columns(change.table);
  for (size_t i = 0; changed && i < columns.size(); ++i) {
    if (changed->has(i)) names += t.db.catalog().table(change.table).column(columns[i]).name + " ";
  }
  return names;
}

TEST_F(ChangeRecordTest, TellsWhichColumnsGotAnotherValue) {
  Transaction& x = begin();
  ASSERT_EQ(t_.insert(x, 1, 10, 100, 5), AccessStatus::kOk);
  committed();

  begin();
  ASSERT_EQ(t_.set(x, 1, t_.kAmount, 6), AccessStatus::kOk);
  ASSERT_EQ(t_.set(x, 1, t_.kCode, 100), AccessStatus::kOk);  // what it was
  ASSERT_EQ(t_.set(x, 1, t_.kGroup, 11), AccessStatus::kOk);
  committed();
  RowChange change;
  EXPECT_EQ(changed_in(t_, log_.records().back(), change), "grp amount ");

  // From a value to NULL.
  begin();
  RowRef row;
  ASSERT_EQ(x.find(t_.kById, t_.id_key(1), row), AccessStatus::kOk);
  const ColumnValue no_note{t_.kNote, Value::null()};
  ASSERT_EQ(x.update(t_.kItem, row, {&no_note, 1}), AccessStatus::kOk);
  committed();
  EXPECT_EQ(changed_in(t_, log_.records().back(), change), "note ");

  // Erased and inserted again, with other columns than it had.
  begin();
  ASSERT_EQ(t_.erase(x, 1), AccessStatus::kOk);
  ASSERT_EQ(t_.insert(x, 1, 11, 101, 6), AccessStatus::kOk);
  committed();
  EXPECT_EQ(changed_in(t_, log_.records().back(), change), "code note ");
}

TEST_F(ChangeRecordTest, APatchHoldsTheKeyAndTheChangedColumnsAlone) {
  t_.db.attach_log(log_, RecordContent::kLogical, TupleImage::kChanged);
  Transaction& x = begin();
  ASSERT_EQ(t_.insert(x, 1, 10, 100, 5), AccessStatus::kOk);
  ASSERT_EQ(t_.commit(x).status, CommitStatus::kCommitted);
  begin();
  ASSERT_EQ(t_.set(x, 1, t_.kAmount, 6), AccessStatus::kOk);
  ASSERT_EQ(t_.commit(x).status, CommitStatus::kCommitted);

  RowChange change;
  EXPECT_EQ(changed_in(t_, log_.records().back(), change), "amount ");
  EXPECT_EQ(change.action, ChangeAction::kPatch);
  EXPECT_EQ(change.columns.size(), 3u) << "a byte each for the key, the bits, and the amount";
  const RowLayout& layout = t_.db.schema().layout(t_.kItem);
  std::vector<std::byte> image(layout.image_bytes());
  const auto before = t_.values(7, 8, 9, 10);
  for (uint32_t c = 0; c < before.size(); ++c) layout.set(image.data(), ColumnId{c}, before[c]);
  ASSERT_TRUE(t_.db.change_codec().decode_row(change.table, change.action, change.columns, image.data()));
  EXPECT_EQ(layout.get(image.data(), t_.kId).as_int(), 1);
  EXPECT_EQ(layout.get(image.data(), t_.kGroup).as_int(), 8) << "not the record's";
  EXPECT_EQ(layout.get(image.data(), t_.kAmount).as_int(), 6);
}

TEST_F(ChangeRecordTest, AnAdHocRecordHoldsRowsAndNoCallWhateverTheLogHolds) {
  for (const RecordContent content :
       {RecordContent::kCommand, RecordContent::kAll, RecordContent::kLogical, RecordContent::kPhysical}) {
    t_.db.attach_log(log_, content);
    begin();
    ASSERT_EQ(t_.insert(x_, static_cast<int64_t>(content), 10, 100 + static_cast<int64_t>(content), 5),
              AccessStatus::kOk);
    ASSERT_EQ(x_.commit_ad_hoc().status, CommitStatus::kCommitted);
    const RecordView record = log_.records().back();
    EXPECT_EQ(record.kind, holds_locations(content) ? RecordKind::kPhysical : RecordKind::kLogical);
    EXPECT_FALSE(call_of(record.kind, record.payload));
    EXPECT_EQ(read(*changes_of(record.kind, record.payload)),
              (std::vector<Changed>{{ChangeAction::kInsert, static_cast<int64_t>(content), 5}}));
  }
}

TEST(ChangeCodecTest, OfAnUpdateTheWantedOnesOfTheChangedColumnsAreWritten) {
  const TestDatabase t(1);
  const ChangeCodec& codec = t.db.change_codec();
  const RowLayout& layout = t.db.schema().layout(t.kItem);
  const auto image_of = [&](const std::array<Value, 5>& values) {
    std::vector<std::byte> image(layout.image_bytes());
    for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);
    return image;
  };
  auto written = t.values(1, 20, 30, 40);
  written[t.kNote.value] = Value::of_text("another");  // by somebody before
  const std::vector<std::byte> after = image_of(written);
  const std::byte bits{0b0111};  // grp, code, amount; not note
  const ColumnBits changed({&bits, 1});
  const std::byte some{0b1110};
  const ColumnBits among({&some, 1});
  for (const ChangeAction action : {ChangeAction::kUpdate, ChangeAction::kPatch}) {
    ChangeRecord record;
    record.put_count(1);
    record.put(codec, t.kItem, action, nullptr, after.data(), &changed);
    ChangeReader reader(codec, {record.payload(), false});
    RowChange change;
    ASSERT_TRUE(reader.next(change));
    std::vector<std::byte> image = image_of(t.values(9, 9, 9, 9));
    ASSERT_TRUE(codec.decode_changed(t.kItem, action, change.columns, &among, image.data()));
    EXPECT_EQ(image, image_of(t.values(9, 9, 30, 40)));
  }
}

TEST(ChangeRecord, ImagesAreWholeWhereOnlyAPartWasReadAndChanged) {
  KeptLog log;
  WideTable t(1);
  t.db.attach_log(log, RecordContent::kLogical);
  t.load(1, 12345);
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  x.begin();
  RowRef row;
  ASSERT_EQ(t.find(x, 1, t.parts(3), row), AccessStatus::kOk);
  ASSERT_EQ(t.set(x, row, 3, "changed"), AccessStatus::kOk);
  ASSERT_EQ(x.commit({}).status, CommitStatus::kCommitted);

  ChangeReader reader(t.db.change_codec(), *changes_of(RecordKind::kLogical, log.records().back().payload));
  RowChange change;
  ASSERT_TRUE(reader.next(change));
  EXPECT_EQ(change.action, ChangeAction::kUpdate);
  std::vector<std::byte> image(t.layout().image_bytes());
  ASSERT_TRUE(t.db.change_codec().decode_row(change.table, change.action, change.columns, image.data()));
  for (uint32_t text = 0; text < t.kTexts; ++text) {
    EXPECT_EQ(t.layout().get(image.data(), t.text_column(text)).as_text(),
              text == 3 ? "changed" : t.text_of(12345));
  }
}

TEST(ChangeRecord, WhatIsTooLargeIsRefusedAndUndone) {
  KeptLog log;
  WideTable t(1);
  t.db.attach_log(log, RecordContent::kLogical);
  Transaction x(t.db, t.db.worker(WorkerId{0}));
  const std::string text = t.text_of(1);
  const auto insert = [&](int64_t id) {
    std::vector<Value> values(1 + t.kTexts, Value::of_text(text));
    values[0] = Value::of_int(id);
    return x.insert(t.kWide, values);
  };
  x.begin();
  for (int64_t id = 0; id < 40; ++id) ASSERT_EQ(insert(id), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kTooLarge);
  EXPECT_TRUE(log.records().empty());

  x.begin();
  RowRef row;
  EXPECT_EQ(t.find(x, 0, ImageParts::all(), row), AccessStatus::kAbsent);
  ASSERT_EQ(insert(0), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kCommitted);
}

TEST(ChangeRecord, ARowWithoutAPrimaryKeyIsNamedByItsValuesOrItsLocationButNotByBoth) {
  const Type int_type{.kind = TypeKind::kInt};
  Catalog catalog;
  const TableId table = *catalog.add_table("notes", {{"a", int_type, false}}, {});
  const IndexId index = *catalog.add_index("notes_a", table, {ColumnId{0}}, false);
  Database db(std::move(catalog), 1);
  KeptLog log;
  db.attach_log(log, RecordContent::kAll);
  Transaction x(db, db.worker(WorkerId{0}));
  const Value one = Value::of_int(1);
  const auto find = [&](const Value& value) {
    RowRef found;
    const KeyRange range = *db.schema().codec(index).of_prefix({&value, 1});
    EXPECT_EQ(x.scan(index, range, RowAccess::Direction::kForward,
                     [&](const RowRef& row) {
                       found = row;
                       return false;
                     }),
              AccessStatus::kOk);
    return found;
  };

  x.begin();
  ASSERT_EQ(x.insert(table, {&one, 1}), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kCommitted);
  x.begin();
  RowRef row = find(one);
  ASSERT_EQ(x.erase(table, row), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kUnnamed);
  x.begin();
  EXPECT_NE(find(one).image, nullptr) << "nothing happened";
  x.abort();
  EXPECT_EQ(log.records().size(), 1u);

  // An update is the erasure of the row as it was, and an insert.
  db.attach_log(log, RecordContent::kLogical);
  x.begin();
  row = find(one);
  const ColumnValue change{ColumnId{0}, Value::of_int(5)};
  ASSERT_EQ(x.update(table, row, {&change, 1}), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kCommitted);
  ASSERT_EQ(log.records().size(), 2u);
  ChangeReader reader(db.change_codec(), *changes_of(RecordKind::kLogical, log.records().back().payload));
  std::vector<std::byte> image(db.schema().layout(table).image_bytes());
  for (const auto& [action, value] :
       {std::pair(ChangeAction::kErase, 1), std::pair(ChangeAction::kInsert, 5)}) {
    RowChange logged;
    ASSERT_TRUE(reader.next(logged));
    EXPECT_EQ(logged.action, action);
    ASSERT_TRUE(db.change_codec().decode_row(table, action, logged.columns, image.data()));
    EXPECT_EQ(db.schema().layout(table).get(image.data(), ColumnId{0}).as_int(), value);
  }
  RowChange none;
  EXPECT_FALSE(reader.next(none));
  EXPECT_FALSE(reader.bad());

  db.attach_log(log, RecordContent::kPhysical);
  x.begin();
  const Value five = Value::of_int(5);
  row = find(five);
  ASSERT_EQ(x.erase(table, row), AccessStatus::kOk);
  EXPECT_EQ(x.commit({}).status, CommitStatus::kCommitted);
}

TEST(ChangeReaderTest, NoBytesMakeItRunOver) {
  const TestDatabase t(1);
  const ChangeCodec& codec = t.db.change_codec();
  const RowLayout& layout = t.db.schema().layout(t.kItem);
  ChangeRecord record;
  record.put_call(as_bytes("a call"));
  record.put_count(4);
  std::vector<std::byte> image(layout.image_bytes());
  const auto values = t.values(7, 8, 9, 10);
  for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);
  const RowLocation location{300, Lsn{5000}, true};
  const std::byte bits{0b101};
  const ColumnBits changed({&bits, 1});
  for (const ChangeAction action : {ChangeAction::kInsert, ChangeAction::kErase})
    record.put(codec, t.kItem, action, &location, image.data());
  for (const ChangeAction action : {ChangeAction::kUpdate, ChangeAction::kPatch})
    record.put(codec, t.kItem, action, &location, image.data(), &changed);
  const ByteSpan valid = record.payload();

  std::mt19937 random(3);
  uint32_t refused = 0;
  for (uint32_t round = 0; round < 20000; ++round) {
    const size_t size = round % 3 == 0   ? random() % 40
                        : round % 3 == 1 ? valid.size()
                                         : random() % valid.size();
    const std::unique_ptr<std::byte[]> bytes(new std::byte[size]);
    for (size_t i = 0; i < size; ++i)
      bytes[i] =
          round % 3 == 0 ? static_cast<std::byte>(random() % 5 == 0 ? random() : random() % 8) : valid[i];
    if (round % 3 == 1) bytes[random() % size] ^= std::byte{1} << (random() % 8);
    const RecordKind kind = round % 3 != 0   ? RecordKind::kAll
                            : round % 2 == 0 ? RecordKind::kLogical
                                             : RecordKind::kPhysical;
    const std::optional<LoggedChanges> changes = changes_of(kind, {bytes.get(), size});
    if (!changes) {
      ++refused;
      continue;
    }
    ChangeReader reader(codec, *changes);
    RowChange change;
    bool is_row = true;
    while (reader.next(change)) {
      ASSERT_GE(change.columns.data(), bytes.get());
      ASSERT_LE(change.columns.data() + change.columns.size(), bytes.get() + size);
      const std::unique_ptr<std::byte[]> to(new std::byte[layout.image_bytes()]());
      if (change.action == ChangeAction::kUpdate || change.action == ChangeAction::kPatch)
        is_row = codec.decode_changed(change.table, change.action, change.columns, nullptr, to.get());
      is_row &= codec.decode_row(change.table, change.action, change.columns, to.get());
    }
    refused += reader.bad() || !is_row ? 1 : 0;
  }
  EXPECT_GT(refused, 5000u);
}

}  // namespace
}  // namespace mneme
