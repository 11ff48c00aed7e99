#include "logging/device/inline_queue.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace mneme {

IoCompletion run_chain(const IoChain& chain) {
  const iovec bytes{const_cast<std::byte*>(chain.bytes.data()), chain.bytes.size()};
  ssize_t written;
  do {
    written = ::pwritev2(chain.file, &bytes, 1, static_cast<off_t>(chain.offset),
                         chain.durability == IoChain::Durability::kWriteThrough ? RWF_DSYNC : 0);
  } while (written < 0 && errno == EINTR);
  if (written < 0) return {chain.tag, IoCompletion::Failure::kWrite, errno};
  if (static_cast<size_t>(written) < chain.bytes.size())
    return {chain.tag, IoCompletion::Failure::kShortWrite, 0};
  if (chain.durability == IoChain::Durability::kSync && ::fdatasync(chain.file) != 0)
    return {chain.tag, IoCompletion::Failure::kSync, errno};
  return {chain.tag, IoCompletion::Failure::kNone, 0};
}

}  // namespace mneme
