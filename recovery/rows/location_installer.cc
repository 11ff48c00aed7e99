#include "recovery/rows/location_installer.h"

#include <algorithm>

#include "base/spin.h"
#include "engine/transaction/prefetcher.h"

namespace mneme {

namespace {

RowWord latch(Row* row) {
  for (uint32_t tries = 0;; spin_pause(tries++)) {
    const RowWord word = row->word();
    if (!word.is_locked() && row->try_change(word, word.locked())) return word;
  }
}

}  // namespace

bool LocationInstaller::restore(LocatedChange& located) {
  located.row = database_.table(located.change.table).rows().restore(located.change.location.slot);
  return located.row != nullptr;
}

void LocationInstaller::prefetch(const LocatedChange& located) const {
  const IndexedTable& table = database_.table(located.change.table);
  const bool has_image = located.change.action != ChangeAction::kErase;
  prefetch_row(table.rows(), located.row, has_image ? table.image_parts() : ImageParts());
}

InstallOutcome LocationInstaller::install(const LocatedChange& located) {
  Row* row = located.row;
  // LSNs only rise, so what is newer already needs no latch to be passed over.
  if (located.lsn < row->word().lsn()) return InstallOutcome::kInstalled;
  const RowWord word = latch(row);
  if (located.lsn < word.lsn()) {
    row->set_word(word);
    return InstallOutcome::kInstalled;
  }
  InstallOutcome outcome = InstallOutcome::kInstalled;
  if (!is_next(word, located.change.location)) {
    outcome = InstallOutcome::kOtherVersion;
  } else if (!write(located)) {
    outcome = InstallOutcome::kNoRow;
  }
  const bool is_erased = located.change.action == ChangeAction::kErase;
  row->set_word(outcome != InstallOutcome::kInstalled ? word
                : is_erased                           ? RowWord::tombstone(located.lsn)
                                                      : RowWord::live(located.lsn));
  return outcome;
}

// Whether the version that follows `location.before` may be the next of a slot that holds this one: versions
// in between may come later, so most that can be told is what can not be. Of a slot that was free nothing
// can: what it holds is of a row before, whose erasure may come later, too.
bool LocationInstaller::is_next(RowWord held, const RowLocation& location) const {
  if (!location.lived && location.before == kCheckpointLsn) return true;
  const Lsn before = std::max(location.before, checkpoint_);
  if (held.lsn() > before) return false;
  const bool is_it = held.lsn() == before || before == checkpoint_;
  return !is_it || held.is_live() == location.lived;
}

bool LocationInstaller::write(const LocatedChange& located) {
  const RowChange& change = located.change;
  if (change.action == ChangeAction::kErase) return true;
  if (change.action == ChangeAction::kPatch) return false;  // the newest alone would not make the row
  return database_.change_codec().decode_row(change.table, change.action, change.columns,
                                             located.row->image(), ImageOwner::kRow);
}

}  // namespace mneme
