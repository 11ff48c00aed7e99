// An LSN and a position in a stream are not given for one another: what mixes them up does not compile.
#include <concepts>
#include <type_traits>

#include "logging/commit/commit_horizon.h"
#include "logging/layout/durable_log.h"
#include "logging/nvm/nvm_ring.h"

namespace mneme {
namespace {

static_assert(std::is_trivially_copyable_v<StreamPosition> && sizeof(StreamPosition) == sizeof(uint64_t));
static_assert(!std::is_constructible_v<StreamPosition, Lsn> && !std::is_constructible_v<Lsn, StreamPosition>);
static_assert(!std::is_convertible_v<uint64_t, StreamPosition> &&
              !std::is_convertible_v<StreamPosition, uint64_t>);
static_assert(!std::totally_ordered_with<Lsn, StreamPosition>);

template <typename Number>
concept HeadsRecord = requires(Number lsn) {
  RecordHead{lsn, RecordKind::kCommand};
};
static_assert(HeadsRecord<Lsn> && !HeadsRecord<StreamPosition>);

template <typename At>
concept PutsIntoBuffer =
    requires(LogBuffer& buffer, At at) { buffer.write_record(WorkerId{0}, at, ByteSpan(), ByteSpan()); };
static_assert(PutsIntoBuffer<StreamPosition> && !PutsIntoBuffer<Lsn>);

template <typename At>
concept PutsIntoRing = requires(NvmRing& ring, At at) { ring.store_record(at, ByteSpan(), ByteSpan()); };
static_assert(PutsIntoRing<StreamPosition> && !PutsIntoRing<Lsn>);

template <typename Number>
concept FillsLog =
    requires(CommitLog& log, Number lsn) { log.fill(WorkerId{0}, lsn, RecordKind::kCommand, ByteSpan()); };
static_assert(FillsLog<Lsn> && !FillsLog<StreamPosition>);

template <typename At>
concept PublishesInStream =
    requires(CommitHorizon& horizon, At end) { horizon.published(WorkerId{0}, 0, end); };
static_assert(PublishesInStream<StreamPosition> && !PublishesInStream<Lsn>);

template <typename At>
concept TakesBlocks =
    requires(LogDevice& device, const LogSource& source, At at) { device.append(source, at, at); };
static_assert(TakesBlocks<StreamPosition> && !TakesBlocks<Lsn>);

}  // namespace
}  // namespace mneme
