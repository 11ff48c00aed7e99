#include "logging/layout/durable_log.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/check.h"
#include "logging/nvm/nvm_ring_buffer.h"

namespace mneme {

namespace {

constexpr std::chrono::microseconds kOwnProcessorInterval{250};
constexpr uint32_t kOwnProcessorRests = 4;
constexpr std::chrono::microseconds kSharedProcessorInterval{2000};
// After which a ring in persistent memory is destaged, however little is in it.
constexpr std::chrono::microseconds kDestageInterval = std::chrono::hours(1);
// Between two looks for room in a log of bounded size.
constexpr std::chrono::microseconds kRoomInterval{200};

void choose_interval(GroupCommit& group, uint32_t workers) {
  const bool has_own_processor = workers < std::thread::hardware_concurrency();
  group.interval = has_own_processor ? kOwnProcessorInterval : kSharedProcessorInterval;
  group.rests = has_own_processor ? kOwnProcessorRests : 0;
}

// Workers wait for the room of destaged records only. So destaging is late, and in large pieces.
GroupCommit destaging_group(const DurableLogOptions& options, size_t ring_bytes) {
  const size_t most = ring_bytes / 4;
  return {.interval = kDestageInterval,
          .bytes = options.group.bytes == 0 ? most : std::min(options.group.bytes, most),
          .waiters_hurry = false};
}

GroupCommit chosen_group(const DurableLogOptions& options, size_t ring_bytes) {
  GroupCommit group = options.group;
  if (group.interval == kChosenInterval) choose_interval(group, options.workers);
  // A whole unit need not gather longer, and workers must not wait for space meanwhile.
  group.bytes =
      std::min(group.bytes == 0 ? options.device_options.io.unit_bytes : group.bytes, ring_bytes / 4);
  return group;
}

size_t largest_record_bytes(const DurableLogOptions& options) {
  const size_t bytes = kRecordHeaderBytes + options.largest_payload_bytes;
  return traits_of(options.device).has_flusher ? bytes : RecordLayout{kNvmLineBytes}.stream_bytes(bytes);
}

}  // namespace

size_t ring_bytes_for(const DurableLogOptions& options) {
  return std::bit_ceil(std::max(options.ring_bytes, 4 * options.appenders() * largest_record_bytes(options)));
}

Result<std::unique_ptr<DurableLog>> DurableLog::open(ManifestFile& manifest,
                                                     const DurableLogOptions& options) {
  const Manifest current = manifest.current();
  CHECK(!current.incarnations.empty());
  for (const SegmentEntry& each : current.segments)
    CHECK(each.incarnation < current.incarnations.back().number);
  return open(manifest, options, nullptr);
}

Result<std::unique_ptr<DurableLog>> DurableLog::open_stream(ManifestFile& manifest,
                                                            const DurableLogOptions& options,
                                                            const StreamPlace& place) {
  return open(manifest, options, &place);
}

Result<std::unique_ptr<DurableLog>> DurableLog::open(ManifestFile& manifest, const DurableLogOptions& options,
                                                     const StreamPlace* place) {
  CHECK(options.workers > 0);
  CHECK(options.largest_payload_bytes <= kMaxPayloadBytes);

  NvmRing* const ring = place == nullptr ? nullptr : place->ring;
  LogBufferOptions buffer;
  buffer.workers = options.appenders();
  buffer.largest_record_bytes = largest_record_bytes(options);
  buffer.ring_bytes = ring_bytes_for(options);
  if (ring != nullptr) {
    CHECK(ring->capacity() == buffer.ring_bytes);
    buffer.ring_memory = ring->view();
  }
  buffer.begin =
      place == nullptr ? one_stream_position(manifest.current().incarnations.back().begin) : kFirstPosition;
  buffer.tuning = options.tuning;

  RETURN_IF_ERROR(check_options(options.buffer, buffer));
  if (traits_of(options.buffer).hops && options.tuning.grasshopper == GrasshopperMode::kHop) {
    return invalid_argument(
        "grasshopper that only hops never makes the last records durable: choose both or crawl for a durable "
        "log");
  }

  FileDeviceOptions file;
  file.begin = buffer.begin;
  file.largest_record_bytes = buffer.largest_record_bytes;
  // A header page, and blocks enough for the largest record.
  file.segment_bytes = std::max(options.segments.bytes, 2 * buffer.largest_record_bytes + (size_t{16} << 10));
  file.segments_ahead = options.segments.ahead;
  file.segments_at_need = options.segments.at_need;
  file.reuses_segments = options.segments.reuse;
  if (place != nullptr) {
    file.logger = place->stream;
    file.numbers = place->numbers;
    file.directories = {place->directory};
    file.durable_gsn = place->durable_gsn;
  }
  if (ring != nullptr) file.destaged_from = ring->layout();
  // The last of the files must hold whatever is in the ring when room gets scarce.
  if (traits_of(options.device).is_bounded) {
    file.segment_bytes = std::max(file.segment_bytes, 2 * buffer.ring_bytes);
  }

  DeviceOptions of_device = options.device_options;
  if (ring != nullptr) of_device.latency.reset();  // the memory has it
  auto device = open_log_device(options.device, manifest, file, of_device);
  if (!device.ok()) return device.error();
  const bool notes_close = place == nullptr && traits_of(options.device).notes_close;
  DurableLogOptions chosen = options;
  chosen.group = ring == nullptr ? chosen_group(options, buffer.ring_bytes)
                                 : destaging_group(options, buffer.ring_bytes);
  return std::unique_ptr<DurableLog>(new DurableLog(notes_close ? &manifest : nullptr, std::move(*device),
                                                    buffer, chosen,
                                                    place == nullptr ? StreamPlace() : *place));
}

std::unique_ptr<LogBuffer> DurableLog::make_buffer(const LogBufferOptions& buffer,
                                                   const DurableLogOptions& options,
                                                   const StreamPlace& place) {
  if (place.ring == nullptr) return make_log_buffer(options.buffer, buffer);
  return std::make_unique<NvmRingBuffer>(buffer, *place.ring, *place.horizon, place.stores);
}

DurableLog::DurableLog(ManifestFile* manifest, OpenedDevice device, const LogBufferOptions& buffer,
                       const DurableLogOptions& options, const StreamPlace& place)
    : manifest_(manifest),
      options_(options),
      is_bounded_(traits_of(options.device).is_bounded),
      notices_(std::move(device.notices)),
      layout_(place.ring == nullptr ? RecordLayout() : place.ring->layout()),
      writers_(std::make_unique<CachePadded<RecordWriter>[]>(options.appenders())),
      device_(std::move(device.device)),
      buffer_(make_buffer(buffer, options, place)),
      flusher_(*buffer_, *device_,
               {.begin = buffer.begin,
                .group = options.group,
                .observer = place.observer,
                .keeps_until_durable = place.ring != nullptr}) {}

DurableLog::~DurableLog() {
  flusher_.finish();
  if (manifest_ != nullptr && !flusher_.has_failed()) note_closed(*manifest_, durable());
}

bool DurableLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  CHECK(payload_bytes <= options_.largest_payload_bytes);
  if (is_bounded_ && !await_room(worker)) [[unlikely]]
    return false;
  return buffer_->await_space(worker);
}

