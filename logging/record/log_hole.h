// LogHole: a part of the log that a crash left without records, among ones that survived it (nvm_log.h).
#pragma once

#include "logging/record/stream_position.h"

namespace mneme {

struct LogHole {
  StreamPosition begin;
  StreamPosition end;

  uint64_t bytes() const { return end.value - begin.value; }
  bool operator==(const LogHole&) const = default;
};

}  // namespace mneme
