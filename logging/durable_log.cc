#include "logging/durable_log.h"

#include <algorithm>
#include <bit>
#include <thread>

#include "base/check.h"

namespace mneme {

namespace {

constexpr std::chrono::microseconds kOwnProcessorInterval{250};
constexpr std::chrono::microseconds kSharedProcessorInterval{2000};

std::chrono::microseconds chosen_interval(uint32_t workers) {
  return workers < std::thread::hardware_concurrency() ? kOwnProcessorInterval : kSharedProcessorInterval;
}

GroupCommit chosen_group(const DurableLogOptions& options, size_t ring_bytes) {
  GroupCommit group = options.group;
  if (group.interval == kChosenInterval) group.interval = chosen_interval(options.workers);
  // A whole unit need not gather longer, and workers must not wait for space meanwhile.
  group.bytes = std::min(group.bytes == 0 ? options.io.unit_bytes : group.bytes, ring_bytes / 4);
  return group;
}

}  // namespace

Result<std::unique_ptr<DurableLog>> DurableLog::open(ManifestFile& manifest,
                                                     const DurableLogOptions& options) {
  CHECK(options.workers > 0);
  CHECK(options.largest_payload_bytes <= kMaxPayloadBytes);
  const Manifest current = manifest.current();
  CHECK(!current.incarnations.empty());
  const Incarnation& incarnation = current.incarnations.back();
  for (const SegmentEntry& each : current.segments) CHECK(each.incarnation < incarnation.number);

  LogBufferOptions buffer;
  buffer.workers = options.appenders();
  buffer.largest_record_bytes = kRecordHeaderBytes + options.largest_payload_bytes;
  buffer.ring_bytes =
      std::bit_ceil(std::max(options.ring_bytes, 4 * options.appenders() * buffer.largest_record_bytes));
  buffer.begin = incarnation.begin;
  buffer.tuning = options.tuning;

  RETURN_IF_ERROR(check_options(options.buffer, buffer));
  if (options.buffer == LogBufferKind::kGrasshopper && options.tuning.grasshopper == GrasshopperMode::kHop) {
    return invalid_argument(
        "grasshopper that only hops never makes the last records durable: choose both or crawl for a durable "
        "log");
  }

  FileDeviceOptions file;
  file.begin = incarnation.begin;
  file.largest_record_bytes = buffer.largest_record_bytes;
  // A header page, and blocks enough for the largest record.
  file.segment_bytes = std::max(options.segment_bytes, 2 * buffer.largest_record_bytes + (size_t{16} << 10));
  file.segments_ahead = options.segments_ahead;

  auto device = open_log_device(options.device, manifest, file,
                                {.io = options.io,
                                 .directories = options.directories,
                                 .lossy_seed = options.lossy_seed,
                                 .latency = options.device_latency.value_or(std::chrono::nanoseconds(0))});
  if (!device.ok()) return device.error();
  DurableLogOptions chosen = options;
  chosen.group = chosen_group(options, buffer.ring_bytes);
  return std::unique_ptr<DurableLog>(new DurableLog(std::move(*device), buffer, chosen));
}

DurableLog::DurableLog(OpenedDevice device, const LogBufferOptions& buffer, const DurableLogOptions& options)
    : options_(options),
      notices_(std::move(device.notices)),
      zeros_(options.largest_payload_bytes),
      states_(std::make_unique<CachePadded<WorkerState>[]>(options.appenders())),
      device_(std::move(device.device)),
      buffer_(make_log_buffer(options.buffer, buffer)),
      flusher_(*buffer_, *device_, {.begin = buffer.begin, .group = options.group}) {}

bool DurableLog::await_space(WorkerId worker, uint32_t payload_bytes) {
  CHECK(payload_bytes <= options_.largest_payload_bytes);
  return buffer_->await_space(worker);
}

Lsn DurableLog::reserve(WorkerId worker, uint32_t payload_bytes) {
  WorkerState& state = *states_[worker.value];
  DCHECK(state.reserved_bytes == 0);
  state.reserved_bytes = static_cast<uint32_t>(kRecordHeaderBytes) + payload_bytes;
  return buffer_->reserve(worker, state.reserved_bytes);
}

void DurableLog::fill(WorkerId worker, Lsn lsn, RecordKind kind, ByteSpan payload) {
  WorkerState& state = *states_[worker.value];
  const uint32_t record_bytes = std::exchange(state.reserved_bytes, 0);
  DCHECK(record_bytes >= kRecordHeaderBytes);
  if (kind == RecordKind::kSkip) payload = ByteSpan(zeros_).first(record_bytes - kRecordHeaderBytes);
  CHECK(payload.size() == record_bytes - kRecordHeaderBytes);

  std::byte header[kRecordHeaderBytes];
  RecordHeader record{0, record_bytes, kind, lsn};
  record.encode(header);
  record.checksum = record_checksum(header, payload);
  record.encode(header);
  DCHECK(record_is_well_formed(header, payload, lsn));
  buffer_->write(worker, lsn, header);
  buffer_->write(worker, lsn + kRecordHeaderBytes, payload);
  buffer_->publish(worker, lsn, record_bytes);
  flusher_.record_came(lsn + record_bytes);

  state.records.store(state.records.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  state.bytes.store(state.bytes.load(std::memory_order_relaxed) + record_bytes, std::memory_order_relaxed);
}

LogCounters DurableLog::counters() const {
  LogCounters sum;
  for (uint32_t worker = 0; worker < options_.appenders(); ++worker) {
    sum.log_records += states_[worker]->records.load(std::memory_order_relaxed);
    sum.log_bytes += states_[worker]->bytes.load(std::memory_order_relaxed);
  }
  sum.device = device_->counters();
  sum.flusher = flusher_.counters();
  return sum;
}

}  // namespace mneme
