// Goal: a record of value logging holds what was changed and no more, and no bytes whatever mislead its
// reader. Method: rows of two small tables, whose records are held against bytes made by hand; then records
// that were cut off or changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "course/grading.h"
#include "engine/schema/change_codec.h"

namespace mneme::course {
namespace {

using Bytes = std::vector<std::byte>;

constexpr TableId kAccount{0};  // id INT PRIMARY KEY, owner VARCHAR(300) NOT NULL, balance NUMERIC(12,2)
constexpr TableId kNote{1};     // line INT NOT NULL; no primary key

Catalog make_catalog() {
  const Type integer{.kind = TypeKind::kInt};
  const Type text{.kind = TypeKind::kVarchar, .length = 300};
  const Type money{.kind = TypeKind::kNumeric, .precision = 12, .scale = 2};
  Catalog catalog;
  CHECK(catalog
            .add_table("account", {{"id", integer, false}, {"owner", text, false}, {"balance", money, true}},
                       {ColumnId{0}})
            .ok());
  CHECK(catalog.add_table("note", {{"line", integer, false}}, {}).ok());
  return catalog;
}

std::string hex(ByteSpan bytes) {
  std::string text;
  for (const std::byte each : bytes) text += fmt::format("{:02x} ", static_cast<unsigned>(each));
  return text;
}

class Changes : public testing::Test {
 protected:
  Bytes account(int64_t id, std::string_view owner, int64_t cents) const {
    return image(kAccount, {Value::of_int(id), Value::of_text(owner), Value::of_numeric(cents)});
  }
  Bytes note(int64_t line) const { return image(kNote, {Value::of_int(line)}); }
  Bytes image(TableId table, const std::vector<Value>& values) const {
    const RowLayout& layout = schema_.layout(table);
    Bytes bytes(layout.image_bytes());
    for (uint32_t c = 0; c < values.size(); ++c) layout.set(bytes.data(), ColumnId{c}, values[c]);
    return bytes;
  }
  // A record of one change without a location.
  std::string record_of(TableId table, ChangeAction action, const Bytes& row,
                        const ColumnBits* changed = nullptr) const {
    ChangeRecord record;
    record.put(codec_, table, action, nullptr, row.data(), changed);
    return hex(record.payload());
  }

