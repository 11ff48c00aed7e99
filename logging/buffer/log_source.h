// LogSource: whole records, one after the other, that a device takes its bytes from: a log buffer, or a
// logger's.
//
// Threads  the flusher's, or the logger's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "logging/record/stream_position.h"

namespace mneme {

class LogSource {
 public:
  virtual ~LogSource() = default;

  virtual void read(StreamPosition at, std::span<std::byte> into) const = 0;
  // The value that the blocks' headers hold for epochs (block_format.h); 0 where there are none.
  virtual uint32_t persisted_epochs() const { return 0; }
};

}  // namespace mneme
