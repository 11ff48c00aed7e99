// Goal: a checkpoint holds each row as it was at the checkpoint's LSN, once, whatever transactions do
// meanwhile. Method: a table, workers and a checkpointer that are played here step by step, in orders that
// are written down, then in random ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "course/grading.h"
#include "engine/table/version_keeper.h"

namespace mneme::course {
namespace {

std::atomic<bool> no_memory = false;

Catalog make_catalog() {
  Catalog catalog;
  std::vector<Column> columns{{"balance", {.kind = TypeKind::kBigInt}, false}};
  CHECK(catalog.add_table("account", std::move(columns), {}).ok());
  return catalog;
}

// Balances in a table, the transactions that change them, and a checkpoint of them.
class Checkpoints : public testing::Test {
 protected:
  using Balance = std::optional<int64_t>;  // nothing: there is no row
  struct Open {
    Lsn lsn;
    Lsn boundary;
    Balance balance;
  };

  Checkpoints() {
    tables_.push_back(std::make_unique<IndexedTable>(schema_, TableId{0}, memory_));
    keeper_.emplace(kWorkers, tables_);
  }

  Lsn draw() { return Lsn{++drawn_}; }
  Row* row(uint64_t slot) { return tables_[0]->rows().at(slot); }
  uint64_t insert(int64_t balance) {
    const uint64_t slot = tables_[0]->rows().slot_of(tables_[0]->rows().allocate(cache_));
    commit(slot, balance);
    return slot;
  }
  // A transaction that draws its place, then installs what it has written.
  void begin(uint64_t slot, Balance balance) {
    const Lsn lsn = draw();
    open_[slot] = {lsn, keeper_->boundary(), balance};
  }
  void end(uint64_t slot) {
    const Open open = open_.at(slot);
    open_.erase(slot);
    const RowWord word = row(slot)->word();
    if (open.boundary != Lsn{} && word.is_live() && word.lsn() < open.boundary)
      keeper_->keep(WorkerId{static_cast<uint32_t>(slot % kWorkers)}, open.boundary, *tables_[0], row(slot),
                    word.lsn(), open.lsn);
    if (open.balance) std::memcpy(row(slot)->image(), &*open.balance, 8);
    row(slot)->set_word(open.balance ? RowWord::live(open.lsn) : RowWord::tombstone(open.lsn));
    history_[slot].emplace_back(open.lsn, open.balance);
  }
  void commit(uint64_t slot, Balance balance) {
    begin(slot, balance);
    end(slot);
  }

  // A checkpoint's steps.
  void start() {
    written_.clear();
    is_twice_ = false;
    keeper_->start();
  }
  void draw_boundary() { boundary_ = draw(); }
  void fix() { keeper_->fix(boundary_); }
  void begin_checkpoint() {
    start();
    draw_boundary();
    fix();
  }
  // False: the row is locked, and the walk would wait.
  bool walk(uint64_t slot) {
    if (open_.contains(slot)) return false;
    const RowWord word = row(slot)->word();
    if (!word.is_live() || boundary_ < word.lsn()) return true;
    if (keeper_->claim(TableId{0}, slot)) write(slot, row(slot)->image());
    return true;
  }
  void drain() {
    keeper_->drain([&](const KeptVersion& kept) { write(kept.slot, kept.image); });
  }
  void walk_all() {
    for (const auto& [slot, versions] : history_) CHECK(walk(slot));
    drain();
  }
  void write(uint64_t slot, const std::byte* image) {
    int64_t balance = 0;
    std::memcpy(&balance, image, 8);
    is_twice_ |= !written_.emplace(slot, balance).second;
  }
  std::string written() const {
    std::string text;
    for (const auto& [slot, balance] : written_) text += fmt::format("{}: {} ", slot, balance);
    return text + (is_twice_ ? "(a row came twice)" : "");
  }
  // What the checkpoint is to hold.
  std::string expected() const {
    std::string text;
    for (const auto& [slot, versions] : history_) {
      Balance balance;
      for (const auto& [lsn, value] : versions) {
        if (lsn < boundary_) balance = value;
      }
      if (balance) text += fmt::format("{}: {} ", slot, *balance);
    }
    return text;
  }

  static constexpr uint32_t kWorkers = 2;

