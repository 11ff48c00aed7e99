#include "logging/directory/volatile_tail.h"

#include <fcntl.h>

#include <array>
#include <optional>
#include <ranges>

#include "base/bytes.h"
#include "base/file/file.h"
#include "logging/record/block_format.h"

namespace mneme {

namespace {

constexpr size_t kDurableAt = 24;
constexpr size_t kProgressAt = 44;

// The fields that all blocks of one flush of a stream share.
struct Flush {
  uint64_t durable = 0;
  uint32_t progress = 0;

  bool operator==(const Flush&) const = default;
  // Whether all flushes before lie below `lsn` (block_format.h).
  bool follows_all_below(Lsn lsn) const {
    return progress != kUnknownProgress && durable + progress <= lsn.value;
  }
};

bool is_of_blocks(const LogContents::Segment& segment) {
  return segment.blocks.front().offset % kBlockBytes == kBlockHeaderBytes;
}

}  // namespace

Result<void> make_tail_durable(const std::string& path, const LogContents& log,
                               const LogContents::Segment& segment) {
  auto file = File::open_own(path, O_RDWR);
  if (!file.ok()) return file.error();
  // Persistent memory has no cache of the kernel's before it.
  if (!is_of_blocks(segment)) return file->sync_data();
  std::array<std::byte, kBlockBytes> bytes;
  std::optional<Flush> last;
  for (const LogContents::Block& block : std::views::reverse(segment.blocks)) {
    if (!log.streams && one_stream_lsn(block.end()) <= log.durable_seen) break;
    const uint64_t at = block.offset - kBlockHeaderBytes;
    auto count = file->read_at(bytes, at);
    if (!count.ok()) return count.error();
    if (log.streams) {
      const Flush flush{load<uint64_t>(bytes.data() + kDurableAt),
                        load<uint32_t>(bytes.data() + kProgressAt)};
      if (last && *last != flush) break;
      if (flush.follows_all_below(log.durable_seen)) last = flush;
    }
    RETURN_IF_ERROR(file->write_at(ByteSpan(bytes).first(*count), at));
  }
  return file->sync_data();
}

}  // namespace mneme
