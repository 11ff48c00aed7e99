#include "logging/directory/loaded_segment.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace mneme {

Result<void> wait_until_quiet(const File& file, std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(file.descriptor(), LOCK_SH | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return file_error("lock", file.path(), errno);
    if (std::chrono::steady_clock::now() > deadline) {
      return failed("{} is being written by another process: wait for it to end, or stop it", file.path());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return {};
}

}  // namespace mneme
