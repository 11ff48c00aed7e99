#include "logging/reading/remote_recovery.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/random_number.h"
#include "logging/device/remote_options.h"
#include "logging/device/server_devices.h"

namespace mneme {

namespace {

// Returns the holder of the segments that are missing in the directory.
Result<std::unique_ptr<RemoteHolder>> former_holder(const Manifest& manifest,
                                                    std::chrono::milliseconds patience) {
  RemoteLogOptions remote;
  remote.servers = attribute_of(manifest, kLogServersAttribute);
  remote.key_file = attribute_of(manifest, kLogKeyAttribute);
  remote.patience = patience;
  if (remote.servers.empty()) {
    return damaged("the manifest lists log segments in memories, and names no log servers");
  }
  const std::string kind = attribute_of(manifest, kLogKindAttribute);
  const auto device = log_device_kind(kind.empty() ? kLogServersKind : kind);
  if (!device.ok() || (!kind.empty() && !traits_of(*device).is_replicated)) {
    return damaged("the manifest says that the log lies on {}, which this program doesn't know", kind);
  }
  remote.stream = attribute_of(manifest, kLogStreamAttribute);
  return make_remote_holder(*device, remote);
}

// Returns the holder of the next incarnation's log; nullptr: the directory itself.
Result<std::unique_ptr<RemoteHolder>> next_holder(const DurableLogOptions& log) {
  if (!traits_of(log.device).has_servers) return std::unique_ptr<RemoteHolder>();
  return make_remote_holder(log.device, log.device_options.remote);
}

// Segments that were brought home by an opening that was killed may not have durable names yet, and their
// servers forget them once the next term has begun.
Result<void> keep_segments_at_home(const std::string& directory, const Manifest& manifest) {
  const bool some_are = std::ranges::any_of(manifest.segments, [&](const SegmentEntry& each) {
    return each.file == remote_segment_file(each.number) && !is_in_memories(directory, each);
  });
  return some_are ? DirectoryChanges(path_in(directory, kRemoteFolder)).sync() : Result<void>();
}

}  // namespace

Result<void> check_log_servers(const DurableLogOptions& log) {
  auto next = next_holder(log);
  if (!next.ok()) return next.error();
  if (*next == nullptr) return {};
  const auto term = (*next)->look_to_write(Manifest{});
  return term.ok() ? Result<void>() : term.error();
}

Result<RemoteClaim> claim_remote_log(const std::string& directory, const DurableLogOptions& log) {
  const auto manifest = read_manifest(directory);
  if (!manifest.ok()) return manifest.error();
  RETURN_IF_ERROR(keep_segments_at_home(directory, *manifest));
  const std::vector<SegmentEntry> missing = segments_in_memories(directory, *manifest);
  std::unique_ptr<RemoteHolder> former;
  if (!missing.empty()) {
    auto holder = former_holder(*manifest, log.device_options.remote.patience);
    if (!holder.ok()) return holder.error();
    former = std::move(*holder);
  }
  auto next = next_holder(log);
  if (!next.ok()) return next.error();
  if (former == nullptr && *next == nullptr) return RemoteClaim{};

  uint32_t highest = manifest->incarnations.empty() ? 0 : manifest->incarnations.back().number;
  // A term that too few could promise would depose an engine at work, and keep the server from its next one:
  // so all is looked at before anything is claimed.
  if (former != nullptr) {
    const auto known = former->look(*manifest, missing);
    if (!known.ok()) return known.error();
    highest = std::max(highest, *known);
  }
  if (*next != nullptr) {
    const auto known = (*next)->look_to_write(*manifest);
    if (!known.ok()) return known.error();
    highest = std::max(highest, *known);
  }
  if (highest == std::numeric_limits<uint32_t>::max()) {
    return failed(
        "a log server knows term {} of the database {:016x}, and there is none above it: if no engine of "
        "that term is at work, end the server, "
        "remove {:016x}.term from its data directory and start it again; nothing was changed here",
        highest, manifest->database_id, manifest->database_id);
  }
  const LogTerm term{highest + 1, unforeseen_number() | 1};
  if (*next != nullptr) RETURN_IF_ERROR((*next)->claim(*manifest, term));
  if (former != nullptr) {
    RETURN_IF_ERROR(former->bring(*manifest, missing, path_in(directory, kRemoteFolder), term));
  }
  return RemoteClaim{term};
}

Result<FetchedLog> FetchedLog::fetch(const std::string& directory, const Manifest& manifest) {
  const std::vector<SegmentEntry> missing = segments_in_memories(directory, manifest);
  CHECK(!missing.empty());
  auto holder = former_holder(manifest, RemoteLogOptions{}.patience);
  if (!holder.ok()) return holder.error();
  std::string folder = (std::filesystem::temp_directory_path() / "mneme-remote-log-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return file_error("make the directory", folder, errno);
  FetchedLog fetched(folder, manifest);
  RETURN_IF_ERROR((*holder)->bring(manifest, missing, folder, std::nullopt));
  for (SegmentEntry& each : fetched.manifest_.segments) {
    if (is_in_memories(directory, each)) each.file = path_of(folder, each);
  }
  return fetched;
}

FetchedLog::FetchedLog(FetchedLog&& other) noexcept
    : folder_(std::exchange(other.folder_, "")), manifest_(std::move(other.manifest_)) {}

FetchedLog::~FetchedLog() {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

}  // namespace mneme