  const Catalog catalog_ = make_catalog();
  const Schema schema_{catalog_};
  HugePageSource memory_{PageSize::kSmall, NumaView{}};
  std::vector<std::unique_ptr<IndexedTable>> tables_;
  std::optional<VersionKeeper> keeper_;
  SlotCache cache_;
  uint64_t drawn_ = 0;
  Lsn boundary_;
  std::map<uint64_t, Open> open_;
  std::map<uint64_t, std::vector<std::pair<Lsn, Balance>>> history_;
  std::map<uint64_t, int64_t> written_;
  bool is_twice_ = false;
};

constexpr const char* kMixed =
    "The checkpoint holds what never was at one time: money that was taken off one account and not yet put "
    "on the "
    "other. Replay goes on from there, and all sums are wrong.";
constexpr const char* kMissing =
    "A row is not in the checkpoint, and the log before it is gone: the row is lost after the next crash.";
constexpr const char* kTwice =
    "A row stands in the checkpoint twice, and two rows have one key after recovery.";
constexpr const char* kMemory = "Nothing is lost, but a checkpoint takes memory for rows that nobody needs.";
constexpr const char* kCounts =
    "Nothing is lost, but what a checkpoint reports of its costs is that of all checkpoints.";

TEST_F(Checkpoints, WhatNobodyTouchesIsWalked) {
  insert(100);
  insert(200);
  begin_checkpoint();
  walk_all();
  EXPECT_EQ(written(), expected()) << broken("Rows that no transaction touches are written by the walk.",
                                             kMissing);
}

TEST_F(Checkpoints, ARowIsKeptAsItWas) {
  const uint64_t slot = insert(100);
  insert(200);
  begin_checkpoint();
  commit(slot, 150);
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "A row that is written over is kept as it was, until the checkpoint has it: here the checkpoint must "
      "have 100, and 150 comes later.",
      kMissing);
}

TEST_F(Checkpoints, ADeletedRowIsKeptToo) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  commit(slot, std::nullopt);
  commit(slot, 900);
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "A row that is deleted is kept, though another row may take its slot later.", kMissing);
}

TEST_F(Checkpoints, ARowIsWrittenOnce) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  EXPECT_TRUE(walk(slot));
  commit(slot, 150);
  commit(slot, 160);
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "A row that the walk has written must not come from a list as well: the first to claim its slot writes "
      "it.",
      kTwice);
  EXPECT_FALSE(keeper_->claim(TableId{0}, slot)) << broken("claim() is true once for each slot.", kTwice);
}

TEST_F(Checkpoints, AKeptRowIsClaimed) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  commit(slot, 150);
  drain();
  EXPECT_FALSE(keeper_->claim(TableId{0}, slot))
      << broken("What drain() has handed out is claimed: the walk must not write that slot again.", kTwice);
}

TEST_F(Checkpoints, EachSlotHasItsOwnClaim) {
  std::vector<uint64_t> slots;
  for (int64_t i = 0; i < 200; ++i) slots.push_back(insert(i));
  begin_checkpoint();
  uint64_t claimed = 0;
  for (const uint64_t slot : slots) claimed += keeper_->claim(TableId{0}, slot) ? 1 : 0;
  EXPECT_EQ(claimed, 200u) << broken("Each slot has a claim of its own: 200 rows are claimed 200 times.",
                                     kMissing);
}

TEST_F(Checkpoints, WhatIsWrittenIsNotKept) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  EXPECT_TRUE(walk(slot));
  commit(slot, 150);
  drain();
  EXPECT_EQ(keeper_->kept_images(), 0u) << broken(
      "A worker keeps no row that is claimed already: its image would lie there for nothing.", kMemory);
}

TEST_F(Checkpoints, FromTheStartAllIsKept) {
  const uint64_t slot = insert(100);
  start();
  draw_boundary();
  // Drawn, and not yet known to workers.
  commit(slot, 150);
  fix();
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "From start() on each older row is kept. The checkpoint's place is drawn a moment later, and a "
      "transaction may "
      "come between that and fix().",
      kMissing);
}

TEST_F(Checkpoints, AVersionThatWasReplacedBeforeIsNotIt) {
  const uint64_t slot = insert(100);
  start();
  commit(slot, 150);
  draw_boundary();
  fix();
  commit(slot, 170);
  drain();
  EXPECT_EQ(written(), expected()) << broken(
      "A version that was kept is the checkpoint's only if its successor came above C. Here 100 was replaced "
      "by 150 below C, and 150 by 170 above.",
      kMixed);
}

TEST_F(Checkpoints, AVersionThatCameLaterIsNotIt) {
  start();
  draw_boundary();
  const uint64_t slot = insert(100);
  commit(slot, 150);
  fix();
  commit(slot, 170);
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "A version above C is not the checkpoint's, though it was kept, as C was not known then. Here the row "
      "was "
      "inserted above C.",
      kMixed);
}

TEST_F(Checkpoints, AWorkerMayBeLate) {
  const uint64_t slot = insert(100);
  start();
  draw_boundary();
  begin(slot, 150);  // its boundary is from before fix()
  fix();
  end(slot);
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "A worker may have asked for the boundary before fix(), and keep a row behind it.", kMissing);
}

TEST_F(Checkpoints, TheNextOneBeginsAnew) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  walk_all();
  commit(slot, 150);
  keeper_->stop();
  commit(slot, 160);
  start();
  draw_boundary();
  commit(slot, 170);  // while C isn't known, and the former claims are there yet
  fix();
  walk_all();
  EXPECT_EQ(written(), expected()) << broken(
      "The claims of the former checkpoint count for nothing in this one.", kMissing);
}

