#include "workloads/ycsb/ycsb_checks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "workloads/shared/consistency.h"

namespace mneme::ycsb {
namespace {

// One stream's inserts. A worker makes its inserts one after another, and a log that lost the later
// ones keeps the earlier ones: as many as the highest ordinal says, or one is missing.
struct Inserted {
  uint64_t records = 0;
  uint64_t highest_ordinal = 0;
};

struct Found {
  explicit Found(int64_t records) : loaded(static_cast<size_t>(records)) {}

  std::vector<bool> loaded;
  std::map<std::pair<uint32_t, uint32_t>, Inserted> inserted;  // by incarnation and worker
  int64_t records = 0;
};

// False where no record has such a key.
bool note_key(int64_t key, Found& found) {
  if (!is_key(key)) return false;
  const uint64_t record = record_of(key);
  if (is_inserted(record)) {
    const Insertion insertion = insertion_of(record);
    Inserted& of_stream = found.inserted[{insertion.incarnation, insertion.worker}];
    ++of_stream.records;
    of_stream.highest_ordinal = std::max(of_stream.highest_ordinal, insertion.ordinal);
    return true;
  }
  if (record >= found.loaded.size()) return false;
  found.loaded[record] = true;
  return true;
}

Check check_loaded(const Found& found) {
  Condition complete("population: every record of the population is there");
  for (size_t record = 0; record < found.loaded.size(); ++record) {
    complete.holds(found.loaded[record], "record {}, key {}, is not", record, key_of(record));
  }
  return complete.result();
}

Check check_inserted(const Found& found) {
  Condition gapless("inserts: what a stream inserted is there from the first to the last");
  for (const auto& [stream, inserted] : found.inserted) {
    gapless.holds(inserted.records == inserted.highest_ordinal + 1,
                  "worker {} of incarnation {}: {} records up to number {}", stream.second, stream.first,
                  inserted.records, inserted.highest_ordinal);
  }
  return gapless.result();
}

}  // namespace

std::vector<Check> check_records(const RowSource& rows, const Settings& settings,
                                 std::optional<int128> conserved) {
  Found found(settings.records);
  Condition known("keys: every record is one of the population's or one that a stream inserts");
  Condition whole("values: every field holds a whole value that was written for its record and field");
  rows.scan(id_of(Table::kUsertable), [&](std::span<const Value> row) {
    const int64_t key = row[0].as_int();
    ++found.records;
    known.holds(note_key(key, found), "key {}", key);
    for (uint32_t field = 0; field < kFields; ++field) {
      const std::string_view value = row[1 + field].as_text();
      whole.holds(value.size() == settings.field_bytes && is_value(key, field, value),
                  "key {}, field{}: '{}'", key, field, value);
    }
  });

  std::vector<Check> checks = {known.result(), check_loaded(found), check_inserted(found), whole.result()};
  if (conserved.has_value()) {
    const int64_t expected = settings.records + static_cast<int64_t>(*conserved);
    Condition count("records: there are as many as the population's and what committed calls have inserted");
    count.holds(found.records == expected, "{} are there, {} should be", found.records, expected);
    checks.push_back(count.result());
  }
  return checks;
}

}  // namespace mneme::ycsb
