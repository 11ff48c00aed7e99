// The RemoteHolder of a replicated log.
//
// A whole log    the manifest says at which position the last incarnation's term begins: its message is
//                there, or was dropped
//             with the segments before those that are listed. From there on each listed segment has its
//             pieces without a gap, from its header page on; only the last ones may never have been begun.
//             All that a majority has acknowledged stands before the message by which the next term begins.
#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <utility>

#include "base/check.h"
#include "logging/device/remote_holder.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kReadPatience{15'000};  // for the next piece of a log that has one

Error lost(const ReplicatedLogOptions& log, const std::string& what) {
  return damaged(
      "the log is lost: {} in the stream {} of the servers {}, as is to be expected after a majority of them "
      "ended, if it "
      "lay in their memories. Restore the data directory from a backup; nothing was changed",
      what, log.stream, log.servers);
}

uint32_t last_listed(const Manifest& manifest, uint32_t term) {
  uint32_t last = 0;
  for (const SegmentEntry& each : manifest.segments) {
    if (each.incarnation == term) last = std::max(last, each.number);
  }
  return last;
}

// The segment files that come in, each under another name until it is whole.
class Incoming {
 public:
  Incoming(const Manifest& manifest, const std::vector<SegmentEntry>& missing, const std::string& folder)
      : manifest_(manifest), folder_(folder), missing_(missing), folder_changes_(folder) {
    for (const SegmentEntry& each : missing) segments_[each.number].entry = each;
  }

  Result<void> take(const ReplicatedPiece& piece) {
    const auto found = segments_.find(piece.segment);
    if (found == segments_.end()) {
      // A checkpoint has passed it, or it came home already; or the manifest is older than it.
      return piece.segment > last_listed(manifest_, static_cast<uint32_t>(piece.term)) ? older_than_log()
                                                                                       : Result<void>();
    }
    Segment& segment = found->second;
    if (piece.offset != segment.end) return older_than_log();
    if (!segment.file.is_open()) RETURN_IF_ERROR(open(segment));
    RETURN_IF_ERROR(segment.file.write_at(piece.bytes, piece.offset));
    segment.end += piece.bytes.size();
    return {};
  }

  Result<void> finish() {
    bool may_be_missing = true;
    for (auto each = segments_.rbegin(); each != segments_.rend(); ++each) {
      Segment& segment = each->second;
      if (segment.end > 0) {
        may_be_missing = false;
        continue;
      }
      if (!may_be_missing) return older_than_log();
      RETURN_IF_ERROR(open(segment));
      RETURN_IF_ERROR(write_empty_segment(segment.file, manifest_, segment.entry));
    }
    for (auto& [number, segment] : segments_) {
      RETURN_IF_ERROR(segment.file.sync_data());
      const std::string path = path_of(folder_, segment.entry);
      if (std::rename((path + ".tmp").c_str(), path.c_str()) != 0)
        return file_error("put in place", path, errno);
    }
    return keep_brought(folder_changes_, folder_, missing_);
  }

 private:
  struct Segment {
    SegmentEntry entry;
    File file;
    uint64_t end = 0;
  };

  Result<void> open(Segment& segment) {
    auto file = File::make(path_of(folder_, segment.entry) + ".tmp", O_WRONLY);
    if (!file.ok()) return file.error();
    segment.file = std::move(*file);
    return {};
  }

  const Manifest& manifest_;
  const std::string folder_;
  const std::vector<SegmentEntry>& missing_;
  const DirectoryChanges folder_changes_;
  std::map<uint32_t, Segment> segments_;  // by number
};

class ReplicatedHolder : public RemoteHolder {
 public:
  ReplicatedHolder(LogDeviceKind kind, const RemoteLogOptions& remote) : kind_(kind), remote_(remote) {}

  Result<uint32_t> look(const Manifest& manifest, const std::vector<SegmentEntry>& missing) override {
    auto log = open_replicated_claimant(options(manifest));
    if (!log.ok()) return log.error();
    const auto newest = (*log)->newest();
    if (!newest.ok()) return newest.error();
    const auto begin = begin_of(**log, manifest, missing);
    if (!begin.ok()) return begin.error();
    if (!*newest) return lost(options(manifest), "nothing is left");
    const uint32_t term = missing.front().incarnation;
    const ReplicatedHeader& header = (*newest)->header;
    const bool is_newer = header.term.number > term || header.segment > last_listed(manifest, term);
    if (is_newer && !header.begins_term()) return older_than_log();
    return header.term.number;
  }

