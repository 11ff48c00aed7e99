// File: an open file, and the few durable steps that a database takes with files and directories.
//
// Owners   What a database writes belongs to its owner alone: files have mode 0600, whatever the umask. No
//          link is followed, and no other user's file used, where something is written: in a directory that
//          other users could once write to, they may have left both. What is read of another user's directory
//          belongs to that user, so that a link there leads to nothing else.
// Errors   every one is a sentence with the path and the system's reason, kFailed; kDamaged where a link, a
//          pipe or the like has a file's name.
// Threads  read_at, write_at and the syncs: any thread at once. The rest: one owner.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes.h"
#include "base/fork.h"
#include "base/result.h"

namespace mneme {

// The system's reason, with what to do about it in brackets where that is known.
std::string reason_text(int error_number);
// "cannot WHAT PATH: REASON".
Error file_error(std::string_view what, const std::string& path, int error_number);

// The same open file under a number past those of the standard streams; -1 stays. The process's parent may
// have closed some of those, and the system gives their numbers to the next files: what anybody prints would
// be written there.
int keep_off_standard_streams(int descriptor);

class File {
 public:
  File() = default;
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  // O_CLOEXEC is added to `flags`. For what the user names, or what the system has: links are followed.
  // No descriptor of a File is one of the standard streams' numbers.
  static Result<File> open(const std::string& path, int flags, mode_t mode = 0600);
  // A new file of the effective user's, for writing. One that has the name already, or a link, loses it and
  // stays as it is.
  static Result<File> make(const std::string& path, int flags = O_RDWR);
  // A file of the effective user's, for writing; with O_CREAT it is made if it is not there. Other users lose
  // their access to it. Fails for a link, for anything but a regular file, and for another user's.
  static Result<File> open_own(const std::string& path, int flags);
  // As open_own(), for a file whose content is to be overwritten: where it has a second name, that one keeps
  // the content.
  static Result<File> open_alone(const std::string& path, int flags);
  // A file of a data directory, or, where `file` is an absolute path, one outside of it, for reading. Fails
  // for anything but a regular file, for a link in another user's directory, and for a file of a user other
  // than the directory's owner: a file outside may belong to anyone. In the effective user's own directory
  // files of root are read as well.
  static Result<File> open_in(const std::string& directory, const std::string& file);
  // A second descriptor of the same open file; not open if the system has none left.
  static File duplicate(int descriptor);
  // Takes the descriptor over; errors name `path`.
  static File adopt(int descriptor, std::string path) { return File(descriptor, std::move(path)); }

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
  // The file has another name now, which errors have from here on.
  void renamed_to(std::string path) { path_ = std::move(path); }
  // As a file that any program makes: other users may do with it what the process's umask admits.
  Result<void> open_by_umask() const;
  // A lock on the file ends when this File is closed, or its process dies: close() unlocks it, and a child of
  // fork() closes it (fork.h).
  void close_in_child() { in_child_ = std::make_unique<ClosedInChild>(descriptor_); }
  void close();

 private:
  File(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

  int descriptor_ = -1;
  std::string path_;
  std::unique_ptr<ClosedInChild> in_child_;
};

// Where a file that `directory` or its manifest names lies.
std::string path_in(const std::string& directory, const std::string& file);

// "NAME (UID)", or the number alone.
std::string user_text(uid_t user);

Result<std::string> read_text_file(const std::string& path);
// By File::open_in().
Result<std::string> read_text_in(const std::string& directory, const std::string& file);

// The readers of a file that is replaced: its owner alone, or, for output that the user asked for (a report,
// say), all that the umask admits.
enum class Readers { kOwner, kByUmask };

// Replaces the file's content, so that a crash leaves the old content or the new, never a mixture: written
// under a temporary name, synced, renamed, and the directory synced.
Result<void> replace_text_file(const std::string& path, std::string_view text,
                               Readers readers = Readers::kOwner);

// Copies a file of `directory` (File::open_in()) into a new one, which belongs to the effective user alone,
// and syncs it.
Result<void> copy_file_in(const std::string& directory, const std::string& file, const std::string& to);

}  // namespace mneme
