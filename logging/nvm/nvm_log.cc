#include "logging/nvm/nvm_log.h"

#include <limits>
#include <utility>

#include "base/check.h"
#include "logging/record/nvm_format.h"

namespace mneme {

namespace {

RecordLayout layout_of(const Manifest& manifest) {
  return nvm_layout(manifest.database_id, manifest.incarnations.back().number);
}

void add(std::atomic<uint64_t>& count, uint64_t more) {
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

Result<std::unique_ptr<NvmLog>> NvmLog::open(ManifestFile& manifest, const NvmLogOptions& options) {
  CHECK(options.largest_payload_bytes <= kMaxPayloadBytes);
  const auto longest = static_cast<uint32_t>(kRecordHeaderBytes + options.largest_payload_bytes);
  auto space = NvmSpace::open(manifest, {.workers = options.workers,
                                         .longest_record_bytes = longest,
                                         .segment_bytes = options.segment_bytes,
                                         .segments_ahead = options.segments_ahead,
                                         .memory = options.memory});
  if (!space.ok()) return space.error();
  return std::unique_ptr<NvmLog>(new NvmLog(manifest, std::move(*space), options));
}

NvmLog::NvmLog(ManifestFile& manifest, std::unique_ptr<NvmSpace> space, const NvmLogOptions& options)
    : manifest_(manifest),
      options_(options),
      layout_(layout_of(manifest.current())),
      states_(std::make_unique<CachePadded<WorkerState>[]>(options.workers)),
      space_(std::move(space)) {
  if (space_->is_persistent() && !options.memory.volatile_cache) return;
  notices_.push_back(
      "the log's persistent memory is emulated by a mapped file: what is acknowledged survives the end of "
      "the "
      "process, however it dies, but not that of the machine");
}

NvmLog::~NvmLog() {
  const StreamPosition end = space_->tail();
  CHECK(space_->settled() == end);
  note_closed(manifest_, one_stream_lsn(end));
}

bool NvmLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  CHECK(payload_bytes <= options_.largest_payload_bytes);
  return space_->await_room(worker);
}

Lsn NvmLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  WorkerState& state = *states_[worker.value];
  const uint64_t bytes = layout_.stream_bytes(state.writer.reserve(payload_bytes));
  for (;;) {
    const StreamPosition begin = space_->draw(worker, bytes);
    const uint64_t left = space_->bytes_left(begin);
    if (bytes <= left) return one_stream_lsn(begin);
    for (const auto& [at, size] : {std::pair(begin, left), std::pair(begin + left, bytes - left)}) {
      encode_record({one_stream_lsn(at), RecordKind::kSkip}, skip_payload(size - kRecordHeaderBytes),
                    layout_.checksum_seed,
                    [&](ByteSpan header, ByteSpan payload) { put(state, at, header, payload); });
    }
  }
}

void NvmLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  WorkerState& state = *states_[worker.value];
  state.writer.fill({lsn, kind}, payload, layout_.checksum_seed, [&](ByteSpan header, ByteSpan body) {
    put(state, one_stream_position(lsn), header, body);
  });
  space_->settle(worker);
}

void NvmLog::put(WorkerState& state, StreamPosition begin, ByteSpan header, ByteSpan payload) {
  const NvmSpace::Place place = space_->place_of(begin);
  const uint64_t bytes = layout_.stream_bytes(header.size() + payload.size());
  size_t at = place.at;
  for_each_line(header.data(), payload, [&](const std::byte* line) {
    place.memory->store_line(at, line);
    at += kNvmLineBytes;
  });
  if (options_.hardens) place.memory->harden(place.at, bytes);
  add(state.hardened_records, 1);
  add(state.hardened_bytes, bytes);
}

Lsn NvmLog::durable() const {
  return Lsn{std::numeric_limits<uint64_t>::max()};
}

LogCounters NvmLog::counters() const {
  LogCounters sum;
  for (uint32_t worker = 0; worker < options_.workers; ++worker) {
    const WorkerState& state = *states_[worker];
    sum.log_records += state.writer.records();
    sum.log_bytes += state.writer.bytes();
    sum.device.flushes += state.hardened_records.load(std::memory_order_relaxed);
    sum.device.device_bytes += state.hardened_bytes.load(std::memory_order_relaxed);
  }
  sum.device.segment_waits = space_->waits();
  return sum;
}

}  // namespace mneme
