#include "logging/remote/remote_segments.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "base/check.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "logging/device/remote_options.h"
#include "logging/record/block_format.h"

namespace mneme {

namespace {

constexpr std::chrono::milliseconds kLookInterval{1};
constexpr uint32_t kFewestFiles = 3;  // one that fills, one that is ready, one that waits for a checkpoint

// So that a crash leaves the whole file or none.
Result<void> save_copy(const std::string& path, const SegmentCopy& copy) {
  const std::string incoming = path + ".tmp";
  auto file = File::make(incoming, O_WRONLY);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(file->write_at(copy.content(), 0));
  if (::ftruncate(file->descriptor(), static_cast<off_t>(copy.bytes.size())) != 0) {
    return file_error("enlarge", incoming, errno);
  }
  RETURN_IF_ERROR(file->sync_data());
  if (std::rename(incoming.c_str(), path.c_str()) != 0) return file_error("put in place", path, errno);
  return {};
}

}  // namespace

RemoteSegments::RemoteSegments(ManifestFile& manifest, size_t segment_bytes, uint32_t files)
    : manifest_(manifest), segment_bytes_(segment_bytes), files_(files) {
  CHECK(files >= kFewestFiles);
  CHECK(segment_bytes % kBlockBytes == 0);
}

void RemoteSegments::update_space() {
  const auto used = static_cast<size_t>(
      std::ranges::count_if(entries_, [](const Entry& each) { return each.begin.has_value(); }));
  const LogSpace space = used >= files_      ? LogSpace::kScarce
                         : 2 * used > files_ ? LogSpace::kCheckpointDue
                                             : LogSpace::kEnough;
  space_.store(space, std::memory_order_relaxed);
}

LogSpace RemoteSegments::space() {
  if (space_.load(std::memory_order_relaxed) == LogSpace::kEnough) return LogSpace::kEnough;
  // A checkpoint may have come meanwhile. What can't be noted in the manifest stays in use.
  (void)drop_superfluous();
  return space_.load(std::memory_order_relaxed);
}

Result<void> RemoteSegments::drop_superfluous() {
  const Lsn checkpoint = manifest_.current().checkpoint_lsn;
  std::vector<uint32_t> superfluous;
  {
    const std::lock_guard guard(mutex_);
    for (size_t i = 0; i + 1 < entries_.size(); ++i) {
      if (!entries_[i + 1].begin || one_stream_lsn(*entries_[i + 1].begin) > checkpoint) break;
      superfluous.push_back(entries_[i].copy->number);
    }
  }
  if (superfluous.empty()) return {};
  const auto is_superfluous = [&](uint32_t number) {
    return std::ranges::find(superfluous, number) != superfluous.end();
  };
  RETURN_IF_ERROR(manifest_.update([&](Manifest& manifest) {
    std::erase_if(manifest.segments, [&](const SegmentEntry& each) { return is_superfluous(each.number); });
  }));
  const std::lock_guard guard(mutex_);
  // Another thread may have been as quick.
  while (!entries_.empty() && is_superfluous(entries_.front().copy->number)) {
    dropped_.push_back(std::move(entries_.front().copy));
    entries_.pop_front();
  }
  update_space();
  return {};
}

std::shared_ptr<SegmentCopy> RemoteSegments::free_copy() {
  {
    const std::lock_guard guard(mutex_);
    if (!spare_.empty()) {
      std::shared_ptr<SegmentCopy> taken = std::move(spare_.back());
      spare_.pop_back();
      return taken;
    }
  }
  return std::make_shared<SegmentCopy>(segment_bytes_);
}

// A file that a crash has left would pass for the segment of its name, in place of the servers' memories. One
// that was removed already may be back after a power failure, and where the sync of that removal failed, a
// sync alone would not cover it: so it is made first.
Result<void> RemoteSegments::remove_leftover(const std::string& file) {
  const DirectoryChanges changes(path_in(manifest_.directory(), kRemoteFolder));
  const std::string path = path_in(manifest_.directory(), file);
  if (auto made = File::make(path, O_WRONLY); !made.ok()) return made.error();
  if (::unlink(path.c_str()) != 0) return file_error("remove", path, errno);
  return changes.sync();
}

Result<std::shared_ptr<Segment>> RemoteSegments::make(uint32_t number, FunctionRef<bool()> closing) {
  for (;;) {
    RETURN_IF_ERROR(drop_superfluous());
    {
      const std::lock_guard guard(mutex_);
      if (entries_.size() < files_) break;
    }
    if (closing()) return failed("the log is being closed");
    std::this_thread::sleep_for(kLookInterval);
  }
  const Manifest current = manifest_.current();
  const uint32_t incarnation = current.incarnations.back().number;
  std::shared_ptr<SegmentCopy> copy = free_copy();
  copy->number = number;
  copy->filled = kSegmentHeaderBytes;
  const SegmentHeader header{current.database_id, current.catalog_hash, number, incarnation};
  header.encode(copy->bytes.data());
  const SegmentEntry entry{remote_segment_file(number), number, incarnation};
  RETURN_IF_ERROR(remove_leftover(entry.file));
  {
    // Before it is listed: a segment that is listed must be among those that save() writes.
    const std::lock_guard guard(mutex_);
    if (has_ended_) return failed("the log has ended");
    entries_.push_back({std::move(copy), std::nullopt});
  }
  RETURN_IF_ERROR(manifest_.update([&](Manifest& manifest) { manifest.segments.push_back(entry); }));
  auto segment = std::make_shared<Segment>();
  segment->path = entry.file;
  segment->handle = static_cast<int>(number);
  segment->number = number;
  segment->incarnation = incarnation;
  segment->blocks = static_cast<uint32_t>(segment_bytes_ / kBlockBytes - 1);
  return segment;
}

std::shared_ptr<SegmentCopy> RemoteSegments::copy(uint32_t number) const {
  const std::lock_guard guard(mutex_);
  const auto entry =
      std::ranges::find_if(entries_, [&](const Entry& each) { return each.copy->number == number; });
  CHECK(entry != entries_.end());
  return entry->copy;
}

void RemoteSegments::begins_at(uint32_t number, StreamPosition begin) {
  const std::lock_guard guard(mutex_);
  for (Entry& each : entries_) {
    if (each.copy->number == number) each.begin = begin;
  }
  update_space();
}

void RemoteSegments::fill(SegmentCopy& copy, const IoChain& chain) {
  CHECK(chain.offset == copy.filled);
  CHECK(chain.bytes.size() <= copy.bytes.size() - chain.offset);
  if (chain.offset == block_offset(0)) begins_at(copy.number, BlockHeader::decode(chain.bytes)->begin);
  std::copy(chain.bytes.begin(), chain.bytes.end(), copy.bytes.data() + chain.offset);
  copy.filled += chain.bytes.size();
}

std::vector<std::shared_ptr<SegmentCopy>> RemoteSegments::take_dropped() {
  const std::lock_guard guard(mutex_);
  return std::exchange(dropped_, {});
}

void RemoteSegments::give_back(std::shared_ptr<SegmentCopy> copy) {
  const std::lock_guard guard(mutex_);
  spare_.push_back(std::move(copy));
}

Result<void> RemoteSegments::save() {
  std::vector<std::shared_ptr<SegmentCopy>> copies;
  {
    const std::lock_guard guard(mutex_);
    has_ended_ = true;
    for (const Entry& each : entries_) copies.push_back(each.copy);
  }
  const DirectoryChanges changes(path_in(manifest_.directory(), kRemoteFolder));
  for (const auto& copy : copies) {
    RETURN_IF_ERROR(save_copy(path_in(manifest_.directory(), remote_segment_file(copy->number)), *copy));
  }
  return changes.sync();
}

Error RemoteSegments::save_after(const std::string& why) {
  const Result<void> saved = save();
  if (!saved.ok())
    return failed("{}, and the log can't be saved here either: {}", why, saved.error().message);
  return failed(
      "{}; the log was saved in the data directory, with all that was acknowledged: mend the servers and run "
      "with "
      "--resume",
      why);
}

}  // namespace mneme
