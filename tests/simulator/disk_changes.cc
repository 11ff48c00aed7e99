#include "tests/simulator/disk_changes.h"

namespace mneme::simulator {

void Change::put(CacheWriter& cache) const {
  for (const uint64_t number : {id, offset, size_before, size_after, uint64_t{is_doomed}}) cache.put(number);
  cache.put_text(before);
  cache.put_text(after);
}

Change Change::get(CacheReader& cache) {
  Change change{};
  change.id = cache.get();
  change.offset = cache.get();
  change.size_before = cache.get();
  change.size_after = cache.get();
  change.is_doomed = cache.get() != 0;
  change.before = cache.get_text<Bytes>();
  change.after = cache.get_text<Bytes>();
  return change;
}

void EntryChange::put(CacheWriter& cache) const {
  for (const uint64_t number : {id, static_cast<uint64_t>(kind), uint64_t{is_doomed}}) cache.put(number);
  for (const std::string& text : {path, from, kept}) cache.put_text(text);
}

EntryChange EntryChange::get(CacheReader& cache) {
  EntryChange change{};
  change.id = cache.get();
  change.kind = static_cast<EntryChange::Kind>(cache.get());
  change.is_doomed = cache.get() != 0;
  change.path = cache.get_text<std::string>();
  change.from = cache.get_text<std::string>();
  change.kept = cache.get_text<std::string>();
  return change;
}

}  // namespace mneme::simulator
