// Goal: nobody follows a long text that is gone, and a text that is read is whole. Method: threads replace,
// erase and insert texts of one letter each, and read what others write; beside them one walks through the
// slots as a checkpoint does, with older images that are kept for it. ThreadSanitizer and AddressSanitizer
// watch.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/table/version_keeper.h"
#include "engine/testing/test_database.h"

namespace mneme {
namespace {

constexpr TableId kDoc{0};
constexpr IndexId kById{0};
constexpr ColumnId kId{0}, kBody{1};
constexpr int64_t kRows = 6;
constexpr uint32_t kWorkers = 3;
#ifdef NDEBUG
constexpr int kTransactions = 20'000;
#else
constexpr int kTransactions = 2'000;
#endif

Catalog doc_catalog() {
  Catalog catalog;
  CHECK(catalog
            .add_table("doc",
                       {{"id", {.kind = TypeKind::kInt}, false},
                        {"body", {.kind = TypeKind::kVarchar, .is_text = true}, false}},
                       {kId})
            .ok());
  return catalog;
}

bool is_whole(std::string_view text) {
  return text.find_first_not_of(text.empty() ? ' ' : text[0]) == std::string_view::npos;
}

class LongTextStress : public testing::Test {
 protected:
  LongTextStress() { db.attach_log(log); }

  void work(uint32_t worker, bool locks) {
    std::mt19937_64 random(worker + (locks ? 100 : 0));
    Transaction t(db, db.worker(WorkerId{worker}));
    const RowLayout& layout = db.schema().layout(kDoc);
    for (int i = 0; i < kTransactions; ++i) {
      t.begin();
      bool goes_on = true;
      std::vector<Value> seen;
      for (int op = 0; op < 3 && goes_on; ++op) {
        const Value id = Value::of_int(static_cast<int64_t>(random() % kRows));
        const std::string text(random() % 3 == 0 ? 20 : 500 + random() % 4000,
                               static_cast<char>('a' + random() % 26));
        RowRef row;
        AccessStatus status = t.find(kById, *db.schema().codec(kById).of_whole({&id, 1}), row);
        if (status == AccessStatus::kAbsent) {
          const std::array<Value, 2> values{id, Value::of_text(text)};
          status = t.insert(kDoc, values);
        } else if (status == AccessStatus::kOk) {
          const Value value = layout.get(row.image, kBody);
          whole.fetch_and(is_whole(value.as_text()), std::memory_order_relaxed);
          // One that lies in the image goes as the row is written again.
          if (value.as_text().size() > TextCell::kMostInside) seen.push_back(value);
          const ColumnValue change{kBody, Value::of_text(text)};
          if (random() % 8 == 0)
            status = t.erase(kDoc, row);
          else if (random() % 2 == 0)
            status = t.update(kDoc, row, {&change, 1});
        }
        goes_on = status == AccessStatus::kOk;
      }
      for (const Value& value : seen) whole.fetch_and(is_whole(value.as_text()), std::memory_order_relaxed);
      goes_on ? static_cast<void>(TestDatabase::commit(t)) : t.abort();
    }
    working.fetch_sub(1);
  }

  // As online_checkpointer.cc does it.
  void walk() {
    VersionKeeper& versions = db.versions();
    const Table& rows = db.table(kDoc).rows();
    const RowLayout& layout = db.schema().layout(kDoc);
    std::vector<std::byte> image(layout.image_bytes());
    const auto look_at = [&](const std::byte* seen) {
      whole.fetch_and(is_whole(layout.get(seen, kBody).as_text()), std::memory_order_relaxed);
    };
    while (working.load() > 0) {
      const uint64_t sealed = db.epochs().seal();
      while (db.epochs().oldest_running() <= sealed) std::this_thread::yield();
      versions.start();
      versions.fix(log.reserve(WorkerId{kWorkers}, 0));
      for (uint64_t slot = 0; slot < rows.slot_end(); ++slot) {
        const EpochManager::Reader reader(db.epochs(), slot);
        const RowWord word = rows.at(slot)->read(image.data(), ImageParts::all(), rows.image_words());
        if (word.is_live() && !word.is_locked()) look_at(image.data());
        versions.drain([&](const KeptVersion& kept) { look_at(kept.image); });
      }
      versions.stop();
    }
  }

  void run(bool locks) {
    std::vector<std::jthread> threads;
    for (uint32_t worker = 0; worker < kWorkers; ++worker)
      threads.emplace_back([=, this] { work(worker, locks); });
    threads.emplace_back([this] { walk(); });
    threads.clear();
    EXPECT_TRUE(whole.load());
    for (uint32_t worker = 0; worker < kWorkers; ++worker) db.worker(WorkerId{worker}).come_to_rest(log);
  }

  CountingLog log;
  Database db{doc_catalog(), kWorkers, PageSize::kSmall};
  std::atomic<int> working{kWorkers};
  std::atomic<int> whole{1};
};

TEST_F(LongTextStress, TextsAreWholeForOptimisticTransactions) {
  run(false);
}

TEST_F(LongTextStress, TextsAreWholeForTransactionsThatLock) {
  db.set_concurrency({.control = ConcurrencyControl::kTwoPhaseLocking});
  run(true);
}

}  // namespace
}  // namespace mneme
