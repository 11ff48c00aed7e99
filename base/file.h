// File: an open file, and the few durable steps that a database takes with files and directories.
//
// Errors   every one is a sentence with the path and the system's reason, kFailed.
// Threads  read_at, write_at and the syncs: any thread at once. The rest: one owner.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

namespace mneme {

// The system's reason, with what to do about it in brackets where that is known.
std::string reason_text(int error_number);
// "cannot WHAT PATH: REASON".
Error file_error(std::string_view what, const std::string& path, int error_number);

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // O_CLOEXEC is added to `flags`.
  static Result<File> open(const std::string& path, int flags, mode_t mode = 0644);
  // A second descriptor of the same open file; not open if the system has none left.
  static File duplicate(int descriptor);

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  const std::string& path() const { return path_; }

  // Reads until `into` is full or the file ends; returns the bytes read.
  Result<size_t> read_at(std::span<std::byte> into, uint64_t offset) const;
  Result<void> write_at(ByteSpan bytes, uint64_t offset) const;
  // Data and what is needed to find it again (fdatasync).
  Result<void> sync_data() const;
  Result<uint64_t> size() const;
  // No directory names it any more: what is written to it ends with the process. False where it is not open.
  bool is_removed() const;
  void close();

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
};

Result<std::string> read_text_file(const std::string& path);

// Replaces the file's content, so that a crash leaves the old content or the new, never a mixture: written under a
// temporary name, synced, renamed, and the directory synced.
Result<void> replace_text_file(const std::string& path, std::string_view text);

}  // namespace mneme
