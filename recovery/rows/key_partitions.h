// KeyPartitions: maps a key to one of its table's partitions.
//
// Invariants  by a hash of the key; of the key of an ordered index some low bits are left out, so that
//             neighbours share a partition: the thread that installs it then goes from one entry to the next
//             in the index's leaves. A sample of the log decides for each table how many bits: as many as
//             leave some groups of neighbours to each partition.
// Threads     constant after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/transaction/database.h"
#include "logging/reading/log_reader.h"

namespace mneme {

class KeyPartitions {
 public:
  // `records`: what is to be shuffled. Those of them that hold no rows are passed over.
  KeyPartitions(const Database& database, std::span<const RecordView> records, size_t partitions);

  size_t count() const { return count_; }
  // `table` has a primary key, and this is one.
  size_t of(TableId table, const IndexKey& key) const;
  // The bits of a key's last word that count.
  uint64_t mask(TableId table) const { return masks_[table.value]; }

 private:
  void take_sample(const Database& database, std::span<const RecordView> records);

  const size_t count_;
  std::vector<uint64_t> masks_;  // by table
};

}  // namespace mneme
