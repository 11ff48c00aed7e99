// LogHole: a part of the log that a crash left without records, among ones that survived it (nvm_log.h).
#pragma once

#include "logging/record/lsn.h"

namespace mneme {

struct LogHole {
  Lsn begin;
  Lsn end;

  uint64_t bytes() const { return end.value - begin.value; }
  bool operator==(const LogHole&) const = default;
};

}  // namespace mneme
