#include "logging/segment_supply.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/aligned_bytes.h"
#include "base/huge_pages.h"

namespace mneme {

namespace {

constexpr size_t kZeroingBytes = size_t{1} << 20;  // of one write: the log's own wait behind it

Result<void> fill_with_zeros(const File& file, size_t bytes) {
  // Asks for all the space first: a full disk is then known before anything is written.
  const int status = ::posix_fallocate(file.descriptor(), 0, static_cast<off_t>(bytes));
  if (status != 0 && status != EOPNOTSUPP && status != EINVAL) {
    return file_error(fmt::format("reserve {} bytes for", bytes), file.path(), status);
  }
  const AlignedBytes zeros(kHugePageBytes);  // more than a write takes, for the page's sake (aligned_bytes.h)
  for (size_t at = 0; at < bytes; at += kZeroingBytes) {
    RETURN_IF_ERROR(file.write_at(zeros.span().first(std::min(kZeroingBytes, bytes - at)), at));
  }
  return {};
}

// Outside the data directory, where segments of several databases may lie, the name tells whose it is.
std::string segment_file(const std::string& directory, const SegmentHeader& header) {
  const std::string name = fmt::format("log-{:06}.segment", header.number);
  if (directory.empty()) return name;
  if (!directory.starts_with('/')) return directory + "/" + name;
  return fmt::format("{}/{:016x}-{}", directory, header.database_id, name);
}

// A file of this name that the manifest doesn't list was left by a crash before it was listed: it holds nothing, unless
// another process has locked it.
Result<File> open_empty(const std::string& path, bool direct_io) {
  auto file = File::open(path, O_RDWR | O_CREAT | (direct_io ? O_DIRECT : 0));
  if (!file.ok()) return file.error();
  // Tells a reader when the last request of a killed process has ended: each holds the open file, and so the lock.
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) return file_error("lock", path, errno);
  if (::ftruncate(file->descriptor(), 0) != 0) return file_error("empty", path, errno);
  return file;
}

Error unprepared(const Error& cause) {
  return failed(
      "the log's next segment can't be made: {}; all that was acknowledged is durable, make room and run "
      "with --resume",
      cause.message);
}

}  // namespace

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
    if (made.ok())
      prepared_.push_back(std::move(*made));
    else
      failure_ = unprepared(made.error());
    if (prepared_.size() == options_.ahead) wanted = 1;
    changed_.notify_all();
    guard.unlock();
    ready_();
    guard.lock();
    if (failure_) return;
  }
}

Result<std::shared_ptr<Segment>> SegmentSupply::make_next() {
  const Manifest manifest = manifest_.current();
  CHECK(!manifest.incarnations.empty());
  const SegmentHeader header{manifest.database_id, manifest.catalog_hash, numbers_.next(),
                             manifest.incarnations.back().number};
  const SegmentEntry entry{segment_file(options_.directory, header), header.number, header.incarnation};
  const std::string path = path_in(manifest_.directory(), entry.file);

  auto file = open_empty(path, options_.direct_io);
  if (!file.ok()) return file.error();
  auto segment = std::make_shared<Segment>();
  segment->file = std::move(*file);
  if (auto made = fill(*segment, header); !made.ok()) {
    ::unlink(path.c_str());  // it isn't listed, and a full disk needs the room
    return made.error();
  }
  RETURN_IF_ERROR(sync_directory(path_in(manifest_.directory(), options_.directory)));
  RETURN_IF_ERROR(manifest_.update([&](Manifest& m) {
    const auto after =
        std::ranges::find_if(m.segments, [&](const auto& s) { return s.number > entry.number; });
    m.segments.insert(after, entry);
  }));
  return segment;
}

Result<void> SegmentSupply::fill(Segment& segment, const SegmentHeader& header) const {
  const size_t bytes = options_.segment_bytes / kBlockBytes * kBlockBytes;
  RETURN_IF_ERROR(fill_with_zeros(segment.file, bytes));
  const AlignedBytes page(kBlockBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(segment.file.write_at(page.span(), 0));
  if (::fsync(segment.file.descriptor()) != 0) return file_error("sync", segment.file.path(), errno);
  segment.number = header.number;
  segment.incarnation = header.incarnation;
  segment.blocks = static_cast<uint32_t>(bytes / kBlockBytes - 1);
  return {};
}

}  // namespace mneme
