// RowLinks: the index entries of rows that are replayed from images.
//
// Invariants  the caller has the row to itself: it is the only one whose log is being applied to it, or
//             latched. Indexes are shared by all. That no other row holds a key of a unique index is not
//             checked: the transaction that logged the row has seen to it, and of two rows that had the key
//             one after the other, the second may well come first here; entries name their rows, so both can
//             stand (engine/table/indexed_table.h).
// Threads     one owner each; any number on one database.
#pragma once

#include <vector>

#include "base/result.h"
#include "engine/transaction/database.h"

namespace mneme {

// The result of installing a logged row.
enum class InstallOutcome : uint8_t {
  kInstalled,
  kNoRow,         // the bytes are no row of the table
  kMissing,       // to be updated or erased, and not there
  kExists,        // to be inserted, and there
  kOtherVersion,  // its slot does not hold the version that it follows
  kOutOfMemory,
};

class RowLinks {
 public:
  explicit RowLinks(const Database& database) : hints_(database.catalog().indexes().size()) {}

  // kExists: `existing` has the key.
  InstallOutcome link_primary(const IndexedTable& table, Row* row, Row*& existing);
  // Into all indexes but the primary key's, as a row of this image.
  InstallOutcome link_others(const IndexedTable& table, Row* row, const std::byte* image);
  // Exchanges the entries in which `image` differs from the row's own.
  InstallOutcome relink_others(const IndexedTable& table, Row* row, const std::byte* image);
  void unlink_others(const IndexedTable& table, Row* row);
  void unlink_primary(const IndexedTable& table, Row* row);

 private:
  InstallOutcome insert(const TableIndex& index, const IndexKey& key, Row* row, Row*& existing);

  std::vector<InsertHint> hints_;  // by index
};

// Why replay ends at a record.
Error no_rows_error(Lsn lsn);
Error install_error(const Catalog& catalog, TableId table, Lsn lsn, InstallOutcome outcome);

}  // namespace mneme
