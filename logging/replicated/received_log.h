// Received log: the log of another engine as a standby keeps it: segment files of its own, made of the pieces
// that come out of a replicated log, and the records that those add.
//
// Flow        read_log() of what the directory holds -> ReceivedLog -> take(piece) ... -> whole records ->
//             take(piece) ...
// Invariants  what is in the directory, whenever the process or the machine ends, is a log like any other:
//             blocks are written in their order, where they lay, and say of themselves what was durable
//             *here* before they were written. Before a segment is listed, or a term's incarnation noted, all
//             before is durable. records come out once, in commit order, none below the checkpoint, and only
//             whole ones: the begin of one waits for the rest. A term goes on where the whole records before
//             it end; what was left of a torn one is dropped. pieces that the directory holds already are
//             passed over, so one may begin at any piece before its end. From which on they are needed is
//             noted with each segment (kReceivedFromAttribute).
// Checked     every block's checksums and place, every record's, the header page's database and catalog; that
//             nothing is missing.
// Memory      the records of the pieces since take_records().
// Threads     one; sync() and durable(): any.
// Errors      kDamaged: bytes that are not what an engine writes, another database's, or missing ones: the
//             standby can't go on with what it has. kFailed: the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/manifest.h"
#include "logging/record/block_format.h"
#include "logging/record/log_contents.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

// An attribute of a standby's manifest: the position of the piece by which its newest segment began.
inline constexpr const char* kReceivedFromAttribute = "received_from";

struct ReceivedRecords {
  std::vector<std::byte> bytes;
  std::vector<RecordView> records;  // point into `bytes`; without skips
  Lsn end;                          // where the next record will stand
};

class ReceivedLog {
 public:
  // `held`: what read_log() found with the manifest as it is now. No engine works on the directory.
  static Result<std::unique_ptr<ReceivedLog>> open(ManifestFile& manifest, const LogContents& held);

  Result<void> take(const ReplicatedPiece& piece);
  // Those that are whole since the last call.
  Result<ReceivedRecords> take_records();

  // Makes all that was taken durable.
  Result<void> sync();
  // Below it all is.
  Lsn durable() const;
  // The highest of which a piece has come, also one that begins it; 0: none.
  uint64_t newest_term() const { return newest_term_; }

 private:
  struct Segment {
    File file;
    uint32_t number = 0;
    uint32_t term = 0;
  };

  ReceivedLog(ManifestFile& manifest, const LogContents& held);
  Result<void> check_header_page(const ReplicatedPiece& piece) const;
  Result<BlockHeader> check_block(const ReplicatedPiece& piece, size_t at) const;
  // False: the directory has it, or it is not part of the log.
  Result<bool> is_new(const ReplicatedPiece& piece, const BlockHeader& block) const;
  bool knows(uint64_t term) const;
  // Where the log of a term that is known ends, as the next one begins there.
  StreamPosition end_of(uint64_t term) const;
  StreamPosition end_of_whole() const;
  Result<void> enter_segment(const ReplicatedPiece& piece, const BlockHeader& first);
  Result<void> list_segment(const ReplicatedPiece& piece, StreamPosition begin);
  Result<void> check_unused(const SegmentEntry& entry, StreamPosition begin) const;
  void add(const BlockHeader& header, ByteSpan block);
  Result<void> write_added(uint64_t offset);

  ManifestFile& manifest_;
  const std::string directory_;
  const StreamPosition from_;  // the checkpoint's: records below are not wanted

  std::vector<Incarnation> incarnations_;  // the manifest's
  uint64_t newest_term_ = 0;
  std::optional<StreamPosition> end_;  // of the last block; nothing: none has come
  std::vector<std::byte> bytes_;       // of the log, up to end_: what take_records() has not given
  StreamPosition bytes_begin_;
  std::vector<std::byte> added_;  // blocks on their way to the file

  mutable std::mutex mutex_;                // guards those below
  std::shared_ptr<const Segment> segment_;  // that is being written
  StreamPosition written_;
  StreamPosition durable_;
};

}  // namespace mneme
