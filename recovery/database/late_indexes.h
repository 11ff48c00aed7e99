// LateIndexes: indexes that replay does not read, and that are built when it has ended.
//
// Flow        leave_out(), while the tables are empty -> rows are loaded and replayed -> build()
// Why         an index costs replay a search for each row that comes or goes, mostly in memory that no cache
//             holds. Built from the rows that there are in the end, it costs what the build from the
//             checkpoint's rows would have cost.
// Invariants  between the two an index is an UnreadIndex, so reading it ends the process. The tables keep
//             their shapes meanwhile.
// Threads     one owner; no other thread uses the database during a call.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "engine/transaction/database.h"

namespace mneme {

class LateIndexes {
 public:
  explicit LateIndexes(Database& database) : database_(database) {}

  void leave_out(std::span<const IndexId> indexes);
  bool empty() const { return left_out_.empty(); }
  // Fills them with their tables' rows. Fails with kFailed if there is no memory.
  Result<void> build(uint32_t threads);

 private:
  struct LeftOut {
    IndexId id;
    std::unique_ptr<Index> index;
  };

  Database& database_;
  std::vector<LeftOut> left_out_;
};

}  // namespace mneme