TEST_F(Checkpoints, WhatWasLeftIsForgotten) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  commit(slot, 150);
  keeper_->stop();  // the checkpoint was given up
  commit(slot, 160);
  start();
  EXPECT_EQ(keeper_->waiting_bytes(), 0u)
      << broken("A checkpoint that was given up leaves nothing to the next one.", kMemory);
  draw_boundary();
  fix();
  walk_all();
  EXPECT_EQ(written(), expected()) << broken("A checkpoint that was given up leaves nothing to the next one.",
                                             kMixed);
}

TEST_F(Checkpoints, WorkersAreToldTheBoundary) {
  EXPECT_EQ(keeper_->boundary(), Lsn{}) << broken("While no checkpoint is taken, boundary() is 0.", kMemory);
  insert(100);
  begin_checkpoint();
  EXPECT_EQ(keeper_->boundary(), boundary_) << broken("From fix() on, boundary() is C.", kMemory);
  keeper_->stop();
  EXPECT_EQ(keeper_->boundary(), Lsn{})
      << broken("After stop() boundary() is 0 again, and nothing is kept.", kMemory);
}

TEST_F(Checkpoints, TheCountersBeginAtZero) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  commit(slot, 150);
  drain();
  keeper_->stop();
  start();
  EXPECT_EQ(keeper_->kept_images(), 0u) << broken("start() sets kept_images() to 0.", kCounts);
  EXPECT_EQ(keeper_->kept_bytes(), 0u) << broken("start() sets kept_bytes() to 0.", kCounts);
  EXPECT_EQ(keeper_->peak_bytes(), 0u) << broken(
      "peak_bytes() is the most since start(), which empties the lists and then has the pool forget its "
      "peak.",
      kCounts);
}

TEST_F(Checkpoints, LostIsReported) {
  const uint64_t slot = insert(100);
  begin_checkpoint();
  no_memory = true;
  commit(slot, 150);
  no_memory = false;
  EXPECT_TRUE(keeper_->lost()) << broken(
      "If there is no memory to keep a row, lost() becomes true: the checkpoint is given up, and the "
      "transaction goes on.",
      kMissing);
  keeper_->stop();
  begin_checkpoint();
  EXPECT_FALSE(keeper_->lost()) << broken("Each checkpoint begins with nothing lost.",
                                          "One checkpoint fails, and all that follow are given up.");
}

TEST_F(Checkpoints, RandomOrdersAreRight) {
  std::mt19937 random(1);
  std::vector<uint64_t> slots;
  for (int64_t i = 0; i < 8; ++i) slots.push_back(insert(i));
  int64_t balance = 1000;
  const auto change = [&] {
    const uint64_t slot = slots[random() % slots.size()];
    if (open_.contains(slot)) return end(slot);
    begin(slot, random() % 5 == 0 ? Balance() : Balance(++balance));
  };
  for (uint32_t round = 0; round < 300; ++round) {
    const auto some = [&] {
      for (uint32_t left = random() % 6; left > 0; --left) change();
    };
    start();
    some();
    draw_boundary();
    some();
    fix();
    for (size_t next = 0; next < slots.size();) {
      some();
      if (random() % 4 == 0) drain();
      if (walk(slots[next])) ++next;
    }
    drain();
    // Those that are open were begun above C, or their rows would have kept the walk waiting.
    const std::string found = written();
    while (!open_.empty()) end(open_.begin()->first);
    ASSERT_EQ(found, expected()) << broken(
        "Whatever transactions do meanwhile, the checkpoint holds each row as it was at C, once.", kMixed);
    keeper_->stop();
    some();
    while (!open_.empty()) end(open_.begin()->first);
  }
}

}  // namespace
}  // namespace mneme::course

// These stand in for the engine's: a table has memory without huge pages, and no indexes.
namespace mneme {

HugePageSource::~HugePageSource() = default;
std::byte* HugePageSource::allocate_on(uint32_t, size_t bytes, size_t alignment) {
  return static_cast<std::byte*>(std::memset(std::aligned_alloc(alignment, bytes), 0, bytes));
}
std::byte* HugePageSource::allocate_first(uint32_t node) {
  return allocate_on(node, kHugePageBytes, kHugePageBytes);
}
void HugePageSource::outgrown(std::byte*) {}
void HugePageSource::release(std::byte* piece) {
  std::free(piece);
}
std::unique_ptr<Index> make_btree_index(uint32_t, HugePageSource&) {
  return nullptr;
}
std::unique_ptr<Index> make_hash_index(uint32_t, uint32_t, HugePageSource&) {
  return nullptr;
}

}  // namespace mneme

// KeptChunk takes its bytes here. It fails while a test has no memory.
void* operator new[](size_t bytes) {
  if (mneme::course::no_memory) throw std::bad_alloc();
  return ::operator new(bytes);
}
