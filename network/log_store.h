// LogStore: one database's log in a server's memory: files that are written at any place and read back.
//
// Flow        log_server.h: messages -> claim, create, write, read, close; saved_log.h: to and from disk
// Invariants  the term never falls, and has one owner. Only the owner of the term creates, writes and closes.
//             Bytes of a file that were never written are zeros. A file of an older term gives way to one of
//             the same number. `whole_term` names the term whose log is here from its first byte on, as its
//             owner said; 0 once that was forgotten: a log that lost something never passes for whole.
// Threads     one owner. Pure memory: no disk, no network.
// Errors      a refusal, which the server sends to the client, where the client may not do it or asks in
//             vain.
// Source      SepLog, section 5.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "network/log_protocol.h"

namespace mneme {

// Memory that is zero and takes room only where it was written.
class ZeroedMemory {
 public:
  // Not open where the system has none left.
  explicit ZeroedMemory(size_t bytes);
  ZeroedMemory(ZeroedMemory&& other) noexcept;
  ZeroedMemory& operator=(ZeroedMemory&&) = delete;
  ~ZeroedMemory();

  bool is_open() const { return memory_ != nullptr; }
  std::span<std::byte> span() const { return {memory_, bytes_}; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

class LogStore {
 public:
  using Refusal = std::optional<RefusedMessage>;

  struct File {
    uint32_t term;
    ZeroedMemory memory;
    uint64_t end = 0;  // behind the last byte that was ever written

    ByteSpan written() const { return ByteSpan(memory.span()).first(end); }
  };

  const LogTerm& term() const { return term_; }
  uint32_t whole_term() const { return whole_term_; }
  const std::map<uint32_t, File>& files() const { return files_; }
  uint64_t bytes() const { return bytes_; }
  FilesMessage list() const;

  // Makes the term the highest, and its owner the only writer. An older one, or another owner's, is
  // refused.
  Refusal claim(const LogTerm& term);
  // `most_bytes`: that all files together may take. One that is there already, of the same term and size,
  // stays as it is.
  Refusal create(const LogTerm& by, const CreateMessage& create, uint64_t most_bytes);
  Refusal write(const LogTerm& by, const WriteMessage& write);
  Refusal close(const LogTerm& by, const CloseMessage& close);
  // Frees all files, in none of which there is a byte.
  void drop_unwritten();
  // Whether anything was ever written into the files that are there.
  bool has_content() const;
  // The owner says that the log of its term is here, whole.
  Refusal set_whole(const LogTerm& by);
  // Whether it is still the only writer.
  Refusal check_owner(const LogTerm& by) const;
  // The bytes there; fewer where the file ends.
  std::optional<ByteSpan> read(const ReadMessage& read) const;

  // Restores a store that is read from disk.
  void restore(const LogTerm& term, uint32_t whole_term);
  // One that is not there yet. Nothing: there is no memory for it.
  File* restore_file(const LogFileInfo& info);

 private:
  LogTerm term_;
  uint32_t whole_term_ = 0;
  std::map<uint32_t, File> files_;  // by number
  uint64_t bytes_ = 0;              // of all files
};

}  // namespace mneme
