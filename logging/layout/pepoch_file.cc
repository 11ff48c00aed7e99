#include "logging/layout/pepoch_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "base/clock.h"
#include "base/crc32c.h"
#include "base/file/directory.h"
#include "logging/directory/loaded_segment.h"
#include "logging/record/block_format.h"
#include "logging/record/format_version.h"

namespace mneme {

namespace {

constexpr size_t kSlotBytes = 4096;
constexpr size_t kSlotHeaderBytes = 56;
constexpr size_t kSlots = 2;
constexpr uint32_t kPepochMagic = 'M' | 'N' << 8 | 'P' << 16 | 'E' << 24;
static_assert(kSlotHeaderBytes + kMostLoggers * sizeof(uint64_t) <= kSlotBytes);
static_assert(kSlotBytes % AlignedBytes::kAlignment == 0);

uint32_t slot_checksum(const std::byte* slot) {
  return crc32c({slot + sizeof(uint32_t), kSlotBytes - sizeof(uint32_t)});
}

// Whether a crash may leave some of a slot's sectors as they were, and others as they are written. Each of
// the incarnation's slots has as many loggers', and was zeros before the first.
bool may_be_torn(const Manifest& manifest) {
  uint32_t loggers = 0;
  for (const SegmentEntry& each : manifest.segments) {
    if (each.incarnation == manifest.incarnations.back().number)
      loggers = std::max(loggers, each.logger.value_or(0) + 1);
  }
  return kSlotHeaderBytes + loggers * sizeof(uint64_t) > kSectorBytes;
}

// The file that the slots are written to, with zeros in them: what former incarnations wrote means nothing
// any more, and must not stand under what a crash tears.
Result<File> open_or_make(const std::string& directory, bool direct_io) {
  const DirectoryChanges changes(directory);
  const std::string path = directory + "/" + kPepochFile;
  auto file = File::open_alone(path, O_RDWR | O_CREAT | (direct_io ? O_DIRECT : 0));
  if (!file.ok()) return file.error();
  file->close_in_child();
  // A reader can tell by it when the last request of a killed process has ended.
  if (::flock(file->descriptor(), LOCK_EX | LOCK_NB) != 0) return file_error("lock", path, errno);
  const AlignedBytes zeros(kSlots * kSlotBytes);
  RETURN_IF_ERROR(file->write_at(zeros.span(), 0));
  if (::fsync(file->descriptor()) != 0) return file_error("sync", path, errno);
  if (auto synced = changes.sync(); !synced.ok()) {
    ::unlink(path.c_str());  // no later sync is known to cover its name: the next try makes it anew
    return synced.error();
  }
  return file;
}

}  // namespace

void PepochSlot::encode(std::byte* slot) const {
  CHECK(stream_ends.size() <= kMostLoggers);
  std::memset(slot, 0, kSlotBytes);
  store(slot + 4, kPepochMagic);
  store(slot + 8, kFormatVersion);
  store(slot + 12, static_cast<uint32_t>(stream_ends.size()));
  store(slot + 16, database_id);
  store(slot + 24, incarnation);
  store(slot + 32, number);
  store(slot + 40, pepoch.value);
  store(slot + 48, end.value);
  for (size_t i = 0; i < stream_ends.size(); ++i) {
    store(slot + kSlotHeaderBytes + i * sizeof(uint64_t), stream_ends[i].value);
  }
  store(slot, slot_checksum(slot));
}

std::optional<PepochSlot> PepochSlot::decode(ByteSpan bytes) {
  if (bytes.size() < kSlotBytes) return std::nullopt;
  const std::byte* from = bytes.data();
  if (load<uint32_t>(from + 4) != kPepochMagic || load<uint32_t>(from) != slot_checksum(from))
    return std::nullopt;
  if (load<uint32_t>(from + 8) != kFormatVersion) return std::nullopt;
  const auto loggers = load<uint32_t>(from + 12);
  if (loggers > kMostLoggers) return std::nullopt;
  PepochSlot slot;
  slot.database_id = load<uint64_t>(from + 16);
  slot.incarnation = load<uint32_t>(from + 24);
  slot.number = load<uint64_t>(from + 32);
  slot.pepoch = LogEpoch{load<uint64_t>(from + 40)};
  slot.end = Lsn{load<uint64_t>(from + 48)};
  for (size_t i = 0; i < loggers; ++i) {
    slot.stream_ends.push_back(
        StreamPosition{load<uint64_t>(from + kSlotHeaderBytes + i * sizeof(uint64_t))});
  }
  return slot;
}

Result<std::optional<PepochSlot>> read_pepoch(const std::string& directory, const Manifest& manifest,
                                              std::chrono::milliseconds patience) {
  const std::string path = directory + "/" + kPepochFile;
  if (!std::filesystem::exists(path)) {
    return damaged(
        "{} is missing, which says how far the log is durable: put the file back; nothing was changed", path);
  }
  const auto file = File::open_in(directory, kPepochFile);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(wait_until_quiet(*file, patience));
  const auto size = file->size();
  if (!size.ok()) return size.error();
  if (*size != kSlots * kSlotBytes) {
    return damaged(
        "{} has {} bytes, and {} were written; nothing was changed: put the file back from a copy of the "
        "directory",
        path, *size, kSlots * kSlotBytes);
  }
  std::vector<std::byte> bytes(kSlots * kSlotBytes);
  const auto count = file->read_at(bytes, 0);
  if (!count.ok()) return count.error();
  size_t bad = 0;
  std::optional<size_t> unwritten;
  std::optional<PepochSlot> newest;
  for (size_t i = 0; i < kSlots; ++i) {
    const ByteSpan at = ByteSpan(bytes).subspan(i * kSlotBytes, kSlotBytes);
    std::optional<PepochSlot> slot = PepochSlot::decode(at);
    if (!slot) {
      if (is_zeros(at)) {
        unwritten = i;
        continue;
      }
      if (!may_be_torn(manifest)) {
        return damaged(
            "{} is damaged at byte {}: the slot doesn't match its checksum, and no crash leaves it so; "
            "nothing was changed",
            path, i * kSlotBytes);
      }
      ++bad;
      continue;
    }
    if (slot->database_id != manifest.database_id) {
      return damaged(
          "{} belongs to another database: its id is {:016x}, and that of {}/MANIFEST {:016x}; nothing was "
          "changed: put the right one back",
          path, slot->database_id, directory, manifest.database_id);
    }
    if (slot->incarnation > manifest.incarnations.back().number) {
      return damaged(
          "{}/MANIFEST is older than the log: {} is of incarnation {}, and the last one that the manifest "
          "knows is {}; nothing was "
          "changed: put the newest MANIFEST of this directory back",
          directory, path, slot->incarnation, manifest.incarnations.back().number);
    }
    if (slot->incarnation != manifest.incarnations.back().number) continue;
    if (!newest || newest->number < slot->number) newest = std::move(slot);
  }
  if (newest && newest->number >= kSlots && unwritten) {
    return damaged(
        "{} is damaged at byte {}: the slot is empty, though write {} of the file had it; nothing was "
        "changed",
        path, *unwritten * kSlotBytes, newest->number - 1);
  }
  // A crash tears the slot that is being written, and no other.
  if (bad == kSlots) {
    return damaged("{} is damaged at bytes 0 and {}: neither slot matches its checksum; nothing was changed",
                   path, kSlotBytes);
  }
  return newest;
}

Result<void> check_pepoch_is_own(const std::string& directory) {
  const std::string path = directory + "/" + kPepochFile;
  // Whether there has to be one, read_pepoch() knows.
  if (std::filesystem::symlink_status(path).type() == std::filesystem::file_type::not_found) return {};
  const auto file = File::open_own(path, O_RDWR);
  return file.ok() ? Result<void>() : file.error();
}

Result<std::unique_ptr<PepochFile>> PepochFile::open(const ManifestFile& manifest, LogDeviceKind kind,
                                                     const DeviceOptions& options) {
  auto queue = open_log_queue(kind, manifest.directory(), {""}, options);
  if (!queue.ok()) return queue.error();
  auto file = open_or_make(manifest.directory(), queue->direct_io);
  if (!file.ok()) return file.error();
  return std::unique_ptr<PepochFile>(
      new PepochFile(std::move(*queue), std::move(*file), manifest.current(), options));
}

PepochFile::PepochFile(OpenedQueue queue, File file, const Manifest& manifest, const DeviceOptions& options)
    : latency_(options.latency.value_or(std::chrono::nanoseconds(0))),
      durability_(queue.durability),
      notices_(std::move(queue.notices)),
      bytes_(kSlotBytes),
      file_(std::move(file)),
      queue_(std::move(queue.queue)),
      queue_file_(queue_->attach(file_.descriptor())) {
  last_.database_id = manifest.database_id;
  last_.incarnation = manifest.incarnations.back().number;
}

Result<void> PepochFile::write(LogEpoch pepoch, Lsn end, std::vector<StreamPosition> stream_ends) {
  const uint64_t begin_ns = monotonic_ns();
  ++last_.number;
  last_.pepoch = pepoch;
  last_.end = end;
  last_.stream_ends = std::move(stream_ends);
  last_.encode(bytes_.data());
  const uint64_t offset = last_.number % kSlots * kSlotBytes;
  queue_->submit({last_.number, queue_file_, bytes_.span(), offset, durability_});
  std::vector<IoCompletion> ended;
  while (ended.empty()) queue_->wait(std::chrono::seconds(1), ended);
  if (ended.front().failure != IoCompletion::Failure::kNone) {
    return failed(
        "cannot write {} at byte {}: {}; all that was acknowledged is durable; mend the device and run with "
        "--resume",
        file_.path(), offset,
        ended.front().failure == IoCompletion::Failure::kShortWrite
            ? "it fell short"
            : reason_text(ended.front().error_number));
  }
  const std::chrono::nanoseconds taken(monotonic_ns() - begin_ns);
  if (taken < latency_) std::this_thread::sleep_for(latency_ - taken);
  return {};
}

}  // namespace mneme
