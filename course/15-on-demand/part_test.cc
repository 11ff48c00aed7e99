// Goal: what a transaction waits for is enough, and no more than is needed. Method: tables with blocks that
// write and read them, as an analysis would find them; questions; and a replay of random pieces, of which
// only those are run that the answers name.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/check.h"
#include "course/grading.h"
#include "recovery/demand/settling_rules.h"

namespace mneme::course {
namespace {

using Needs = std::vector<SettlingRules::Need>;

constexpr TableId kAccount{0};
constexpr TableId kHistory{1};
constexpr ColumnId kBranch{0};
constexpr ColumnId kNumber{1};
constexpr ColumnId kBalance{2};
constexpr ColumnId kLimit{3};
constexpr uint32_t kLanes = 64;

Catalog make_catalog() {
  const std::vector<Column> columns{{"branch", {.kind = TypeKind::kInt}, false},
                                    {"number", {.kind = TypeKind::kInt}, false},
                                    {"balance", {.kind = TypeKind::kInt}, false},
                                    {"credit_limit", {.kind = TypeKind::kInt}, false}};
  Catalog catalog;
  CHECK(catalog.add_table("account", columns, {kBranch, kNumber}).ok());
  CHECK(catalog.add_table("history", columns, {}).ok());
  return catalog;
}

class Rules : public testing::Test {
 protected:
  SettlingTable::Writer writer(uint32_t block, std::span<const ColumnId> columns) const {
    return {.block = block, .ring = ring_, .columns = columns, .holds_keys = true};
  }
  void make(std::vector<SettlingTable::Writer> writers, std::vector<SettlingTable::Reader> readers = {},
            std::vector<SettlingTable::Writer> of_history = {}) {
    std::vector<SettlingTable> tables(2);
    tables[0] = {std::move(writers), std::move(readers)};
    tables[1] = {std::move(of_history), {}};
    rules_.emplace(std::move(tables), schema_);
  }

  uint32_t lane(std::span<const ColumnId> columns, const std::vector<Value>& key) const {
    return ring_.lane_of(catalog_.table(kAccount), columns, key);
  }
  uint32_t lane(int64_t branch, int64_t number) const {
    return lane(kBoth, {Value::of_int(branch), Value::of_int(number)});
  }
  std::vector<std::byte> image(int64_t branch, int64_t number) const {
    const RowLayout& layout = schema_.layout(kAccount);
    std::vector<std::byte> bytes(layout.image_bytes());
    const std::vector<int64_t> values{branch, number, 0, 0};
    for (uint32_t c = 0; c < values.size(); ++c)
      layout.set(bytes.data(), ColumnId{c}, Value::of_int(values[c]));
    return bytes;
  }
  ImageParts parts(ColumnId column) const { return schema_.layout(kAccount).parts(column); }

  std::string of_rows(const std::vector<ColumnId>& columns, const std::vector<int64_t>& values,
                      TableId table = kAccount) const {
    std::vector<Value> known;
    for (const int64_t value : values) known.push_back(Value::of_int(value));
    Needs needs;
    rules_->of_rows(table, columns, known, needs);
    return shown(needs);
  }
  std::string of_insert(int64_t branch, int64_t number, TableId table = kAccount) const {
    Needs needs;
    rules_->of_insert(table, image(branch, number).data(), needs);
    return shown(needs);
  }
  std::string of_change(const std::vector<ColumnId>& changes,
                        const std::vector<ColumnId>& in_parts_of) const {
    ImageParts changed;
    for (const ColumnId column : in_parts_of) changed |= parts(column);
    Needs needs;
    rules_->of_change(kAccount, changed, changes, needs);
    return shown(needs);
  }
  static std::string shown(const Needs& needs) {
    std::set<std::pair<uint32_t, std::optional<uint32_t>>> each;
    for (const SettlingRules::Need& need : needs) each.emplace(need.block, need.lane);
    std::string text;
    for (const auto& [block, lane] : each)
      text += (text.empty() ? "" : ", ") +
              (lane ? lane_text(*lane, block) : fmt::format("all of block {}", block));
    return text.empty() ? "nothing" : text;
  }
  static std::string lane_text(uint32_t lane, uint32_t block) {
    return fmt::format("lane {} of block {}", lane, block);
  }

  static constexpr ColumnId kBoth[] = {kBranch, kNumber};
  static constexpr ColumnId kOnlyBranch[] = {kBranch};
  static constexpr ColumnId kOnlyLimit[] = {kLimit};

