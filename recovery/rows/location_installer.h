// LocationInstaller: puts logged rows into the slots where they lay, in any order: the newest of a slot's
// versions stays.
//
// Flow        restore() finds a change's row, and asks for its memory -> install() -> all have been
//             installed, by all threads -> build_indexes() (index_builder.h)
// Invariants  a row's word carries the LSN of the version that its slot holds; an older one is skipped (last
//             writer wins, Thomas's write rule). The slot and not the row is what has versions: one that was
//             erased and whose slot another row took is older than that row's versions, so nothing need tell
//             them apart. An erased row stays as a tombstone until the indexes are built. No index is looked
//             at. The latch is the lock bit of the row's word. Each record names the version before its own.
//             A slot that holds a version between the two, or none where the checkpoint should have one, has
//             another history than the log's: replay stops.
// Threads     one owner each; any number on one database.
// Waiting     for a latch, which is held for one change.
// Errors      bytes that are no row, slots that are none, broken chains.
// Source      PACMAN (SIGMOD 2017), section 6.2 (PLR); Zheng et al. (SiloR, OSDI'14), section 5.
#pragma once

#include "engine/schema/change_codec.h"
#include "engine/transaction/database.h"
#include "recovery/log/row_links.h"

namespace mneme {

struct LocatedChange {
  RowChange change;
  Lsn lsn;
  Row* row = nullptr;  // at the change's slot
};

class LocationInstaller {
 public:
  // `checkpoint`: the LSN of what the tables hold.
  LocationInstaller(Database& database, Lsn checkpoint) : database_(database), checkpoint_(checkpoint) {}

  // False: there is no memory for the slot, or it can be none.
  bool restore(LocatedChange& located);
  // The memory that install() will need is on its way then.
  void prefetch(const LocatedChange& located) const;
  InstallOutcome install(const LocatedChange& located);

 private:
  bool is_next(RowWord held, const RowLocation& location) const;
  bool write(const LocatedChange& located);

  Database& database_;
  const Lsn checkpoint_;
};

}  // namespace mneme
