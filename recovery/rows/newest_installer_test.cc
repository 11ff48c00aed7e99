// Goal: of a row's images the newest stays, also where a newer one comes while an older one waits for the
// row's latch. Method: the changes of one row in every order, by one installer; then one that meets a row
// which another holds latched, and which is newer than both once the latch is free.
#include "recovery/rows/newest_installer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/testing/test_database.h"

namespace mneme {
namespace {

class NewestInstallerTest : public testing::Test {
 protected:
  struct Change {
    uint64_t lsn;
    ChangeAction action;
    int64_t amount;
  };

  static Row* row_of(const TestDatabase& t) {
    NodeVersion node;
    return t.db.index(t.kById).index->find(t.id_key(1).words.data(), node);
  }
  static int64_t amount_in(const TestDatabase& t, const Row* row) {
    return t.db.schema().layout(t.kItem).get(row->image(), t.kAmount).as_int();
  }

  // As the log has them: key, the bits of what has changed, and all other columns.
  static void install(TestDatabase& t, NewestInstaller& installer, const Change& change) {
    const RowLayout& layout = t.db.schema().layout(t.kItem);
    std::vector<std::byte> image(layout.image_bytes());
    const auto values = t.values(1, 10, 101, change.amount);
    for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);
    const std::vector<std::byte> all(ColumnBits::bytes_for(values.size()), std::byte{0xff});
    const ColumnBits changed(all);
    ChangeRecord record;
    record.put_count(1);
    record.put(t.db.change_codec(), t.kItem, change.action, nullptr, image.data(),
               change.action == ChangeAction::kUpdate ? &changed : nullptr);
    ChangeReader reader(t.db.change_codec(), {record.payload(), false});
    RowChange read;
    ASSERT_TRUE(reader.next(read));
    EXPECT_EQ(installer.install(t.kItem, change.action, Lsn{change.lsn}, read.columns, row_of(t)),
              InstallOutcome::kInstalled);
  }
};

TEST_F(NewestInstallerTest, TheNewestImageStaysInWhateverOrderTheyCome) {
  std::vector<Change> changes = {{64, ChangeAction::kInsert, 10},
                                 {100, ChangeAction::kErase, 0},
                                 {200, ChangeAction::kInsert, 20},
                                 {300, ChangeAction::kUpdate, 30}};
  do {
    TestDatabase t(1);
    NewestInstaller installer(t.db);
    for (const Change& change : changes) install(t, installer, change);
    installer.sweep();
    ASSERT_NE(row_of(t), nullptr);
    EXPECT_EQ(row_of(t)->word(), RowWord::live(Lsn{300}));
    EXPECT_EQ(amount_in(t, row_of(t)), 30);
  } while (std::ranges::next_permutation(changes, {}, &Change::lsn).found);
}

TEST_F(NewestInstallerTest, WhoHasWaitedForTheLatchLooksAgain) {
  for (int round = 0; round < 5; ++round) {
    TestDatabase t(1);
    NewestInstaller installer(t.db);
    install(t, installer, {64, ChangeAction::kInsert, 10});
    Row* row = row_of(t);
    row->set_word(row->word().locked());
    std::thread older([&] { install(t, installer, {100, ChangeAction::kUpdate, 20}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // it waits by now
    t.db.schema().layout(t.kItem).set(row->image(), t.kAmount, Value::of_int(30));
    row->set_word(RowWord::live(Lsn{200}));
    older.join();
    EXPECT_EQ(row->word(), RowWord::live(Lsn{200}));
    EXPECT_EQ(amount_in(t, row), 30);
  }
}

}  // namespace
}  // namespace mneme
