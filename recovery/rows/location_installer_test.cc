// Goal: whatever the order in which a slot's versions come, the newest stays; and a slot with another history
// is noticed. Method: the changes of one slot, which held two rows one after the other, are installed in
// every order; then single changes are given other predecessors.
#include "recovery/rows/location_installer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/testing/test_database.h"

namespace mneme {
namespace {

class LocationInstallerTest : public testing::Test {
 protected:
  static constexpr uint64_t kSlot = 70;

  // The change that the record at `lsn` makes to the slot; `id` and `amount` are the row's.
  void log(uint64_t lsn, ChangeAction action, uint64_t before, bool lived, int64_t id, int64_t amount) {
    const RowLayout& layout = shape_.db.schema().layout(shape_.kItem);
    std::vector<std::byte> image(layout.image_bytes());
    const auto values = shape_.values(id, 1, 100 + id, amount);
    for (uint32_t c = 0; c < values.size(); ++c) layout.set(image.data(), ColumnId{c}, values[c]);
    const RowLocation location{kSlot, Lsn{before}, lived};
    ChangeRecord record;
    record.put_count(1);
    const std::vector<std::byte> all(ColumnBits::bytes_for(values.size()), std::byte{0xff});
    const ColumnBits changed(all);
    record.put(shape_.db.change_codec(), shape_.kItem, action, &location, image.data(),
               action == ChangeAction::kUpdate ? &changed : nullptr);
    payloads_.emplace_back(record.payload().begin(), record.payload().end());
    lsns_.push_back(Lsn{lsn});
  }

  InstallOutcome install(TestDatabase& t, LocationInstaller& installer, size_t which) {
    ChangeReader reader(t.db.change_codec(), {payloads_[which], true});
    LocatedChange located;
    EXPECT_TRUE(reader.next(located.change));
    located.lsn = lsns_[which];
    EXPECT_TRUE(installer.restore(located));
    return installer.install(located);
  }

  static int64_t amount_in(TestDatabase& t) {
    const RowLayout& layout = t.db.schema().layout(t.kItem);
    return layout.get(t.db.table(t.kItem).rows().at(kSlot)->image(), t.kAmount).as_int();
  }

  const TestDatabase shape_{1};
  std::vector<std::vector<std::byte>> payloads_;
  std::vector<Lsn> lsns_;
};

TEST_F(LocationInstallerTest, TheNewestVersionStaysInWhateverOrderTheyCome) {
  log(64, ChangeAction::kInsert, 0, false, 1, 10);
  log(100, ChangeAction::kUpdate, 64, true, 1, 11);
  log(200, ChangeAction::kErase, 100, true, 1, 0);
  log(300, ChangeAction::kInsert, 0, false, 2, 20);  // another row in the same slot
  log(400, ChangeAction::kUpdate, 300, true, 2, 21);
  for (const size_t versions : {3u, 5u}) {
    std::vector<size_t> order(versions);
    std::iota(order.begin(), order.end(), 0);
    do {
      TestDatabase t(1);
      LocationInstaller installer(t.db, kCheckpointLsn);
      for (const size_t which : order) {
        ASSERT_EQ(install(t, installer, which), InstallOutcome::kInstalled);
      }
      const RowWord word = t.db.table(t.kItem).rows().at(kSlot)->word();
      EXPECT_EQ(word, versions == 3 ? RowWord::tombstone(Lsn{200}) : RowWord::live(Lsn{400}));
      if (versions == 5) {
        EXPECT_EQ(amount_in(t), 21);
      }
    } while (std::ranges::next_permutation(order).found);
  }
}

TEST_F(LocationInstallerTest, ASlotWithAnotherHistoryIsNoticed) {
  log(500, ChangeAction::kUpdate, 300, true, 1, 10);
  log(600, ChangeAction::kUpdate, 400, true, 1, 11);   // skips 500
  log(600, ChangeAction::kUpdate, 500, false, 1, 12);  // says that 500 erased
  log(600, ChangeAction::kUpdate, 500, true, 1, 13);
  TestDatabase t(1);
  LocationInstaller installer(t.db, kCheckpointLsn);
  ASSERT_EQ(install(t, installer, 0), InstallOutcome::kInstalled);
  EXPECT_EQ(install(t, installer, 1), InstallOutcome::kOtherVersion);
  EXPECT_EQ(install(t, installer, 2), InstallOutcome::kOtherVersion);
  EXPECT_EQ(amount_in(t), 10) << "nothing happened";
  EXPECT_EQ(install(t, installer, 3), InstallOutcome::kInstalled);
  EXPECT_EQ(amount_in(t), 13);
}

TEST_F(LocationInstallerTest, TheCheckpointMustHoldWhatTheLogSaysOfIt) {
  log(500, ChangeAction::kUpdate, 0, true, 1, 10);     // a row of the checkpoint
  log(500, ChangeAction::kUpdate, 250, true, 1, 10);   // one that changed before the checkpoint was taken
  log(500, ChangeAction::kInsert, 250, false, 1, 10);  // and one that was erased
  for (const bool is_there : {true, false}) {
    for (size_t which = 0; which < lsns_.size(); ++which) {
      TestDatabase t(1);
      if (is_there) t.db.table(t.kItem).rows().restore(kSlot)->set_word(RowWord::live(kCheckpointLsn));
      LocationInstaller installer(t.db, Lsn{256});
      const bool lived = which != 2;
      EXPECT_EQ(install(t, installer, which),
                lived == is_there ? InstallOutcome::kInstalled : InstallOutcome::kOtherVersion);
    }
  }
}

TEST_F(LocationInstallerTest, BytesThatAreNoRowLeaveTheSlotAsItWas) {
  log(500, ChangeAction::kInsert, 0, false, 1, 10);
  TestDatabase t(1);
  LocationInstaller installer(t.db, kCheckpointLsn);
  LocatedChange located;
  ChangeReader reader(t.db.change_codec(), {payloads_[0], true});
  ASSERT_TRUE(reader.next(located.change));
  located.lsn = lsns_[0];
  located.change.columns = located.change.columns.first(located.change.columns.size() - 1);
  ASSERT_TRUE(installer.restore(located));
  EXPECT_EQ(installer.install(located), InstallOutcome::kNoRow);
  EXPECT_TRUE(located.row->word().is_free());
  located.change.location.slot = ~uint64_t{0};
  EXPECT_FALSE(installer.restore(located));
}

}  // namespace
}  // namespace mneme
