// A replicated log: messages in one order, kept by several servers that are not ours (NATS JetStream,
// Kafka), for a log that outlives the engine's machine, and for a standby that follows it.
//
// Flow        engine: open_replicated_appender() with its term -> append() ... wait() -> so many are
//             acknowledged recovery, standby: open_replicated_reader() -> read(position) ... -> fence(term),
//             to take the log over
// A message   is what one flush wrote of one segment (replicated_message.h), or, without bytes, the begin of
//             a term. A segment's pieces come in order and without a gap, its first one with the header page.
//             After a lost connection nothing stands there twice.
// Position    of a message: rises from one to the next. Positions need not be dense, and mean nothing else.
// Terms       are incarnations (docs/log_format.md). Once a term has begun no engine with a lower one can
//             append.
// Threads     one at a time; wake(): any.
// Errors      kInvalidArgument: these servers can't hold such a log. kFailed: they don't answer, or a later
//             term has begun. kDamaged: what was there is not there any more, or is not what was written.
// Source      Ebenstein, SepLog: a commit that waits for memories; its section 7 asks for a replicated one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "logging/device/log_device_kind.h"
#include "logging/device/remote_holder.h"
#include "logging/device/remote_options.h"
#include "logging/replicated/replicated_message.h"

namespace mneme {

enum class ReplicatedLogKind : uint8_t { kNats, kKafka };
// "nats", "kafka".
const char* name_of(ReplicatedLogKind kind);

struct ReplicatedLogOptions {
  ReplicatedLogKind kind = ReplicatedLogKind::kNats;
  std::string servers{};     // HOST:PORT or, of NATS, nats://HOST:PORT, with commas between several
  std::string stream{};      // its name there: a stream of JetStream's, a topic
  std::string key_file{};    // who the engine is to them (server_access.h); empty: nobody in particular
  uint64_t database_id = 0;  // whose log it is: messages of another one are damage. 0: any database's
  // So long for what takes one answer: NATS' servers choose a new leader after up to nine seconds, and again
  // where two of them have the same vote. read() has its own limit.
  std::chrono::milliseconds patience{20'000};
};

// The RemoteHolder of such a log.
Result<std::unique_ptr<RemoteHolder>> make_replicated_holder(LogDeviceKind kind,
                                                             const RemoteLogOptions& remote);

// As the options and the manifest name it: for what, of a database, is written to or read from there.
ReplicatedLogOptions replicated_log_options(LogDeviceKind kind, const RemoteLogOptions& remote,
                                            uint64_t database_id);

// The bytes that were written at once of a segment file, or the begin of a term.
struct ReplicatedPiece {
  uint64_t position = 0;
  uint64_t term = 0;
  uint32_t segment = 0;
  uint64_t offset = 0;           // in the segment file, whose header page is part of its first piece
  std::vector<std::byte> bytes;  // empty: a term begins
};

class ReplicatedReader {
 public:
  virtual ~ReplicatedReader() = default;

  // The pieces from `position` on, in order: at least one, unless the time is over. kDamaged: dropped
  // already, or fails its checksum.
  virtual Result<std::vector<ReplicatedPiece>> read(uint64_t position, std::chrono::milliseconds limit) = 0;
  // Positions of the oldest message that is still there (end(): there is none), and behind the newest.
  virtual Result<uint64_t> first() = 0;
  virtual Result<uint64_t> end() = 0;
  // No engine with a lower or equal term can append any more. Returns the position behind all that they
  // appended, which is that of the message by which the term begins. kFailed: such a term has begun.
  virtual Result<uint64_t> fence(uint64_t term) = 0;
};

// The stream must be there.
Result<std::unique_ptr<ReplicatedReader>> open_replicated_reader(const ReplicatedLogOptions& options);

struct NewestMessage {
  uint64_t position = 0;
  ReplicatedHeader header;
};

// A reader for an engine that takes the log over.
class ReplicatedClaimant : public ReplicatedReader {
 public:
  // Returns nullopt if there is none.
  virtual Result<std::optional<NewestMessage>> newest() = 0;
  // As fence(), by this owner, which may append then. Where its term has begun, and nothing came since, the
  // same position is returned again.
  virtual Result<uint64_t> begin_term(const LogTerm& term) = 0;
  Result<uint64_t> fence(uint64_t term) override;
};

// The stream must be there.
Result<std::unique_ptr<ReplicatedClaimant>> open_replicated_claimant(const ReplicatedLogOptions& options);

// The one that writes the log.
class ReplicatedAppender {
 public:
  virtual ~ReplicatedAppender() = default;

  // Sends a piece after those before, without waiting. Its bytes stay in place until it is acknowledged.
  virtual void append(uint32_t segment, uint64_t offset, ByteSpan bytes) = 0;
  // Waits until one more is acknowledged, wake() is called, or the time is over. Returns how many are, of
  // those appended here.
  virtual uint64_t wait(std::chrono::nanoseconds limit) = 0;
  // Ends the current or the next wait().
  virtual void wake() = 0;
  // The first so many of those appended here, and all before them, are needed no more. Done some time, or
  // left to the servers.
  virtual void drop(uint64_t appended) = 0;
  // Why nothing is acknowledged any more.
  virtual std::optional<Error> failure() const = 0;
  // Whether it is that a later term has begun: what is here and not there is not part of the log.
  virtual bool is_deposed() const = 0;

  // Where the term begins.
  virtual uint64_t begin() const = 0;
  // The largest piece.
  virtual size_t most_bytes() const = 0;
};

struct ReplicatedAppenderOptions {
  ReplicatedLogOptions log;
  LogTerm term;           // its owner not 0
  uint32_t replicas = 3;  // of the stream, which is made unless it is there
  // So long without an acknowledgement, and the log has failed.
  std::chrono::milliseconds silence{30'000};
};

// Makes the stream where it is missing, and begins the term, unless its owner has. kFailed: a later one has
// begun.
Result<std::unique_ptr<ReplicatedAppender>> open_replicated_appender(
    const ReplicatedAppenderOptions& options);

// Whether such a log could be made, or is there and could be written to. Its newest message, if it has one.
Result<std::optional<NewestMessage>> check_replicated_log(const ReplicatedLogOptions& options,
                                                          uint32_t replicas);

}  // namespace mneme