  Result<uint32_t> look_to_write(const Manifest& manifest) override {
    ReplicatedLogOptions log = options(manifest);
    // The name that a new database's log gets is not known yet, unless it was given.
    if (manifest.database_id == 0) log.stream = remote_.stream;
    const auto newest = check_replicated_log(log, remote_.replicas);
    if (!newest.ok()) return newest.error();
    if (*newest && manifest.database_id == 0) {
      return invalid_argument("the stream {} holds the log of another database: choose another --log-stream",
                              log.stream);
    }
    return *newest ? (*newest)->header.term.number : 0;
  }

  Result<void> claim(const Manifest& manifest, const LogTerm& term) override {
    // Makes the stream, too.
    const auto appender = open_replicated_appender(
        {.log = options(manifest), .term = term, .replicas = remote_.replicas, .silence = remote_.silence});
    return appender.ok() ? Result<void>() : appender.error();
  }

  Result<void> bring(const Manifest& manifest, const std::vector<SegmentEntry>& missing,
                     const std::string& folder, const std::optional<LogTerm>& term) override {
    auto log = open_replicated_claimant(options(manifest));
    if (!log.ok()) return log.error();
    const auto end = term ? (*log)->begin_term(*term) : (*log)->end();
    if (!end.ok()) return end.error();
    const auto begin = begin_of(**log, manifest, missing);
    if (!begin.ok()) return begin.error();
    const uint32_t incarnation = missing.front().incarnation;
    Incoming incoming(manifest, missing, folder);
    for (uint64_t at = *begin; at < *end;) {
      const auto pieces = (*log)->read(at, kReadPatience);
      if (!pieces.ok()) return pieces.error();
      if (pieces->empty()) {
        return failed(
            "the servers {} don't give the message {} of the stream {}: start those that are missing and try "
            "again; nothing was changed",
            remote_.servers, at, options(manifest).stream);
      }
      for (const ReplicatedPiece& piece : *pieces) {
        if (piece.position >= *end) break;
        if (piece.bytes.empty() || piece.term < incarnation) continue;
        if (piece.term > incarnation) return older_than_log();
        RETURN_IF_ERROR(incoming.take(piece));
      }
      at = pieces->back().position + 1;
    }
    return incoming.finish();
  }

 private:
  ReplicatedLogOptions options(const Manifest& manifest) const {
    return replicated_log_options(kind_, remote_, manifest.database_id);
  }

  // Where the missing segments' first message may stand, if the stream is still the one that the manifest
  // speaks of.
  Result<uint64_t> begin_of(ReplicatedReader& log, const Manifest& manifest,
                            const std::vector<SegmentEntry>& missing) {
    const std::string text = attribute_of(manifest, kLogBeginAttribute);
    uint64_t begin = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), begin).ptr != text.data() + text.size() ||
        text.empty()) {
      return damaged("the manifest says that the log begins at \"{}\" in the stream {}", text,
                     remote_.stream);
    }
    const auto first = log.first();
    if (!first.ok()) return first.error();
    const auto end = log.end();
    if (!end.ok()) return end.error();
    if (*end <= begin)
      return lost(options(manifest), fmt::format("nothing is left of what began at message {}", begin));
    if (*first > begin) return *first;
    const auto pieces = log.read(begin, kReadPatience);
    if (!pieces.ok()) return pieces.error();
    if (pieces->empty()) {
      return failed(
          "the servers {} don't give the message {} of the stream {}: start those that are missing and try "
          "again; "
          "nothing was changed",
          remote_.servers, begin, remote_.stream);
    }
    const ReplicatedPiece& piece = pieces->front();
    if (piece.position != begin || !piece.bytes.empty() || piece.term != missing.front().incarnation) {
      return lost(options(manifest), fmt::format("message {} is another", begin));
    }
    return begin;
  }

  const LogDeviceKind kind_;
  const RemoteLogOptions remote_;
};

}  // namespace

Result<std::unique_ptr<RemoteHolder>> make_replicated_holder(LogDeviceKind kind,
                                                             const RemoteLogOptions& remote) {
  return std::unique_ptr<RemoteHolder>(std::make_unique<ReplicatedHolder>(kind, remote));
}

}  // namespace mneme
