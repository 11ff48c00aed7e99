#include "logging/directory/segment_supply.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"

namespace mneme {

namespace {

using namespace std::chrono_literals;

// A stretch of zeros, and the pause before it.
struct Stretch {
  size_t bytes;
  std::chrono::microseconds pause;
};
constexpr Stretch kAtOnce{size_t{1} << 20, 0us};
constexpr Stretch kSoon{size_t{128} << 10, 500us};
constexpr Stretch kAtLeisure{size_t{64} << 10, 3000us};

}  // namespace

SegmentSupply::SegmentSupply(ManifestFile& manifest, const SegmentSupplyOptions& options,
                             SegmentNumbers& numbers, std::function<void()> ready)
    : manifest_(manifest), options_(options), numbers_(numbers), ready_(std::move(ready)) {
  if (options_.reuses) manifest_.spares().serve(options_.file.directory);
  if (!options_.at_need) thread_ = std::thread([this] { run(); });
}

SegmentSupply::~SegmentSupply() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  if (options_.reuses) manifest_.spares().leave(options_.file.directory);
}

Result<void> SegmentSupply::wait_until_ready() {
  if (options_.at_need) make_at_need(options_.ahead);
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return prepared_.size() >= options_.ahead || failure_.has_value(); });
  if (failure_) return *failure_;
  return {};
}

std::shared_ptr<Segment> SegmentSupply::try_take() {
  if (options_.at_need) make_at_need(1);
  const std::lock_guard guard(mutex_);
  if (prepared_.empty()) {
    is_waited_for_ = true;
    changed_.notify_all();
    return nullptr;
  }
  std::shared_ptr<Segment> taken = std::move(prepared_.front());
  prepared_.pop_front();
  changed_.notify_all();
  return taken;
}

std::optional<Error> SegmentSupply::failure() const {
  const std::lock_guard guard(mutex_);
  return prepared_.empty() ? failure_ : std::nullopt;
}

void SegmentSupply::run() {
  ::prctl(PR_SET_NAME, "segments");
  std::unique_lock guard(mutex_);
  size_t enough = options_.ahead;
  const size_t spare = options_.make ? 1 : kSpareFiles;
  while (true) {
    changed_.wait(guard, [&] { return closing_ || prepared_.size() < std::max(enough, spare); });
    if (closing_) return;
    guard.unlock();
    auto made = make_next();
    guard.lock();
    if (closing_) return;
    if (made.ok())
      prepared_.push_back(std::move(*made));
    else
      failure_ = made.error();
    if (prepared_.size() >= enough) {
      enough = 1;
      is_waited_for_ = false;
    }
    changed_.notify_all();
    guard.unlock();
    ready_();
    guard.lock();
    if (failure_) return;
  }
}

// One thread at a time uses the supply.
void SegmentSupply::make_at_need(size_t count) {
  while (prepared_.size() < count && !failure_) {
    auto made = make_next();
    const std::lock_guard guard(mutex_);
    if (made.ok())
      prepared_.push_back(std::move(*made));
    else
      failure_ = made.error();
  }
}

size_t SegmentSupply::next_stretch() {
  std::unique_lock guard(mutex_);
  const auto is_urgent = [this] { return closing_ || is_waited_for_; };
  const Stretch& stretch = prepared_.empty() ? kSoon : kAtLeisure;
  if (!is_urgent()) changed_.wait_for(guard, stretch.pause, is_urgent);
  if (closing_) return 0;
  return is_waited_for_ ? kAtOnce.bytes : stretch.bytes;
}

bool SegmentSupply::is_closing() const {
  const std::lock_guard guard(mutex_);
  return closing_;
}

Result<std::shared_ptr<Segment>> SegmentSupply::make_next() {
  const uint32_t number = numbers_.next();
  if (options_.make) return options_.make(number, [this] { return is_closing(); });
  auto segment = std::make_shared<Segment>();
  segment->number = number;
  segment->incarnation = manifest_.current().incarnations.back().number;
  segment->blocks = static_cast<uint32_t>(options_.file.segment_bytes / kBlockBytes - 1);
  SegmentFileOptions options = options_.file;
  options.next_stretch = [this] { return next_stretch(); };
  if (options_.reuses) options.spare = manifest_.spares().take(options_.file.directory);
  options.reused = [this] { reused_.fetch_add(1, std::memory_order_relaxed); };
  auto file = make_segment(manifest_, {.number = segment->number}, options);
  if (!file.ok()) return file.error();
  segment->file = std::move(*file);
  segment->path = segment->file.path();
  segment->handle = segment->file.descriptor();
  return segment;
}

}  // namespace mneme
