// LocalSocket: a Unix socket that listens, and connections to one: for this machine's own use, where the
// kernel reports the peer's user.
//
// File        the socket's file has mode 0600 from its beginning on. It lies in a directory that the user
//             owns and no other user can write; it is made and removed through that directory, held open, so
//             that no link of another user's is followed.
// Left behind a server that was killed leaves its socket's file. The next one removes it, while it holds the
// lock NAME.lock beside it:
//             of two that begin at once one is refused, and a server's file that lives is never taken away. A
//             file that is no socket stays.
// Threads     any.
// Waiting     connect_local(), no longer than `patience`, for a server whose queue is full.
// Errors      a sentence with the path.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace mneme {

// Returns the user that runs the process at the other end of a Unix socket; nullopt if the system does not
// report it.
std::optional<uid_t> peer_user(int descriptor);

// Refuses a directory that another user owns, or that others than its owner can write.
Result<void> check_directory_is_own(const std::string& directory, int descriptor);

class LocalSocket {
 public:
  LocalSocket() = default;
  static Result<LocalSocket> listen(const std::string& path);
  LocalSocket(LocalSocket&& other) noexcept;
  LocalSocket& operator=(LocalSocket&& other) noexcept;
  // Removes the socket's file, if it is there yet.
  ~LocalSocket();

  // The listening socket: the caller's from here on.
  int take_descriptor();

 private:
  File directory_;
  File lock_;
  std::string name_;
  int descriptor_ = -1;
  ino_t file_ = 0;  // the socket's
};

// A connected socket. A server is trusted with a log if this process's own user or root runs it; by root also
// if it is run by the owner of the directory that its socket lies in.
Result<int> connect_local(const std::string& path, std::chrono::milliseconds patience);

}  // namespace mneme