  const Catalog catalog_ = make_catalog();
  const Schema schema_{catalog_};
  const LaneRing ring_{kLanes};
  std::optional<SettlingRules> rules_;
};

constexpr const char* kOld =
    "A client reads a balance from before the crash's last payments, of which it was told. They are gone for "
    "a second, and then they are there again.";
constexpr const char* kSlow =
    "Nothing is lost, but a transaction waits for pieces that have nothing to do with it: the first ones "
    "take as "
    "long as if all had been replayed.";
constexpr const char* kFuture =
    "A call of the log reads what a transaction wrote after it. Before the crash it read something else, so "
    "it writes now what never was.";

TEST_F(Rules, ARowWaitsForItsLane) {
  make({writer(3, kBoth)});
  EXPECT_EQ(of_rows({kBranch, kNumber}, {2, 7}), lane_text(lane(2, 7), 3)) << broken(
      "A row is read once its lane is settled, in the block that writes its table: what else the block has "
      "to do "
      "doesn't matter.",
      kOld);
}

TEST_F(Rules, InEachBlockThatWrites) {
  make({writer(3, kBoth), writer(5, kOnlyBranch)});
  EXPECT_EQ(of_rows({kBranch, kNumber}, {2, 7}),
            lane_text(lane(2, 7), 3) + ", " + lane_text(lane(kOnlyBranch, {Value::of_int(2)}), 5))
      << broken(
             "A row's lane must be settled in each block that writes its table, and each has its own "
             "columns.",
             kOld);
}

TEST_F(Rules, WhatNobodyWritesWaitsForNothing) {
  make({});
  EXPECT_EQ(of_rows({kBranch, kNumber}, {2, 7}), "nothing")
      << broken("Rows of a table that the log doesn't write are read at once.", kSlow);
}

TEST_F(Rules, TheKeyMayComeInAnyOrder) {
  make({writer(3, kBoth)});
  EXPECT_EQ(of_rows({kNumber, kBalance, kBranch}, {7, 100, 2}), lane_text(lane(2, 7), 3)) << broken(
      "`columns` and `values` come in any order, and may be more than the lane's columns: a value stands at "
      "the place of its column.",
      kOld);
}

TEST_F(Rules, WithoutTheWholeKeyAllLanes) {
  make({writer(3, kBoth)});
  EXPECT_EQ(of_rows({kBranch}, {2}), "all of block 3") << broken(
      "Where one of the lane's columns is not known, the row may lie in any lane: all of them must be "
      "settled.",
      kOld);
  EXPECT_EQ(of_rows({}, {}), "all of block 3")
      << broken("A scan knows no columns: all lanes must be settled.", kOld);
}

TEST_F(Rules, RowsThatComeIntoAnyLane) {
  SettlingTable::Writer inserts = writer(4, {});
  inserts.only_inserts = true;
  inserts.holds_keys = false;
  make({}, {}, {inserts});
  EXPECT_EQ(of_rows({kBranch, kNumber}, {2, 7}, kHistory), "all of block 4") << broken(
      "Where pieces put rows into any lane (only_inserts), no key says where one lies: to read, all lanes "
      "must be "
      "settled.",
      kOld);
  EXPECT_EQ(of_insert(2, 7, kHistory), "nothing") << broken(
      "To insert beside pieces that only insert as well, and look at nothing, needs nothing.", kSlow);
}

TEST_F(Rules, AnInsertWaitsForItsLane) {
  make({writer(3, kBoth)});
  EXPECT_EQ(of_insert(2, 7), lane_text(lane(2, 7), 3)) << broken(
      "A new row has a lane by its own values. Pieces there may have a row of its key yet to come, or to go.",
      "A row is inserted, and then replay inserts another one with the same key.");
}

TEST_F(Rules, OrForAllWhereKeysLieElsewhere) {
  SettlingTable::Writer other = writer(3, kOnlyBranch);
  other.holds_keys = false;
  make({other});
  EXPECT_EQ(of_insert(2, 7), "all of block 3") << broken(
      "Where the lane's columns are not in each unique key (holds_keys is false), a row with the same key "
      "may "
      "lie in another lane: all must be settled.",
      "A row is inserted, and then replay inserts another one with the same key.");
}

TEST_F(Rules, WhatComesOrGoesWaitsForReaders) {
  make({writer(3, kBoth)}, {{.block = 6, .columns = {kLimit}, .parts = {}}});
  EXPECT_EQ(of_insert(2, 7), lane_text(lane(2, 7), 3) + ", all of block 6") << broken(
      "A block that only reads the table has no lanes for it. Before a row comes or goes, all of its pieces "
      "must "
      "have run: none of them may see it.",
      kFuture);
  Needs needs;
  rules_->of_coming_and_going(kAccount, needs);
  EXPECT_EQ(shown(needs), "all of block 6")
      << broken("of_coming_and_going() names each block that only reads the table.", kFuture);
  EXPECT_EQ(of_rows({kBranch, kNumber}, {2, 7}), lane_text(lane(2, 7), 3))
      << broken("To read, a transaction waits for no piece that only reads as well.", kSlow);
}

TEST_F(Rules, AChangeWaitsForReadersOfTheColumn) {
  make({}, {{.block = 6, .columns = {kLimit}, .parts = parts(kLimit)}});
  EXPECT_EQ(of_change({kLimit}, {kLimit}), "all of block 6")
      << broken("Before a column changes, all pieces of each reader of this column must have run.", kFuture);
  EXPECT_EQ(of_change({kBalance}, {kBalance}), "nothing") << broken(
      "A reader that doesn't read the column need not run, even if it reads one that lies beside it: where "
      "`changes` is given, the columns decide, not the parts.",
      kSlow);
}

TEST_F(Rules, WhereTheColumnsAreNotKnownThePartsDecide) {
  make({}, {{.block = 6, .columns = {kLimit}, .parts = parts(kLimit)},
            {.block = 7, .columns = {kLimit}, .parts = {}}});
  EXPECT_EQ(of_change({}, {kLimit}), "all of block 6") << broken(
      "Where `changes` is empty, the parts of the image decide: a reader must run first if its `parts` and "
      "the changed parts have something in common, and no other reader must.",
      kFuture);
}

TEST_F(Rules, AMoveWaitsForAllLanes) {
  SettlingTable::Writer by_limit = writer(3, kOnlyLimit);
  by_limit.holds_keys = false;
  by_limit.moving = parts(kLimit);
  make({by_limit});
  EXPECT_EQ(of_change({kLimit}, {kLimit}), "all of block 3") << broken(
      "A change of a lane's column moves the row to another lane (`moving` has the column's part): all lanes "
      "must be settled.",
      kFuture);
  by_limit.moving = {};
  make({by_limit});
  EXPECT_EQ(of_change({kLimit}, {kLimit}), "nothing") << broken(
      "Where no lane's column changes, the row stays in its lane, which is settled already.", kSlow);
}

TEST_F(Rules, NeedsAreAdded) {
  make({writer(3, kBoth)});
  Needs needs{{9, 1}};
  rules_->of_rows(kAccount, {}, {}, needs);
  EXPECT_EQ(shown(needs), "all of block 3, lane 1 of block 9")
      << broken("Each call appends to `needs`: what stands there belongs to another row.", kOld);
}

// A log of additions to balances, in two blocks with other lanes. Only the needed lanes are run.
TEST_F(Rules, WhatWasAskedForIsAsAtTheEnd) {
  make({writer(0, kBoth), writer(1, kOnlyBranch)});
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    struct Piece {
      int64_t branch, number, amount;
    };
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Piece>> lanes;
    std::map<std::pair<int64_t, int64_t>, int64_t> at_the_end;
    for (int i = 0; i < 50; ++i) {
      const Piece piece{static_cast<int64_t>(random() % 5), static_cast<int64_t>(random() % 5),
                        static_cast<int64_t>(random() % 100)};
      const uint32_t block = random() % 2;
      const uint32_t in =
          block == 0 ? lane(piece.branch, piece.number) : lane(kOnlyBranch, {Value::of_int(piece.branch)});
      lanes[{block, in}].push_back(piece);
      at_the_end[{piece.branch, piece.number}] += piece.amount;
    }
    const int64_t branch = random() % 5;
    const int64_t number = random() % 5;
    const std::vector<Value> key{Value::of_int(number), Value::of_int(branch)};
    Needs needs;
    rules_->of_rows(kAccount, std::vector<ColumnId>{kNumber, kBranch}, key, needs);
    int64_t balance = 0;
    for (const auto& [at, pieces] : lanes) {
      const bool is_needed = std::ranges::any_of(needs, [&](const SettlingRules::Need& need) {
        return need.block == at.first && (!need.lane || *need.lane == at.second);
      });
      for (const Piece& piece : pieces) {
        if (is_needed && piece.branch == branch && piece.number == number) balance += piece.amount;
      }
    }
    ASSERT_EQ(balance, (at_the_end[{branch, number}]))
        << broken("Once the needed lanes are settled, a row is as it will be when all is.", kOld);
  }
}

}  // namespace
}  // namespace mneme::course
