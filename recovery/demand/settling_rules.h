// SettlingRules: which lanes must be settled before a new transaction may touch rows, while a log is still
// being replayed on demand.
//
// Reading     a row may be read when its lanes in all blocks that write rows of its table are settled:
//             nothing of the log will change it any more, nor will it come or go.
// Changing    it must be so, too, when a row is changed, comes or goes. And no piece that has yet to run may
//             see the change. In a block that writes rows of the table, pieces that read the row stand in its
//             lane as well. A block that only reads the table has no lanes for it: all of its pieces come
//             first, if they read a column that changes, or if the row comes or goes.
// Inserting   alone into a table of which the log's calls do nothing else, and that has no unique key, needs
//             nothing: no piece looks at its rows.
// Unknown     where the values of a block's lane columns are not known, all its lanes must be settled.
// Threads     constant once made.
// Source      ours. settling_tables.h makes what it is made of.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/schema/image_parts.h"
#include "engine/schema/schema.h"
#include "recovery/calls/lane_ring.h"

namespace mneme {

// Says what replay still does to a table.
struct SettlingTable {
  // A block whose pieces write rows of the table.
  struct Writer {
    uint32_t block = 0;
    LaneRing ring;
    std::span<const ColumnId> columns;  // whose values say in which lane a row lies; none: all in one
    bool only_inserts = false;          // its rows come into any lane (LaneTable::any_lane)
    // The lane columns are in each unique key: one that comes or goes is known to its rows' lane.
    bool holds_keys = false;
    ImageParts moving;  // with lane columns that are in no index: to change them moves a row to another lane
  };
  // A block whose pieces only read it.
  struct Reader {
    uint32_t block = 0;
    std::vector<ColumnId> columns;  // that its pieces read, and that are in no index
    ImageParts parts;               // with those of them that procedures change
  };
  std::vector<Writer> writers;
  std::vector<Reader> readers;
};

class SettlingRules {
 public:
  // What must be settled: a lane of a block, or all of it.
  struct Need {
    uint32_t block = 0;
    std::optional<uint32_t> lane;

    bool operator==(const Need&) const = default;
  };

  // `tables`: by table, of the schema. It and the writers' columns outlive this.
  SettlingRules(std::vector<SettlingTable> tables, const Schema& schema)
      : schema_(schema), tables_(std::move(tables)) {}

  // Whether the log's pieces write rows of the table at all.
  bool is_written(TableId table) const { return !tables_[table.value].writers.empty(); }

  // Each appends to `needs`. `columns` and `values`: what is known of the rows, from a key.
  void of_rows(TableId table, std::span<const ColumnId> columns, std::span<const Value> values,
               std::vector<Need>& needs) const;
  // A row with this image comes.
  void of_insert(TableId table, const std::byte* image, std::vector<Need>& needs) const;
  // A row that has been read changes in these parts, which hold no column of an index: in the columns
  // `changes`, or, where none are given, in columns that procedures change (AccessGate).
  void of_change(TableId table, ImageParts parts, std::span<const ColumnId> changes,
                 std::vector<Need>& needs) const;
  // A row of the table goes, or another one comes.
  void of_coming_and_going(TableId table, std::vector<Need>& needs) const;

 private:
  // The lane of rows with these values in the writer's columns.
  uint32_t lane_of(TableId table, const SettlingTable::Writer& writer, std::span<const Value> key) const {
    return writer.ring.lane_of(schema_.catalog().table(table), writer.columns, key);
  }
  // The row's values in the writer's lane columns.
  void lane_values(TableId table, const SettlingTable::Writer& writer, const std::byte* image,
                   std::vector<Value>& key) const;

  const Schema& schema_;
  const std::vector<SettlingTable> tables_;
};

}  // namespace mneme
