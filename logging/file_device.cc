#include "logging/file_device.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "logging/block_format.h"
#include "logging/record_format.h"

namespace mneme {

namespace {

uint32_t blocks_for(uint64_t payload_bytes) {
  return static_cast<uint32_t>((payload_bytes + kBlockPayloadBytes - 1) / kBlockPayloadBytes);
}

uint32_t record_bytes_at(const LogBuffer& buffer, Lsn at) {
  std::byte header[kRecordHeaderBytes];
  buffer.read(at, header);
  return RecordHeader::decode(header).record_bytes;
}

}  // namespace

FileDevice::FileDevice(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                       const FileDeviceOptions& options)
    : options_(options),
      durable_(options.begin),
      queue_(std::move(queue)),
      supply_(manifest, {options.segment_bytes, options.direct_io}, [this] { queue_->wake(); }) {
  for (uint32_t slot = 0; slot < options.chains; ++slot) {
    buffers_.emplace_back(blocks_for(options.chain_bytes) * kBlockBytes);
    free_slots_.push_back(slot);
  }
}

Result<std::unique_ptr<FileDevice>> FileDevice::open(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                                                     const FileDeviceOptions& options) {
  CHECK(options.chain_bytes >= options.largest_record_bytes);
  CHECK(options.segment_bytes / kBlockBytes > blocks_for(options.largest_record_bytes));
  std::unique_ptr<FileDevice> device(new FileDevice(manifest, std::move(queue), options));
  RETURN_IF_ERROR(device->supply_.wait_first());
  CHECK(device->next_segment());
  return device;
}

bool FileDevice::next_segment() {
  auto next = supply_.try_take();
  if (next == nullptr) {
    if (auto error = supply_.failure()) fail(std::move(*error));
    return false;
  }
  segment_ = std::move(next);
  next_block_ = 0;
  return true;
}

Lsn FileDevice::append(const LogBuffer& buffer, Lsn begin, Lsn end) {
  if (failed_ || begin == end || free_slots_.empty()) return begin;
  const uint32_t first_record_blocks = blocks_for(record_bytes_at(buffer, begin));
  if (segment_->blocks - next_block_ < first_record_blocks && !next_segment()) {
    segment_waits_.fetch_add(1, std::memory_order_relaxed);
    return begin;
  }
  const uint32_t room = std::min(segment_->blocks - next_block_, blocks_for(options_.chain_bytes));
  const Run run = longest_run(buffer, begin, end, room);

  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  std::byte* blocks = buffers_[slot].data();
  lay_out(buffer, begin, run, blocks);
  const uint64_t offset = block_offset(next_block_);
  in_flight_.push_back({slot, run.end, segment_, offset});
  const size_t bytes = run.blocks * kBlockBytes;
  queue_->submit({slot, segment_->file.descriptor(), {blocks, bytes}, offset, !options_.omit_sync});
  next_block_ += run.blocks;
  flushes_.fetch_add(1, std::memory_order_relaxed);
  device_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return run.end;
}

FileDevice::Run FileDevice::longest_run(const LogBuffer& buffer, Lsn begin, Lsn end, uint32_t block_limit) {
  Lsn at = begin;
  while (at < end) {
    const Lsn next = at + record_bytes_at(buffer, at);
    CHECK(next > at);
    CHECK(next <= end);
    if (next.value - begin.value > uint64_t{block_limit} * kBlockPayloadBytes) break;
    at = next;
  }
  CHECK(at > begin);
  return {at, blocks_for(at.value - begin.value)};
}

void FileDevice::lay_out(const LogBuffer& buffer, Lsn begin, const Run& run, std::byte* blocks) {
  for (uint32_t i = 0; i < run.blocks; ++i) {
    std::byte* block = blocks + i * kBlockBytes;
    BlockHeader header;
    header.begin = begin + i * kBlockPayloadBytes;
    header.used_bytes =
        static_cast<uint32_t>(std::min<uint64_t>(kBlockPayloadBytes, run.end.value - header.begin.value));
    std::byte* payload = block + kBlockHeaderBytes;
    buffer.read(header.begin, {payload, header.used_bytes});
    std::memset(payload + header.used_bytes, 0, kBlockPayloadBytes - header.used_bytes);
    header.durable = durable_;
    header.incarnation = segment_->incarnation;
    header.segment = segment_->number;
    header.index = next_block_ + i;
    header.encode(block);
  }
}

Lsn FileDevice::wait(std::chrono::nanoseconds limit) {
  completions_.clear();
  queue_->wait(limit, completions_);
  for (const IoCompletion& each : completions_) finish(each);
  while (!failed_ && !in_flight_.empty() && in_flight_.front().ended) {
    durable_ = in_flight_.front().end;
    in_flight_.pop_front();
  }
  return durable_;
}

void FileDevice::finish(const IoCompletion& completion) {
  const auto chain = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const Chain& c) { return !c.ended && c.slot == completion.tag; });
  CHECK(chain != in_flight_.end());
  chain->ended = true;
  free_slots_.push_back(chain->slot);
  if (completion.failure == IoCompletion::Failure::kNone) return;
  const std::string& path = chain->segment->file.path();
  constexpr std::string_view kAdvice =
      "all that was acknowledged is durable; mend the device and run with --resume";
  switch (completion.failure) {
    case IoCompletion::Failure::kShortWrite:
      return fail(failed("a write to {} at byte {} fell short; {}", path, chain->offset, kAdvice));
    case IoCompletion::Failure::kWrite:
      return fail(failed("cannot write {} at byte {}: {}; {}", path, chain->offset,
                         reason_text(completion.error_number), kAdvice));
    default:
      return fail(failed("cannot sync {}: {}; {}", path, reason_text(completion.error_number), kAdvice));
  }
}

void FileDevice::fail(Error error) {
  failed_ = true;
  const std::lock_guard guard(mutex_);
  if (!failure_) failure_ = std::move(error);
}

DeviceCounters FileDevice::counters() const {
  return {flushes_.load(std::memory_order_relaxed), device_bytes_.load(std::memory_order_relaxed),
          segment_waits_.load(std::memory_order_relaxed)};
}

std::optional<Error> FileDevice::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace mneme
