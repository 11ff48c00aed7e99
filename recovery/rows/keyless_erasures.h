// KeylessErasures: erasures of rows without a primary key, for replayers that install rows in any order.
//
// Flow        add(), as the log is read; all rows are inserted -> take_out()
// Invariants  such a row is named by all its values (change_codec.h), and each erasure follows the insert of
//             a row that equals it. So a table ends with the rows that it had and got, less as many of each
//             value as were erased, in whatever order that is done.
// Errors      an erasure that no row is left for: the log does not fit the checkpoint.
// Threads     add(): any; take_out(): one, when no other uses the database.
#pragma once

#include <algorithm>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "engine/transaction/database.h"
#include "recovery/log/row_links.h"
#include "recovery/rows/row_installer.h"

namespace mneme {

class KeylessErasures {
 public:
  explicit KeylessErasures(Database& database) : database_(database), by_table_(database.table_count()) {}

  // `columns` stay where they are until take_out().
  void add(TableId table, Lsn lsn, ByteSpan columns);
  Result<void> take_out();

 private:
  struct Erasure {
    Lsn lsn;
    ByteSpan columns;
  };

  static std::string_view text_of(ByteSpan bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  Result<void> take_out(TableId table, const std::vector<Erasure>& erasures);

  Database& database_;
  std::mutex mutex_;
  std::vector<std::vector<Erasure>> by_table_;  // guarded by mutex_
};

inline void KeylessErasures::add(TableId table, Lsn lsn, ByteSpan columns) {
  const std::lock_guard lock(mutex_);
  by_table_[table.value].push_back({lsn, columns});
}

inline Result<void> KeylessErasures::take_out() {
  for (uint32_t t = 0; t < by_table_.size(); ++t) {
    if (!by_table_[t].empty()) RETURN_IF_ERROR(take_out(TableId{t}, by_table_[t]));
  }
  return {};
}

inline Result<void> KeylessErasures::take_out(TableId id, const std::vector<Erasure>& erasures) {
  std::unordered_map<std::string_view, std::vector<Lsn>> wanted;
  for (const Erasure& erasure : erasures) wanted[text_of(erasure.columns)].push_back(erasure.lsn);

  const IndexedTable& table = database_.table(id);
  const RowCodec& codec = database_.change_codec().rest(id);
  std::vector<std::byte> columns(codec.max_bytes());
  std::vector<Row*> found;
  table.rows().for_each_live(0, table.rows().slot_end(), [&](Row* row) {
    columns.resize(std::max(columns.size(), codec.max_bytes() + codec.long_bytes(row->image())));
    const std::byte* end = codec.encode(row->image(), columns.data());
    const auto equal = wanted.find(text_of({columns.data(), static_cast<size_t>(end - columns.data())}));
    if (equal == wanted.end() || equal->second.empty()) return;
    equal->second.pop_back();
    found.push_back(row);
  });

  RowInstaller rows(database_);
  for (Row* row : found) rows.erase(id, row);
  for (const auto& [text, left] : wanted) {
    if (!left.empty()) return install_error(database_.catalog(), id, left.front(), InstallOutcome::kMissing);
  }
  return {};
}

}  // namespace mneme
