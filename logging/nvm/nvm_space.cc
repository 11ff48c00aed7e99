#include "logging/nvm/nvm_space.h"

#include <algorithm>
#include <bit>
#include <chrono>

#include "base/check.h"
#include "logging/directory/segment_file.h"
#include "logging/record/nvm_format.h"

namespace mneme {

Result<std::unique_ptr<NvmSpace>> NvmSpace::open(ManifestFile& manifest, const NvmSpaceOptions& options) {
  CHECK(options.workers > 0);
  CHECK(options.segments_ahead > 0);
  CHECK(options.longest_record_bytes > 0);
  std::unique_ptr<NvmSpace> space(new NvmSpace(manifest, options));
  const uint64_t wanted = space->begin_.value + options.segments_ahead * space->segment_bytes_;
  space->room_.await([&] {
    return space->failed_.load(std::memory_order_acquire) ||
           space->mapped_end_->load(std::memory_order_acquire) >= wanted;
  });
  if (const auto failure = space->failure()) return *failure;
  return space;
}

NvmSpace::NvmSpace(ManifestFile& manifest, const NvmSpaceOptions& options)
    : manifest_(manifest),
      options_(options),
      begin_(one_stream_position(manifest.current().incarnations.back().begin)),
      room_bytes_(options.workers * RecordLayout{kNvmLineBytes}.stream_bytes(options.longest_record_bytes)),
      segment_bytes_(
          std::bit_ceil(std::max<uint64_t>({options.segment_bytes, 4 * room_bytes_, kBlockBytes}))),
      slot_count_(options.segments_ahead + 1 + kBehind),
      tail_(begin_.value),
      bounds_(options.workers),
      mapped_end_(begin_.value),
      slots_(std::make_unique<std::atomic<PersistentMemory*>[]>(slot_count_)),
      next_number_(manifest.current().next_segment_number()) {
  thread_ = std::thread([this] { run(); });
}

NvmSpace::~NvmSpace() {
  closing_.store(true, std::memory_order_release);
  work_.notify_all();
  thread_.join();
}

// Each worker draws at most once from the last room_bytes_ before mapped_end_: then it sees the tail there,
// and waits. No draw there is repeated, since the next segment begins at mapped_end_ itself. So the tail
// never passes it, though what is read of it here may be stale.
bool NvmSpace::has_room() const {
  return tail_->load(std::memory_order_acquire) + room_bytes_ <= mapped_end_->load(std::memory_order_acquire);
}

bool NvmSpace::await_room(WorkerId worker) {
  DCHECK(worker.value < options_.workers);
  DCHECK(bounds_.is_clear(worker.value));
  if (has_room()) return true;
  waits_.fetch_add(1, std::memory_order_relaxed);
  // The room that was seen while waiting counts: others may have drawn since, each within the room that is
  // kept for it.
  bool room = false;
  room_.await([&] {
    room = has_room();
    return room || failed_.load(std::memory_order_acquire);
  });
  return room;
}

StreamPosition NvmSpace::draw(WorkerId worker, uint64_t bytes) {
  DCHECK(bytes % kNvmLineBytes == 0);
  // A draw that is repeated keeps its bound, which is lower.
  if (bounds_.is_clear(worker.value)) {
    bounds_.publish(worker.value, tail_->load(std::memory_order_relaxed));
  }
  const StreamPosition position{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
  DCHECK(position.value + bytes <= mapped_end_->load(std::memory_order_acquire));
  if (offset_of(position) + bytes >= segment_bytes_) work_.notify_all();
  return position;
}

void NvmSpace::settle(WorkerId worker) {
  bounds_.clear(worker.value);
}

NvmSpace::Place NvmSpace::place_of(StreamPosition position) const {
  return {slot_of(position).load(std::memory_order_acquire), kSegmentHeaderBytes + offset_of(position)};
}

StreamPosition NvmSpace::settled() const {
  return StreamPosition{bounds_.lowest(tail_->load(std::memory_order_acquire))};
}

std::optional<Error> NvmSpace::failure() const {
  const std::lock_guard guard(mutex_);
  return failure_;
}

bool NvmSpace::wants_segment() const {
  const uint64_t mapped =
      mapped_end_->load(std::memory_order_relaxed) - tail_->load(std::memory_order_acquire);
  return mapped < (uint64_t{1} + options_.segments_ahead) * segment_bytes_;
}

void NvmSpace::run() {
  for (;;) {
    work_.await([this] { return closing_.load(std::memory_order_acquire) || wants_segment(); });
    if (closing_.load(std::memory_order_acquire)) return;
    unmap_settled();
    if (mapped_.size() == slot_count_) {
      // A worker has not moved since several segments ago. No event will report that it does.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      continue;
    }
    if (auto mapped = map_next(); !mapped.ok()) {
      {
        const std::lock_guard guard(mutex_);
        failure_ = mapped.error();
      }
      failed_.store(true, std::memory_order_release);
      room_.notify_all();
      return;
    }
    room_.notify_all();
  }
}

void NvmSpace::unmap_settled() {
  const StreamPosition settled_now = settled();
  while (!mapped_.empty() && mapped_.front().end <= settled_now) mapped_.pop_front();
}

Result<void> NvmSpace::map_next() {
  const StreamPosition begin{mapped_end_->load(std::memory_order_relaxed)};
  SegmentHeader header{.number = next_number_++};
  header.nvm = {begin, options_.workers, options_.longest_record_bytes};
  auto file = make_segment(manifest_, header,
                           {.segment_bytes = kSegmentHeaderBytes + segment_bytes_, .direct_io = false});
  if (!file.ok()) return file.error();
  auto memory = PersistentMemory::map(*file, options_.memory);
  if (!memory.ok()) return memory.error();
  if (!(*memory)->is_persistent()) is_persistent_.store(false, std::memory_order_relaxed);
  slot_of(begin).store(memory->get(), std::memory_order_release);
  mapped_.push_back({std::move(*file), std::move(*memory), begin + segment_bytes_});
  mapped_end_->store(begin.value + segment_bytes_, std::memory_order_release);
  return {};
}

}  // namespace mneme
