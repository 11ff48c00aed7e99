#include "logging/device/file_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "logging/record/block_format.h"
#include "logging/record/record_format.h"
#include "logging/record/stream_record.h"

namespace mneme {

namespace {

uint32_t blocks_for(uint64_t payload_bytes) {
  return static_cast<uint32_t>((payload_bytes + kBlockPayloadBytes - 1) / kBlockPayloadBytes);
}

uint32_t blocks_in(size_t unit_bytes) {
  return static_cast<uint32_t>(unit_bytes / kBlockBytes);
}

RecordHeader record_at(const LogSource& source, StreamPosition at) {
  std::byte header[kRecordHeaderBytes];
  source.read(at, header);
  return RecordHeader::decode(header);
}

// Whatever is added to `durable` lies past `highest`.
uint32_t clock_ahead(Lsn highest, Lsn durable) {
  if (highest < durable) return 0;
  return static_cast<uint32_t>(std::min<uint64_t>(highest.value + 1 - durable.value, kUnknownProgress));
}

}  // namespace

FileDevice::FileDevice(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                       const FileDeviceOptions& options)
    : options_(options),
      buffer_blocks_(std::max(blocks_in(options.unit_bytes), blocks_for(options.largest_record_bytes))),
      stripes_(options.directories.size()),
      order_(options.begin, options.chains),
      buffers_(size_t{options.chains} * buffer_blocks_ * kBlockBytes),
      chains_(options.chains),
      queue_(std::move(queue)),
      numbers_(options.numbers != nullptr ? options.numbers
                                          : std::make_shared<SegmentNumbers>(manifest.current())) {
  if (const auto registered = queue_->register_memory(buffers_.span()); !registered.ok()) {
    notices_.push_back(
        fmt::format("{}: each write maps its buffer anew, which is slower", registered.error().message));
  }
  for (const std::string& directory : options.directories) {
    const SegmentSupplyOptions supply{
        {directory, options.segment_bytes / kBlockBytes * kBlockBytes, options.direct_io, options.logger,
         options.destaged_from.has_value()},
        options.make_segment,
        options.segments_ahead,
        options.segments_at_need,
        options.reuses_segments && !options.make_segment && !options.destaged_from};
    supplies_.push_back(
        std::make_unique<SegmentSupply>(manifest, supply, *numbers_, [this] { queue_->wake(); }));
  }
}

Result<std::unique_ptr<FileDevice>> FileDevice::open(ManifestFile& manifest, std::unique_ptr<IoQueue> queue,
                                                     const FileDeviceOptions& options) {
  CHECK(options.segment_bytes / kBlockBytes > blocks_for(options.largest_record_bytes));
  CHECK(!options.directories.empty());
  std::unique_ptr<FileDevice> device(new FileDevice(manifest, std::move(queue), options));
  for (const auto& supply : device->supplies_) RETURN_IF_ERROR(supply->wait_until_ready());
  for (size_t stripe = 0; stripe < device->stripes_.size(); ++stripe) CHECK(device->next_segment(stripe));
  return device;
}

bool FileDevice::next_segment(size_t stripe) {
  auto next = supplies_[stripe]->try_take();
  if (next == nullptr) {
    if (auto error = supplies_[stripe]->failure()) fail(std::move(*error));
    return false;
  }
  next->queue_file = queue_->attach(next->handle);
  drop(std::exchange(stripes_[stripe].segment, std::move(next)));
  stripes_[stripe].next_block = 0;
  return true;
}

// The last holder of the segment, a chain or a stripe, takes it from the queue.
// NOLINTNEXTLINE(performance-unnecessary-value-param): it takes the caller's share
void FileDevice::drop(std::shared_ptr<Segment> segment) {
  if (segment != nullptr && segment.use_count() == 1) queue_->detach(segment->queue_file);
}

// The stripe whose turn it is, or the next one that has room, if its next segment is late.
FileDevice::Stripe* FileDevice::stripe_with_room(uint32_t blocks) {
  for (size_t tried = 0; tried < stripes_.size() && !order_.has_failed(); ++tried) {
    const size_t index = next_stripe_;
    next_stripe_ = (next_stripe_ + 1) % stripes_.size();
    if (stripes_[index].room() >= blocks || next_segment(index)) return &stripes_[index];
  }
  return nullptr;
}

StreamPosition FileDevice::append(const LogSource& source, StreamPosition begin, StreamPosition end) {
  if (begin == end || !order_.has_room()) return begin;
  const uint32_t first_record_blocks = blocks_for(record_at(source, begin).record_bytes);
  Stripe* stripe = stripe_with_room(first_record_blocks);
  if (stripe == nullptr) {
    segment_waits_.fetch_add(1, std::memory_order_relaxed);
    return begin;
  }
  const uint32_t unit_blocks = std::max(first_record_blocks, blocks_in(options_.unit_bytes));
  const Run run = longest_run(source, begin, end, std::min(stripe->room(), unit_blocks));

  const uint32_t slot = order_.send(run.end);
  std::byte* blocks = buffers_.data() + size_t{slot} * buffer_blocks_ * kBlockBytes;
  lay_out(source, begin, run, *stripe, blocks);
  const uint64_t offset = block_offset(stripe->next_block);
  chains_[slot] = {stripe->segment, offset};
  const size_t bytes = run.blocks * kBlockBytes;
  queue_->submit({slot, stripe->segment->queue_file, {blocks, bytes}, offset, options_.durability});
  stripe->next_block += run.blocks;
  highest_ = std::max(highest_, run.highest);
  flushes_.fetch_add(1, std::memory_order_relaxed);
  device_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return run.end;
}

FileDevice::Run FileDevice::longest_run(const LogSource& source, StreamPosition begin, StreamPosition end,
                                        uint32_t block_limit) {
  const RecordLayout layout = options_.destaged_from.value_or(RecordLayout());
  StreamPosition at = begin;
  Lsn highest;
  while (at < end) {
    const RecordHeader record = record_at(source, at);
    const StreamPosition next = at + layout.stream_bytes(record.record_bytes);
    CHECK(next > at);
    CHECK(next <= end);
    if (next.value - begin.value > uint64_t{block_limit} * kBlockPayloadBytes) break;
    at = next;
    highest = std::max(highest, record.lsn);
  }
  CHECK(at > begin);
  return {at, blocks_for(at.value - begin.value), highest};
}

void FileDevice::lay_out(const LogSource& source, StreamPosition begin, const Run& run, const Stripe& stripe,
                         std::byte* blocks) {
  Lsn durable;
  uint32_t progress = source.persisted_epochs();
  if (!options_.durable_gsn) {
    durable = one_stream_lsn(order_.durable());
  } else {
    durable = options_.durable_gsn();
    progress = clock_ahead(highest_, durable);
  }
  for (uint32_t i = 0; i < run.blocks; ++i) {
    std::byte* block = blocks + i * kBlockBytes;
    BlockHeader header;
    header.begin = begin + i * kBlockPayloadBytes;
    header.used_bytes =
        static_cast<uint32_t>(std::min<uint64_t>(kBlockPayloadBytes, run.end.value - header.begin.value));
    std::byte* payload = block + kBlockHeaderBytes;
    source.read(header.begin, {payload, header.used_bytes});
    std::memset(payload + header.used_bytes, 0, kBlockPayloadBytes - header.used_bytes);
    header.durable = durable;
    header.incarnation = stripe.segment->incarnation;
    header.segment = stripe.segment->number;
    header.index = stripe.next_block + i;
    header.progress = progress;
    header.encode(block);
  }
}

StreamPosition FileDevice::wait(std::chrono::nanoseconds limit) {
  completions_.clear();
  queue_->wait(limit, completions_);
  if (auto error = order_.has_failed() ? std::nullopt : queue_->failure()) fail(std::move(*error));
  for (const IoCompletion& each : completions_) finish(each);
  return order_.durable();
}

void FileDevice::finish(const IoCompletion& completion) {
  const auto slot = static_cast<uint32_t>(completion.tag);
  Chain& chain = chains_[slot];
  const std::string& path = chain.segment->path;
  const bool is_written = completion.failure == IoCompletion::Failure::kNone;
  // Records in a file that cannot be opened again are lost: better reported before they are acknowledged.
  const bool is_removed = is_written && chain.segment->file.is_removed();
  order_.ended(slot, is_written && !is_removed);
  if (is_removed) {
    return fail(
        failed("{} was removed while the engine worked: what was acknowledged since the last checkpoint is "
               "gone with it, and nothing "
               "more is acknowledged; put the data directory back from a copy, or load it anew",
               path));
  }
  if (is_written) return drop(std::move(chain.segment));
  if (auto error = queue_->failure()) return fail(std::move(*error));
  constexpr std::string_view kAdvice =
      "all that was acknowledged is durable; mend the device and run with --resume";
  switch (completion.failure) {
    case IoCompletion::Failure::kShortWrite:
      return fail(failed("a write to {} at byte {} fell short; {}", path, chain.offset, kAdvice));
    case IoCompletion::Failure::kWrite:
      return fail(failed("cannot write {} at byte {}: {}; {}", path, chain.offset,
                         reason_text(completion.error_number), kAdvice));
    default:
      return fail(failed("cannot sync {}: {}; {}", path, reason_text(completion.error_number), kAdvice));
  }
}

void FileDevice::fail(Error error) {
  order_.fail();
  const std::lock_guard guard(mutex_);
  if (!failure_) failure_ = std::move(error);
}

DeviceCounters FileDevice::counters() const {
  uint64_t reused = 0;
  for (const auto& supply : supplies_) reused += supply->reused();
  return {flushes_.load(std::memory_order_relaxed), device_bytes_.load(std::memory_order_relaxed),
          segment_waits_.load(std::memory_order_relaxed), reused};
}

std::optional<Error> FileDevice::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

}  // namespace mneme
