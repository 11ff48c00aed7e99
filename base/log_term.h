// LogTerm: which engine may write a database's log where others may try to: on log servers, and in a
// replicated log. Terms are Paxos' and Raft's.
#pragma once

#include <cstdint>

namespace mneme {

// The number is that of the database's incarnation. The owner, drawn at random by the engine that claims the
// term, sets apart two engines that claim the same number.
struct LogTerm {
  uint32_t number = 0;
  uint64_t owner = 0;

  bool operator==(const LogTerm&) const = default;
};

}  // namespace mneme
