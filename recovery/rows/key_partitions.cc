#include "recovery/rows/key_partitions.h"

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>

#include "engine/schema/change_codec.h"
#include "recovery/rows/key_groups.h"

namespace mneme {

namespace {

constexpr uint64_t kPartitionSeed = 0x9e3779b97f4a7c15;
constexpr size_t kSampledRecords = 1024;
// Groups of neighbours in the sample for each partition: enough that partitions come out alike.
constexpr size_t kGroupsPerPartition = 4;

struct SampledKey {
  uint64_t leading;  // a hash of all words but the last
  uint64_t last;
  auto operator<=>(const SampledKey&) const = default;
};

uint64_t hash_of_leading(const IndexKey& key) {
  return hash_of_words(key.words.data(), key.word_count - 1, kPartitionSeed);
}

// Counts the groups of sorted keys that agree in all but the bits that are left out.
size_t groups_of(std::span<const SampledKey> keys, uint64_t mask) {
  size_t groups = keys.empty() ? 0 : 1;
  for (size_t i = 1; i < keys.size(); ++i) {
    const bool is_neighbour =
        keys[i].leading == keys[i - 1].leading && ((keys[i].last ^ keys[i - 1].last) & mask) == 0;
    groups += is_neighbour ? 0 : 1;
  }
  return groups;
}

}  // namespace

KeyPartitions::KeyPartitions(const Database& database, std::span<const RecordView> records, size_t partitions)
    : count_(partitions), masks_(database.table_count(), ~uint64_t{0}) {
  if (partitions > 1) take_sample(database, records);
}

void KeyPartitions::take_sample(const Database& database, std::span<const RecordView> records) {
  std::vector<std::vector<SampledKey>> keys(masks_.size());
  std::vector<size_t> last_seen(masks_.size(), records.size());  // by table: the record of its last key
  std::vector<std::byte> image;
  const size_t step = std::max<size_t>(1, records.size() / kSampledRecords);
  for (size_t r = 0; r < records.size(); r += step) {
    const std::optional<LoggedChanges> changes = changes_of(records[r].kind, records[r].payload);
    if (!changes) continue;
    ChangeReader reader(database.change_codec(), *changes);
    RowChange change;
    while (reader.next(change)) {
      const IndexedTable& table = database.table(change.table);
      const TableIndex* primary = table.primary();
      const bool is_ordered = primary != nullptr && database.catalog().index(primary->id).ordered;
      // A record's keys of one table are often neighbours, and say the same.
      if (!is_ordered || std::exchange(last_seen[change.table.value], r) == r) continue;
      image.resize(std::max(image.size(), table.layout().image_bytes()));
      if (!database.change_codec().decode_key(change.table, change.columns, image.data())) continue;
      const IndexKey key = primary->codec->of_row(image.data(), 0);
      keys[change.table.value].push_back({hash_of_leading(key), key.words[key.word_count - 1]});
    }
  }
  for (size_t t = 0; t < keys.size(); ++t) {
    std::ranges::sort(keys[t]);
    for (uint64_t mask = ~uint64_t{1}; mask != 0 && groups_of(keys[t], mask) >= kGroupsPerPartition * count_;
         mask <<= 1)
      masks_[t] = mask;
  }
}

size_t KeyPartitions::of(TableId table, const IndexKey& key) const {
  const uint64_t last = key.words[key.word_count - 1] & masks_[table.value];
  const uint64_t hash = hash_of_words(&last, 1, hash_of_leading(key));
  return static_cast<size_t>((hash >> 32) * count_ >> 32);
}

}  // namespace mneme
