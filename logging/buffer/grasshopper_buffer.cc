#include "logging/buffer/grasshopper_buffer.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace mneme {

namespace {

constexpr uint64_t kEledaHopBytes = uint64_t{4} << 20;  // section 6.1

uint64_t hop_bytes(const LogBufferOptions& options) {
  const uint64_t chosen = options.tuning.hop_bytes;
  return chosen > 0 ? chosen : std::min<uint64_t>(kEledaHopBytes, options.ring_bytes / 4);
}

}  // namespace

GrasshopperBuffer::GrasshopperBuffer(const LogBufferOptions& options)
    : LogBuffer(options),
      mode_(options.tuning.grasshopper),
      hop_shift_(static_cast<uint32_t>(std::countr_zero(hop_bytes(options)))),
      index_size_((options.ring_bytes >> hop_shift_) + 2),
      tail_(options.begin.value),
      hopping_index_(std::make_unique<CachePadded<Atomic<uint64_t>>[]>(index_size_)),
      sbl_(options.begin),
      full_(index_size_, uint64_t{1} << hop_shift_),
      in_heap_(options.workers) {
  CHECK(std::has_single_bit(hop_bytes(options)));
  // Else a ring full of records might hold no full range, and hopping alone would never free it.
  CHECK(hop_bytes(options) <= options.ring_bytes / 4);
  // Bytes before the first record count as written.
  const uint64_t first_range = options.begin.value >> hop_shift_;
  hopping_index_[first_range % index_size_]->store(options.begin.value - (first_range << hop_shift_),
                                                   std::memory_order_relaxed);
  for (uint32_t worker = 0; worker < workers_; ++worker) {
    lists_.push_back(std::make_unique<GrasshopperList>(options.begin, hop_shift_));
  }
  lsn_heap_.reserve(workers_);
}

StreamPosition GrasshopperBuffer::reserve(WorkerId, size_t bytes) {
  return StreamPosition{tail_->fetch_add(bytes, std::memory_order_acq_rel)};
}

void GrasshopperBuffer::publish(WorkerId worker, StreamPosition position, size_t bytes,
                                const CommitCallback& callback) {
  GrasshopperList& list = *lists_[worker.value];
  // Whatever the flusher has released is below the SBL; a record without a callback needs no more.
  list.collect_silent(released());
  list.append({position, position + bytes, callback});
  count(position, bytes);
}

// Step 3 of enqueuing.
void GrasshopperBuffer::count(StreamPosition position, uint64_t bytes) {
  const uint64_t end = position.value + bytes;
  for (uint64_t at = position.value; at < end;) {
    const uint64_t range = at >> hop_shift_;
    const uint64_t upto = std::min(end, (range + 1) << hop_shift_);
    hopping_index_[range % index_size_]->fetch_add(upto - at, std::memory_order_release);
    at = upto;
  }
}

bool GrasshopperBuffer::is_full(uint64_t range) const {
  return hopping_index_[range % index_size_]->load(std::memory_order_acquire) == full_[range % index_size_];
}

StreamPosition GrasshopperBuffer::contiguous_prefix() {
  // No further than the tail stands now: what is published meanwhile is the next call's.
  const StreamPosition limit = reserved();
  bool moves = true;
  while (moves && sbl_ < limit) {
    moves = mode_ != GrasshopperMode::kCrawl && hop();
    if (mode_ != GrasshopperMode::kHop) moves |= crawl();
  }
  return sbl_;
}

void GrasshopperBuffer::advance(StreamPosition sbl) {
  DCHECK(sbl > sbl_);
  const uint64_t range = sbl.value >> hop_shift_;
  for (uint64_t passed = sbl_.value >> hop_shift_; passed < range; ++passed) {
    full_[passed % index_size_] += uint64_t{1} << hop_shift_;
  }
  sbl_ = sbl;
}

// SBL-Hopping() of Algorithm 1.
bool GrasshopperBuffer::hop() {
  const uint64_t first = sbl_.value >> hop_shift_;
  const uint64_t last = reserved().value >> hop_shift_;
  uint64_t range = first;
  while (range < last && is_full(range)) ++range;
  if (range == first) return false;
  StreamPosition sbl{range << hop_shift_};
  for (const auto& list : lists_) sbl = std::max(sbl, list->hop_to(range));
  hopped_bytes_ += sbl.value - sbl_.value;
  advance(sbl);
  lsn_heap_.clear();
  std::ranges::fill(in_heap_, 0);
  return true;
}

// SBL-Crawling() of Algorithm 1.
bool GrasshopperBuffer::crawl() {
  const StreamPosition before = sbl_;
  push_heads();
  while (!lsn_heap_.empty() && lsn_heap_.front().begin == sbl_ &&
         (mode_ == GrasshopperMode::kCrawl || !is_full(sbl_.value >> hop_shift_))) {
    const uint32_t top = lsn_heap_.front().list;
    std::ranges::pop_heap(lsn_heap_, std::greater(), &Pending::begin);
    lsn_heap_.pop_back();
    in_heap_[top] = 0;
    GrasshopperList& list = *lists_[top];
    const StreamPosition end = list.first()->end;
    list.pop();
    advance(end);
    push_head(top);
  }
  crawled_bytes_ += sbl_.value - before.value;
  return sbl_ > before;
}

void GrasshopperBuffer::push_heads() {
  for (uint32_t list = 0; list < workers_; ++list) {
    if (!in_heap_[list]) push_head(list);
  }
}

void GrasshopperBuffer::push_head(uint32_t list) {
  const GrasshopperList::Record* first = lists_[list]->first();
  if (first == nullptr) return;
  lsn_heap_.push_back({first->begin, list});
  std::ranges::push_heap(lsn_heap_, std::greater(), &Pending::begin);
  in_heap_[list] = 1;
}

bool GrasshopperBuffer::quiescent(StreamPosition upto) {
  return tail_->fetch_add(0, std::memory_order_acq_rel) == upto.value;
}

double GrasshopperBuffer::crawling_ratio() const {
  const uint64_t all = crawled_bytes_ + hopped_bytes_;
  return all == 0 ? 1 : static_cast<double>(crawled_bytes_) / static_cast<double>(all);
}

std::unique_ptr<LogBuffer> make_grasshopper_buffer(const LogBufferOptions& options) {
  return std::make_unique<GrasshopperBuffer>(options);
}

}  // namespace mneme
