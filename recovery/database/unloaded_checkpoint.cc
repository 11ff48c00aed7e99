#include "recovery/database/unloaded_checkpoint.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "base/check.h"
#include "recovery/rows/index_filler.h"

namespace mneme {

namespace {

// Where a checkpoint proves to be damaged while transactions run.
constexpr std::string_view kWhatStays =
    "no transaction is answered any more, and all that were committed stand in the log: put the file back "
    "from a copy of the directory";

using Words = std::span<const uint64_t>;

bool is_below(Words one, Words other) {
  return std::ranges::lexicographical_compare(one, other);
}

Words key_at(const std::vector<uint64_t>& keys, size_t at, size_t words) {
  return Words(keys).subspan(at * words, words);
}

}  // namespace

Result<std::unique_ptr<UnloadedCheckpoint>> UnloadedCheckpoint::open(Database& database,
                                                                     const std::string& directory,
                                                                     const Manifest& manifest) {
  Result<OpenedCheckpoint> opened = open_checkpoint(directory, manifest, database.catalog().tables().size());
  if (!opened) return opened.error();
  if (opened->header.bounds_offset == 0) return std::unique_ptr<UnloadedCheckpoint>();
  std::unique_ptr<UnloadedCheckpoint> made(new UnloadedCheckpoint(database, *std::move(opened)));
  RETURN_IF_ERROR(made->place());
  return made;
}

UnloadedCheckpoint::UnloadedCheckpoint(Database& database, OpenedCheckpoint checkpoint)
    : database_(database),
      checkpoint_(std::move(checkpoint)),
      reader_(database, checkpoint_, kWhatStays),
      place_of_(database.catalog().indexes().size()) {}

// Decodes the bounds, and makes room for the slots.
Result<void> UnloadedCheckpoint::place() {
  std::vector<size_t> words(database_.table_count(), 0);  // by table, of all of a chunk's keys
  for (uint32_t t = 0; t < database_.table_count(); ++t) {
    tables_.push_back(std::make_unique<TableChunks>());
    const std::vector<TableIndex>& indexes = database_.table(TableId{t}).indexes();
    tables_[t]->maps.resize(indexes.size());
    for (size_t i = 0; i < indexes.size(); ++i) {
      place_of_[indexes[i].id.value] = i;
      words[t] += 2 * size_t{indexes[i].codec->word_count()};
    }
  }
  ByteSpan bounds = checkpoint_.bounds;
  for (const CheckpointChunkHeader& header : checkpoint_.chunks) {
    if (bounds.size() < CheckpointChunkBounds::encoded_bytes(words[header.table])) break;
    TableChunks& table = *tables_[header.table];
    table.chunks.push_back(static_cast<uint32_t>(chunks_.size()));
    chunks_.push_back(std::make_unique<Chunk>(CheckpointChunkBounds::take_from(bounds, words[header.table])));
    table.slot_end = std::max(table.slot_end, chunks_.back()->bounds.slot_end);
  }
  if (chunks_.size() < checkpoint_.chunks.size() || !bounds.empty()) {
    return damaged("{}: its {} chunks do not have bounds of {} bytes; {}", checkpoint_.file.path(),
                   checkpoint_.chunks.size(), checkpoint_.bounds.size(), ChunkReader::kNothingChanged);
  }
  for (uint32_t t = 0; t < tables_.size(); ++t) {
    TableChunks& table = *tables_[t];
    if (table.chunks.empty()) continue;
    table.left.store(static_cast<uint32_t>(table.chunks.size()), std::memory_order_relaxed);
    const std::vector<TableIndex>& indexes = database_.table(TableId{t}).indexes();
    for (size_t i = 0, at = 0; i < indexes.size(); ++i) {
      map_keys(table, i, at, indexes[i].codec->word_count());
      at += 2 * table.maps[i].words;
    }
    Table& rows = database_.table(TableId{t}).rows();
    if (rows.restore(table.slot_end - 1) == nullptr) {
      return failed("no memory is left to load {}; nothing on disk was changed: recover with more memory",
                    checkpoint_.file.path());
    }
    rows.end_restoring({});
    table.used = std::make_unique<std::atomic<uint64_t>[]>(rows.restored_end() / 64 + 1);
  }
  return {};
}

// `at`: where the index's keys stand in a chunk's bounds.
void UnloadedCheckpoint::map_keys(TableChunks& table, size_t index, size_t at, size_t words) {
  KeyMap& map = table.maps[index];
  map.words = words;
  map.chunks = table.chunks;
  const auto lowest = [&](uint32_t chunk) { return Words(chunks_[chunk]->bounds.words).subspan(at, words); };
  std::ranges::sort(map.chunks,
                    [&](uint32_t one, uint32_t other) { return is_below(lowest(one), lowest(other)); });
  for (const uint32_t chunk : map.chunks) {
    const Words low = lowest(chunk);
    const Words high = Words(chunks_[chunk]->bounds.words).subspan(at + words, words);
    map.lowest.insert(map.lowest.end(), low.begin(), low.end());
    map.highest.insert(map.highest.end(), high.begin(), high.end());
    std::vector<uint64_t> reached(high.begin(), high.end());
    if (!map.reached.empty()) {
      const Words before = Words(map.reached).last(words);
      if (is_below(reached, before)) reached.assign(before.begin(), before.end());
    }
    map.reached.insert(map.reached.end(), reached.begin(), reached.end());
  }
}

bool UnloadedCheckpoint::load(IndexId index, const KeyRange& range) {
  const TableChunks& table = *tables_[database_.catalog().index(index).table.value];
  if (table.left.load(std::memory_order_acquire) == 0) return !has_failed();
  const KeyMap& map = table.maps[place_of_[index.value]];
  const Words low = range.low.span();
  const Words high = range.high.span();
  DCHECK(low.size() == map.words && high.size() == map.words);
  size_t begin = 0;
  size_t end = map.chunks.size();
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (is_below(high, key_at(map.lowest, middle, map.words)))
      end = middle;
    else
      begin = middle + 1;
  }
  for (size_t i = end; i-- > 0 && !is_below(key_at(map.reached, i, map.words), low);) {
    if (is_below(key_at(map.highest, i, map.words), low)) continue;
    if (!load_wanted(map.chunks[i])) return false;
  }
  return !has_failed();
}

