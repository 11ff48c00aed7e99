// The log server's protocol: the messages of SepLog (section 5) between an engine and `mneme logd`, and their
// bytes. docs/remote_log.md says what each one promises.
//
//     engine to server    HELLO first; then CREATE, CLOSE, READ, WRITE, FLUSH, LIST, SHUTDOWN
//     server to engine    WELCOME; CONTENT, FLUSHED, FILES, SAVED as answers; REFUSED, after which it hangs
//                         up
//
// Invariants  what is sent on one connection is done in order: a FLUSHED speaks for every WRITE before its
//             FLUSH. decode() takes any bytes, and gives a message only if they are one to the last byte.
// Threads     plain data, pure functions.
// Errors      bytes that are no message: a sentence. HELLO of another version decodes: its version is there
//             to be told.
// Source      Ebenstein, SepLog, section 5: the six calls. LIST is ours: recovery has to find the longest
//             log.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/log_term.h"
#include "base/result.h"
#include "network/frame.h"

namespace mneme {

inline constexpr uint32_t kLogProtocolVersion = 1;
// The bound on the content of one WRITE or CONTENT.
inline constexpr size_t kMostContentBytes = size_t{256} << 10;

enum class LogRole : uint8_t {
  kReader,    // reads, and changes nothing
  kClaimant,  // raises the term, so that no engine of an older one writes any more
  kWriter,    // the engine: raises the term and writes; when its connection ends, the server saves the log
};

struct HelloMessage {
  uint32_t version = kLogProtocolVersion;
  uint64_t database_id = 0;
  LogTerm term;
  LogRole role = LogRole::kReader;
};
struct CreateMessage {
  uint32_t file = 0;
  uint64_t bytes = 0;
};
struct CloseMessage {
  uint32_t file = 0;
};
struct ReadMessage {
  uint32_t file = 0;
  uint64_t offset = 0;
  uint32_t bytes = 0;
};
struct WriteMessage {
  uint32_t file = 0;
  uint64_t offset = 0;
  ByteSpan bytes;
};
struct FlushMessage {
  uint64_t sequence = 0;
  bool is_whole = false;  // the server now holds all that was ever written in this term
};
struct ListMessage {};
struct ShutdownMessage {};

struct WelcomeMessage {
  uint32_t version = kLogProtocolVersion;
  LogTerm term;         // the highest that the server knows of this database
  uint64_t server = 0;  // drawn when the server's process began: tells one server under two names from two
};
struct ContentMessage {
  uint32_t file = 0;
  uint64_t offset = 0;
  ByteSpan bytes;
};
struct FlushedMessage {
  uint64_t sequence = 0;
};
struct LogFileInfo {
  uint32_t number = 0;
  uint32_t term = 0;   // of its creation
  uint64_t bytes = 0;  // its size
  uint64_t end = 0;    // behind the last byte that was ever written

  bool operator==(const LogFileInfo&) const = default;
};
struct FilesMessage {
  // The term whose log the server holds whole; 0: none, since it has forgotten, or was never given all.
  uint32_t whole_term = 0;
  std::vector<LogFileInfo> files;
};
struct SavedMessage {};
struct RefusedMessage {
  enum class Reason : uint8_t { kNoMessage, kVersion, kOlderTerm, kNotAllowed, kNoMemory, kNoSuchFile };
  Reason reason = Reason::kNoMessage;
  std::string text;
};

using LogMessage = std::variant<HelloMessage, CreateMessage, CloseMessage, ReadMessage, WriteMessage,
                                FlushMessage, ListMessage, ShutdownMessage, WelcomeMessage, ContentMessage,
                                FlushedMessage, FilesMessage, SavedMessage, RefusedMessage>;

// Appends the message as a frame.
void append_message(std::vector<std::byte>& to, const LogMessage& message);
// Bytes in the message point into the frame's payload.
Result<LogMessage> decode_message(const Frame& frame);

}  // namespace mneme