  const Catalog catalog_ = make_catalog();
  const Schema schema_{catalog_};
  const ChangeCodec codec_{schema_};
};

TEST_F(Changes, AnInsertedRowIsThereWhole) {
  EXPECT_EQ(record_of(kAccount, ChangeAction::kInsert, account(7, "ada", 3000)),
            "00 08 0e 03 61 64 61 00 f0 2e ")
      << broken(
             "An inserted row is there whole: table and action, the bytes of what follows, the columns of "
             "the primary key, then all others.",
             "The row can't be made again: nobody else knows it.");
}

TEST_F(Changes, TableAndActionAreOneNumber) {
  EXPECT_EQ(record_of(kNote, ChangeAction::kInsert, note(5)), "08 01 0a ")
      << broken("Table and action are one number, 8 * table + action: here table 1, and 0 for an insert.",
                "The row comes to life in another table.");
}

TEST_F(Changes, AnErasedRowIsNamedByItsKey) {
  EXPECT_EQ(record_of(kAccount, ChangeAction::kErase, account(7, "ada", 3000)), "02 01 0e ")
      << broken("Of an erased row there is the primary key, and no more: it names the row.",
                "Nothing is lost, but bytes of rows that nobody needs any more fill the log.");
  EXPECT_EQ(record_of(kNote, ChangeAction::kErase, note(5)), "0a 01 0a ") << broken(
      "Of an erased row of a table without a primary key there are all columns: nothing else names it.",
      "Recovery doesn't know which row to erase.");
}

TEST_F(Changes, AnUpdateHoldsTheRowAsItIsNow) {
  const std::byte bits{0b10};  // of owner and balance the second
  const ColumnBits changed({&bits, 1});
  EXPECT_EQ(record_of(kAccount, ChangeAction::kUpdate, account(7, "ada", 3000), &changed),
            "01 09 0e 02 03 61 64 61 00 f0 2e ")
      << broken(
             "An update holds the key, a bit for each other column, and then all other columns, changed or "
             "not: the whole row as it is now.",
             "Replay that takes the newest record of a row and passes over the older ones loses what only "
             "those held.");
}

TEST_F(Changes, APatchHoldsTheChangedColumnsAlone) {
  const std::byte bits{0b10};
  const ColumnBits changed({&bits, 1});
  EXPECT_EQ(record_of(kAccount, ChangeAction::kPatch, account(7, "ada", 3000), &changed),
            "03 05 0e 02 00 f0 2e ")
      << broken("A patch holds the key, the bits, and the changed columns alone.",
                "Nothing is lost, but the log is longer than it need be; or a column that wasn't changed is "
                "overwritten with what it was in between.");
}

TEST_F(Changes, APhysicalRecordSaysWhereTheRowLies) {
  ChangeRecord record;
  const RowLocation location{.slot = 300, .before = Lsn{100}, .lived = true};
  record.put(codec_, kNote, ChangeAction::kInsert, &location, note(5).data());
  EXPECT_EQ(hex(record.payload()), "08 ac 02 c9 01 01 0a ") << broken(
      "Between table and length there is the location, if one is given: the slot, then twice the LSN of the "
      "version before, plus 1 if that one lived. Here slot 300, LSN 100, and it lived.",
      "Recovery by place puts the row where another one lies.");
}

TEST_F(Changes, ALongRowHasALongLength) {
  const std::string owner(200, 'x');
  const std::string found = record_of(kAccount, ChangeAction::kInsert, account(7, owner, 3000));
  EXPECT_EQ(found.substr(0, 24), "00 ce 01 0e c8 01 78 78 ") << broken(
      "The length comes first, and takes two bytes from 128 on: what follows then begins a byte later. Here "
      "206 bytes follow.",
      "A length that doesn't fit is cut, or overwrites the first byte of the key; all that is behind is read "
      "wrong.");
  EXPECT_EQ(found.size(), 3 * (1 + 2 + 206u)) << broken(
      "A long row is there to its last byte.", "The row's end is cut off, and the next change with it.");
}

TEST_F(Changes, ACallAndItsRowsStandInOneRecord) {
  ChangeRecord record;
  record.put_call(as_bytes("a call"));
  record.put_count(1);
  record.put(codec_, kNote, ChangeAction::kInsert, nullptr, note(5).data());
  EXPECT_EQ(hex(record.payload()), "06 61 20 63 61 6c 6c 01 08 01 0a ")
      << broken("A call comes before the rows: its length, then its bytes.",
                "Neither the call nor the rows can be found.");
}

std::string shown(const std::optional<ByteSpan>& bytes) {
  return bytes ? "\"" + std::string(as_text(*bytes)) + "\"" : "nothing";
}
std::string shown(const std::optional<LoggedChanges>& changes) {
  if (!changes) return "nothing";
  return fmt::format("\"{}\"{}", as_text(changes->bytes), changes->has_locations ? " with locations" : "");
}

TEST_F(Changes, EachKindOfRecordHasItsParts) {
  const ByteSpan all = as_bytes(
      "\x06"
      "a callrows");
  const char* mixed = "A call is taken for rows, or rows for a call: recovery refuses a good log, or worse.";
  EXPECT_EQ(shown(call_of(RecordKind::kCommand, as_bytes("a call"))), "\"a call\"")
      << broken("A command record is a call and nothing else.", mixed);
  EXPECT_EQ(shown(changes_of(RecordKind::kCommand, as_bytes("a call"))), "nothing")
      << broken("A command record has no rows.", mixed);
  EXPECT_EQ(shown(call_of(RecordKind::kLogical, as_bytes("rows"))), "nothing")
      << broken("A record of rows has no call.", mixed);
  EXPECT_EQ(shown(changes_of(RecordKind::kLogical, as_bytes("rows"))), "\"rows\"")
      << broken("A logical record is rows without locations.", mixed);
  EXPECT_EQ(shown(changes_of(RecordKind::kPhysical, as_bytes("rows"))), "\"rows\" with locations")
      << broken("A physical record is rows with locations.", mixed);
  EXPECT_EQ(shown(call_of(RecordKind::kAll, all)), "\"a call\"")
      << broken("A record of the kind kAll begins with a call.", mixed);
  EXPECT_EQ(shown(changes_of(RecordKind::kAll, all)), "\"rows\" with locations")
      << broken("A record of the kind kAll has behind its call rows with locations.", mixed);
  EXPECT_EQ(shown(changes_of(RecordKind::kSchema, as_bytes("rows"))), "nothing")
      << broken("Records of other kinds have neither.", mixed);
  const ByteSpan cut = as_bytes(
      "\x09"
      "a call");
  EXPECT_EQ(shown(call_of(RecordKind::kAll, cut)), "nothing") << broken(
      "A call that is said to be longer than the record is none.", "The reader reads behind its end.");
  EXPECT_EQ(shown(changes_of(RecordKind::kAll, cut)), "nothing")
      << broken("Behind a call that is said to be longer than the record there are no rows.",
                "The reader reads behind its end.");
}

// What a reader finds, in words.
std::string read(const ChangeCodec& codec, const LoggedChanges& changes) {
  ChangeReader reader(codec, changes);
  RowChange change;
  std::string found;
  for (int i = 0; i < 100 && reader.next(change); ++i) {
    found += fmt::format("{}.{}", change.table.value, static_cast<int>(change.action));
    if (changes.has_locations)
      found += fmt::format("@{}<{}{}", change.location.slot, change.location.before.value,
                           change.location.lived ? "+" : "-");
    found += "=" + hex(change.columns);
  }
  return found + (reader.bad() ? "bad" : "end");
}

TEST_F(Changes, WhatIsWrittenIsRead) {
  const char* lost = "Rows that were acknowledged are not found, or others in their place.";
  for (const bool has_locations : {false, true}) {
    const RowLocation location{.slot = 300, .before = Lsn{100}, .lived = false};
    const RowLocation* where = has_locations ? &location : nullptr;
    const std::string at = has_locations ? "@300<100-" : "";
    ChangeRecord record;
    record.put_count(3);
    record.put(codec_, kAccount, ChangeAction::kInsert, where, account(7, "ada", 3000).data());
    record.put(codec_, kNote, ChangeAction::kErase, where, note(5).data());
    record.put(codec_, kAccount, ChangeAction::kErase, where, account(8, "bob", 1).data());
    EXPECT_EQ(read(codec_, {record.payload(), has_locations}),
              "0.0" + at + "=0e 03 61 64 61 00 f0 2e 1.2" + at + "=0a 0.2" + at + "=10 end")
        << broken(
               "What is written is read: each change with its table, action, location and columns, and then "
               "the end.",
               lost);
  }
  ChangeRecord none;
  none.put_count(0);
  EXPECT_EQ(read(codec_, {none.payload(), false}), "end")
      << broken("A record of no change is read as one.", "Nothing is lost, but recovery refuses a good log.");
}

TEST_F(Changes, WhatIsCutOffIsBad) {
  ChangeRecord record;
  record.put_count(2);
  record.put(codec_, kAccount, ChangeAction::kInsert, nullptr, account(7, "ada", 3000).data());
  record.put(codec_, kNote, ChangeAction::kInsert, nullptr, note(5).data());
  for (size_t size = 0; size < record.payload().size(); ++size) {
    const Bytes cut(record.payload().begin(), record.payload().begin() + static_cast<ptrdiff_t>(size));
    EXPECT_TRUE(read(codec_, {cut, false}).ends_with("bad"))
        << broken(fmt::format("A record that ends early is bad: here {} of {} bytes are left.", size,
                              record.payload().size()),
                  "The last rows of a transaction are missing, and nobody says so: half a transfer.");
  }
}

TEST_F(Changes, WhatNoWriterMakesIsBad) {
  ChangeRecord record;
  record.put_count(1);
  record.put(codec_, kNote, ChangeAction::kInsert, nullptr, note(5).data());
  const Bytes good(record.payload().begin(), record.payload().end());
  ASSERT_EQ(hex(good), "01 08 01 0a ")
      << broken("The record of one note is as the format says.", "No reader finds the rows.");
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_TRUE(read(codec_, {longer, false}).ends_with("bad")) << broken(
      "Bytes behind the last change are bad.",
      "A record whose count has changed passes for a shorter one: some of its rows are dropped without "
      "a word.");
  Bytes table = good;
  table[1] = std::byte{16};
  EXPECT_EQ(read(codec_, {table, false}), "bad")
      << broken("A table that the schema doesn't have is bad. Here it is table 2 of two, which begin at 0.",
                "Recovery reaches behind the end of its list of tables.");
  Bytes action = good;
  action[1] = std::byte{12};
  EXPECT_EQ(read(codec_, {action, false}), "bad")
      << broken("An action that there is none of is bad. Here it is 4, and the last is 3.",
                "A row is inserted or erased by a number that means nothing.");
  Bytes length = good;
  length[2] = std::byte{100};
  EXPECT_EQ(read(codec_, {length, false}), "bad") << broken(
      "A length that reaches behind the record's end is bad.", "The reader reads what isn't its own.");
}

}  // namespace
}  // namespace mneme::course
