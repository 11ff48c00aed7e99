#include "logging/directory/segment_supply.h"

#include "base/check.h"

namespace mneme {

SegmentSupply::SegmentSupply(ManifestFile& manifest, const SegmentSupplyOptions& options,
                             SegmentNumbers& numbers, std::function<void()> ready)
    : manifest_(manifest), options_(options), numbers_(numbers), ready_(std::move(ready)), thread_([this] {
        run();
      }) {}

SegmentSupply::~SegmentSupply() {
  {
    const std::lock_guard guard(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Result<void> SegmentSupply::wait_until_ready() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return prepared_.size() == options_.ahead || failure_.has_value(); });
  if (failure_) return *failure_;
  return {};
}

std::shared_ptr<Segment> SegmentSupply::try_take() {
  const std::lock_guard guard(mutex_);
  if (prepared_.empty()) return nullptr;
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
  std::unique_lock guard(mutex_);
  size_t wanted = options_.ahead;
  while (true) {
    changed_.wait(guard, [&] { return closing_ || prepared_.size() < wanted; });
    if (closing_) return;
    guard.unlock();
    auto made = make_next();
    guard.lock();
    if (closing_) return;
    if (made.ok())
      prepared_.push_back(std::move(*made));
    else
      failure_ = made.error();
    if (prepared_.size() == options_.ahead) wanted = 1;
    changed_.notify_all();
    guard.unlock();
    ready_();
    guard.lock();
    if (failure_) return;
  }
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
  auto file = make_segment(manifest_, {.number = segment->number}, options_.file);
  if (!file.ok()) return file.error();
  segment->file = std::move(*file);
  segment->path = segment->file.path();
  segment->handle = segment->file.descriptor();
  return segment;
}

}  // namespace mneme
