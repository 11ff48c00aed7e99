#include "engine/checkpoint_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/crc32c.h"
#include "base/file.h"
#include "engine/row_codec.h"

namespace mneme {
namespace {

// What a thread takes at a time.
struct SlotRange {
  TableId table;
  uint64_t begin;
  uint64_t end;
};
constexpr uint64_t kRangeSlots = 8192;

class ParallelWriter {
 public:
  ParallelWriter(const Database& database, const File& file) : database_(database), file_(file) {
    for (const TableDefinition& table : database.schema().catalog().tables()) {
      const uint64_t end = database.table(table.id).rows().slot_end();
      for (uint64_t begin = 0; begin < end; begin += kRangeSlots) {
        ranges_.push_back({table.id, begin, std::min(end, begin + kRangeSlots)});
      }
    }
  }

  Result<void> write(uint32_t threads) {
    std::vector<std::thread> others;
    for (uint32_t t = 1; t < threads; ++t) others.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : others) thread.join();
    if (error_) return *error_;
    return {};
  }

  uint64_t chunks() const { return chunks_.load(std::memory_order_relaxed); }
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  uint64_t end() const { return next_offset_.load(std::memory_order_relaxed); }

 private:
  void work() {
    ByteBuffer payload;
    for (;;) {
      const size_t next = next_range_.fetch_add(1, std::memory_order_relaxed);
      if (next >= ranges_.size()) return;
      const Result<void> written = write_range(ranges_[next], payload);
      if (written) continue;
      std::lock_guard lock(error_mutex_);
      error_ = written.error();
      // Nobody begins another range.
      next_range_.store(ranges_.size(), std::memory_order_relaxed);
      return;
    }
  }

  Result<void> write_range(const SlotRange& range, ByteBuffer& payload) {
    const IndexedTable& table = database_.table(range.table);
    const RowCodec codec(table.layout());
    uint32_t rows = 0;
    uint64_t next_slot = 0;  // behind the row before
    Result<void> result;
    const auto close_chunk = [&] {
      if (rows > 0 && result) result = write_chunk(range.table, rows, payload);
      payload.clear();
      rows = 0;
      next_slot = 0;
    };
    payload.clear();
    table.rows().for_each_live(range.begin, range.end, [&](const Row* row) {
      const uint64_t slot = table.rows().slot_of(row);
      payload.put_signed(static_cast<int64_t>(slot - next_slot));
      next_slot = slot + 1;
      codec.encode(row->image(), payload);
      ++rows;
      if (payload.size() >= kCheckpointChunkBytes) close_chunk();
    });
    close_chunk();
    return result;
  }

  Result<void> write_chunk(TableId table, uint32_t rows, const ByteBuffer& payload) {
    CheckpointChunkHeader header;
    header.table = table.value;
    header.rows = rows;
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    header.payload_checksum = crc32c(payload.span());
    header.offset =
        next_offset_.fetch_add(kCheckpointChunkHeaderBytes + payload.size(), std::memory_order_relaxed);
    std::array<std::byte, kCheckpointChunkHeaderBytes> bytes;
    header.encode(bytes.data());
    RETURN_IF_ERROR(file_.write_at(bytes, header.offset));
    RETURN_IF_ERROR(file_.write_at(payload.span(), header.offset + kCheckpointChunkHeaderBytes));
    chunks_.fetch_add(1, std::memory_order_relaxed);
    rows_.fetch_add(rows, std::memory_order_relaxed);
    return {};
  }

  const Database& database_;
  const File& file_;
  std::vector<SlotRange> ranges_;

  // Counters that all threads draw from or add to. Relaxed: each stands alone, and the sums are read after join().
  std::atomic<size_t> next_range_{0};
  std::atomic<uint64_t> next_offset_{kCheckpointHeaderBytes};
  std::atomic<uint64_t> chunks_{0};
  std::atomic<uint64_t> rows_{0};

  std::mutex error_mutex_;
  std::optional<Error> error_;  // guarded by error_mutex_ while threads run
};

Result<WrittenCheckpoint> write_file(const Database& database, const std::string& directory, std::string name,
                                     const CheckpointOptions& options) {
  auto file = File::open(directory + "/" + name, O_RDWR | O_CREAT | O_TRUNC);
  if (!file) return file.error();
  ParallelWriter writer(database, *file);
  RETURN_IF_ERROR(writer.write(options.threads));
  // The header vouches for the chunks: they must be there first.
  RETURN_IF_ERROR(file->sync_data());

  CheckpointHeader header;
  header.database_id = options.database_id;
  header.catalog_hash = options.catalog_hash;
  header.lsn = options.lsn;
  header.chunks = writer.chunks();
  header.rows = writer.rows();
  header.file_bytes = writer.end();
  std::vector<std::byte> page(kCheckpointHeaderBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(file->write_at(page, 0));
  RETURN_IF_ERROR(file->sync_data());
  RETURN_IF_ERROR(sync_directory(directory));
  return WrittenCheckpoint{std::move(name), header.file_bytes, header.rows};
}

}  // namespace

Result<WrittenCheckpoint> write_checkpoint(const Database& database, const std::string& directory,
                                           const CheckpointOptions& options) {
  std::string name = fmt::format("checkpoint-{:016x}", options.lsn.value);
  Result<WrittenCheckpoint> written = write_file(database, directory, name, options);
  if (!written) ::unlink((directory + "/" + name).c_str());
  return written;
}

}  // namespace mneme
