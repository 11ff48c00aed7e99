// CommandSource: where replay gets the logged calls from: the log, or in tests a vector.
//
// Invariants  records come in commit order, each once; skip records are left out.
// Threads     one reader at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/result.h"
#include "logging/lsn.h"

namespace mneme {

struct CommandRecord {
  Lsn lsn;
  ByteSpan payload;  // procedures/call_codec.h
};

class CommandSource {
 public:
  virtual ~CommandSource() = default;

  // Appends the next records to `into`: `limit` of them, or fewer where the log ends. Payloads live as long as what
  // `arena` holds, or as the source.
  virtual Result<void> read(uint32_t limit, Arena& arena, std::vector<CommandRecord>& into) = 0;
};

}  // namespace mneme