bool DurableLog::await_room(WorkerId worker) {
  // The checkpointer makes the room, so its own record must not wait for it.
  if (worker.value >= options_.workers) return true;
  while (device_->space() == LogSpace::kScarce) {
    if (flusher_.has_failed()) return false;
    std::this_thread::sleep_for(kRoomInterval);
  }
  return true;
}

Lsn DurableLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  return one_stream_lsn(buffer_->reserve(worker, writers_[worker.value]->reserve(payload_bytes)));
}

void DurableLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  const StreamPosition at = one_stream_position(lsn);
  const uint32_t bytes =
      writers_[worker.value]->fill({lsn, kind}, payload, layout_.seed_at(at),
                                   [&](ByteSpan header, ByteSpan body) { put(worker, at, header, body); });
  flusher_.record_came(at + bytes);
}

StreamPosition DurableLog::append(WorkerId worker, const RecordHead& head, ByteSpan payload) {
  const uint64_t bytes = layout_.stream_bytes(kRecordHeaderBytes + payload.size());
  const StreamPosition at = buffer_->reserve(worker, bytes);
  writers_[worker.value]->write(head, payload, layout_.seed_at(at),
                                [&](ByteSpan header, ByteSpan body) { put(worker, at, header, body); });
  return at + bytes;
}

void DurableLog::put(WorkerId worker, StreamPosition at, ByteSpan header, ByteSpan payload) {
  buffer_->write_record(worker, at, header, payload);
  buffer_->publish(worker, at, layout_.stream_bytes(header.size() + payload.size()));
}

LogCounters DurableLog::counters() const {
  LogCounters sum;
  for (uint32_t worker = 0; worker < options_.appenders(); ++worker) {
    sum.log_records += writers_[worker]->records();
    sum.log_bytes += writers_[worker]->bytes();
  }
  sum.device = device_->counters();
  sum.flusher = flusher_.counters();
  return sum;
}

}  // namespace mneme
