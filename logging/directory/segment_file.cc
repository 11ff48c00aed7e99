#include "logging/directory/segment_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "base/file/directory.h"
#include "base/memory/aligned_bytes.h"
#include "base/memory/huge_pages.h"
#include "logging/directory/database_files.h"
#include "logging/directory/reused_segment.h"

namespace mneme {

namespace {

constexpr size_t kZeroingBytes = size_t{1} << 20;  // of one write, at most

Result<void> fill_with_zeros(const File& file, size_t bytes, const std::function<size_t()>& next_stretch) {
  // Asks for all the space first: a full disk is then known before anything is written.
  int status;
  do {
    status = ::posix_fallocate(file.descriptor(), 0, static_cast<off_t>(bytes));
  } while (status == EINTR);  // some file systems give up where a signal comes in
  if (status != 0 && status != EOPNOTSUPP && status != EINVAL) {
    return file_error(fmt::format("reserve {} bytes for", bytes), file.path(), status);
  }
  const AlignedBytes zeros(kHugePageBytes);  // more than a write takes, for the page's sake (aligned_bytes.h)
  for (size_t at = 0; at < bytes;) {
    const size_t asked = next_stretch ? next_stretch() : kZeroingBytes;
    if (asked == 0) return failed("{} was not finished", file.path());
    const size_t stretch = std::min({asked, kZeroingBytes, bytes - at});
    RETURN_IF_ERROR(file.write_at(zeros.span().first(stretch), at));
    if (next_stretch) RETURN_IF_ERROR(file.sync_data());
    at += stretch;
  }
  return {};
}

// Outside the data directory, where segments of several databases may lie, the name holds the database's id.
std::string segment_name(const std::string& directory, const SegmentHeader& header) {
  const std::string name = fmt::format("log-{:06}.segment", header.number);
  if (directory.empty()) return name;
  if (!directory.starts_with('/')) return directory + "/" + name;
  return fmt::format("{}/{:016x}-{}", directory, header.database_id, name);
}

// A file of this name that the manifest doesn't list was left by a crash before it was listed: it holds
// nothing, unless another process has locked it.
Result<File> open_empty(const std::string& path, bool direct_io) {
  auto file = File::open_alone(path, O_RDWR | O_CREAT | (direct_io ? O_DIRECT : 0));
  if (!file.ok()) return file.error();
  file->close_in_child();
  // Tells a reader when the last request of a killed process has ended: each holds the open file, and so the
  // lock.
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) return file_error("lock", path, errno);
  const auto found = holds_records(path);
  if (!found.ok()) return found.error();
  if (*found) {
    return failed(
        "{} is in the way of the log's next segment: it holds something, and the manifest doesn't list it; "
        "move it away",
        path);
  }
  if (::ftruncate(file->descriptor(), 0) != 0) return file_error("empty", path, errno);
  return file;
}

Result<void> fill(const File& file, const SegmentHeader& header, const SegmentFileOptions& options) {
  RETURN_IF_ERROR(fill_with_zeros(file, options.segment_bytes, options.next_stretch));
  RETURN_IF_ERROR(file.write_at(options.behind_header, kSegmentHeaderBytes));
  const AlignedBytes page(kBlockBytes);
  header.encode(page.data());
  RETURN_IF_ERROR(file.write_at(page.span(), 0));
  if (::fsync(file.descriptor()) != 0) return file_error("sync", file.path(), errno);
  return {};
}

// A file that holds nothing, in a sound state but for its directory, which is to be synced.
Result<File> prepare_file(const std::string& path, const SegmentHeader& header,
                          const SegmentFileOptions& options) {
  if (options.spare) {
    auto reused = reuse_segment(*options.spare, path, header, options);
    if (!reused.ok()) return reused.error();
    if (reused->is_open()) {
      if (options.reused) options.reused();
      return std::move(*reused);
    }
  }
  auto file = open_empty(path, options.direct_io);
  if (!file.ok()) return file.error();
  if (auto filled = fill(*file, header, options); !filled.ok()) {
    ::unlink(path.c_str());  // it isn't listed, and a full disk needs the room
    return filled.error();
  }
  return file;
}

}  // namespace

Result<File> make_listed_segment(ManifestFile& manifest, const SegmentHeader& header,
                                 const SegmentFileOptions& options) {
  const SegmentEntry entry{segment_name(options.directory, header), header.number, header.incarnation,
                           header.logger, header.is_ring};
  const std::string path = path_in(manifest.directory(), entry.file);
  const DirectoryChanges changes(path_in(manifest.directory(), options.directory));
  auto file = prepare_file(path, header, options);
  if (!file.ok()) return file.error();
  if (auto synced = changes.sync(); !synced.ok()) {
    ::unlink(path.c_str());  // no later sync is known to cover its name
    return synced.error();
  }
  RETURN_IF_ERROR(manifest.update([&](Manifest& m) {
    const auto after =
        std::ranges::find_if(m.segments, [&](const auto& s) { return s.number > entry.number; });
    m.segments.insert(after, entry);
  }));
  return file;
}

Result<File> make_segment(ManifestFile& manifest, SegmentHeader header, const SegmentFileOptions& options) {
  const Manifest current = manifest.current();
  CHECK(!current.incarnations.empty());
  CHECK(options.segment_bytes % kBlockBytes == 0);
  header.database_id = current.database_id;
  header.catalog_hash = current.catalog_hash;
  header.incarnation = current.incarnations.back().number;
  header.logger = options.logger;
  header.is_destaged = options.is_destaged;
  header.file_bytes = options.segment_bytes;
  auto file = make_listed_segment(manifest, header, options);
  if (file.ok()) return file;
  return failed(
      "the log's next segment can't be made: {}; all that was acknowledged is durable, make room and run "
      "with --resume",
      file.error().message);
}

}  // namespace mneme