bool UnloadedCheckpoint::load_all(TableId id) {
  const TableChunks& table = *tables_[id.value];
  if (table.left.load(std::memory_order_acquire) == 0) return !has_failed();
  return std::ranges::all_of(table.chunks, [&](uint32_t chunk) { return load_wanted(chunk); }) &&
         !has_failed();
}

bool UnloadedCheckpoint::load_wanted(uint32_t chunk) {
  const std::atomic<State>& state = chunks_[chunk]->state;
  if (state.load(std::memory_order_acquire) == State::kLoaded) return true;
  if (!load_chunk(chunk, true)) return false;
  while (state.load(std::memory_order_acquire) != State::kLoaded) {
    if (has_failed()) return false;
    std::this_thread::yield();
  }
  return true;
}

bool UnloadedCheckpoint::load_next() {
  for (;;) {
    const uint32_t next = next_.fetch_add(1, std::memory_order_relaxed);
    if (next >= chunks_.size() || has_failed()) return false;
    if (chunks_[next]->state.load(std::memory_order_relaxed) == State::kWaits) return load_chunk(next, false);
  }
}

// False: loading has failed. Another thread may be loading it.
bool UnloadedCheckpoint::load_chunk(uint32_t number, bool is_wanted) {
  if (has_failed()) return false;
  Chunk& chunk = *chunks_[number];
  State waits = State::kWaits;
  if (!chunk.state.compare_exchange_strong(waits, State::kLoads, std::memory_order_acquire)) return true;
  if (const Result<void> loaded = read(number); !loaded) {
    fail(loaded.error());
    return false;
  }
  chunk.state.store(State::kLoaded, std::memory_order_release);
  tables_[checkpoint_.chunks[number].table]->left.fetch_sub(1, std::memory_order_acq_rel);
  loaded_.fetch_add(1, std::memory_order_relaxed);
  if (is_wanted) wanted_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

Result<void> UnloadedCheckpoint::read(uint32_t number) {
  const CheckpointChunkHeader& header = checkpoint_.chunks[number];
  const IndexedTable& table = database_.table(TableId{header.table});
  std::vector<std::byte> payload;
  std::vector<Row*> rows;
  RETURN_IF_ERROR(reader_.read(header, chunks_[number]->bounds.slot_end, payload, rows));
  for (const Row* row : rows) {
    const uint64_t slot = table.rows().slot_of(row);
    tables_[header.table]->used[slot / 64].fetch_or(uint64_t{1} << slot % 64, std::memory_order_relaxed);
  }
  return add_entries(table, number, rows);
}

Result<void> UnloadedCheckpoint::add_entries(const IndexedTable& table, uint32_t number,
                                             std::span<Row* const> rows) const {
  const std::string& path = checkpoint_.file.path();
  const uint64_t offset = checkpoint_.chunks[number].offset;
  const Words bounds = chunks_[number]->bounds.words;
  size_t at = 0;
  IndexFiller filler;
  for (const TableIndex& index : table.indexes()) {
    const size_t words = index.codec->word_count();
    const Words lowest = bounds.subspan(at, words);
    const Words highest = bounds.subspan(at + words, words);
    at += 2 * words;
    for (const Row* row : rows) {
      const IndexKey key = index.codec->of_row(row->image(), table.rows().slot_of(row));
      if (is_below(key.span(), lowest) || is_below(highest, key.span())) {
        return damaged("{}: a row of the chunk at offset {} has a key beyond the chunk's bounds; {}", path,
                       offset, kWhatStays);
      }
    }
    const IndexFiller::Outcome outcome = filler.add(table, index, rows);
    switch (outcome.status) {
      case Index::InsertStatus::kInserted:
        break;
      case Index::InsertStatus::kExists:
        return damaged("{}: a row of the chunk at offset {} has a key in {} that another row has; {}", path,
                       offset, index.definition->name, kWhatStays);
      case Index::InsertStatus::kOutOfMemory:
        return failed("no memory is left to load {}; nothing on disk was changed: recover with more memory",
                      path);
    }
  }
  return {};
}

bool UnloadedCheckpoint::finish() {
  for (const std::unique_ptr<TableChunks>& table : tables_) {
    while (table->left.load(std::memory_order_acquire) > 0) {
      if (has_failed()) return false;
      std::this_thread::yield();
    }
  }
  for (uint32_t t = 0; t < tables_.size(); ++t) {
    TableChunks& table = *tables_[t];
    if (table.used == nullptr) continue;
    Table& rows = database_.table(TableId{t}).rows();
    SlotCache free;
    for (uint64_t slot = 0; slot < rows.restored_end(); ++slot) {
      const uint64_t used = table.used[slot / 64].load(std::memory_order_relaxed);
      if ((used >> slot % 64 & 1) != 0) continue;
      if (Row* row = rows.at(slot)) free.freed.push_back(row);
    }
    rows.give_back(free);
    table.used = nullptr;
  }
  return !has_failed();
}

Error UnloadedCheckpoint::error() const {
  const std::lock_guard lock(mutex_);
  return *error_;
}

void UnloadedCheckpoint::fail(Error error) {
  const std::lock_guard lock(mutex_);
  if (!error_) error_ = std::move(error);
  has_failed_.store(true, std::memory_order_release);
}

}  // namespace mneme
