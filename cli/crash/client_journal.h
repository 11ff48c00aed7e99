// ClientJournal: what a client knows: every call that it sent, and what it was told of it. Kept outside the
// database's process, so that it can bear witness after that process was killed.
//
// Invariants  a call is journalled before its first byte is sent, and answered at most once.
// Threads     one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "cli/crash/call_channel.h"
#include "logging/record/lsn.h"

namespace mneme {

struct JournalledCall {
  std::vector<std::byte> payload;  // as its command record must hold it
  bool answered = false;
  ReplyStatus status = ReplyStatus::kAcknowledged;  // where answered
  Lsn lsn;                                          // of an acknowledged call's record
  std::vector<std::byte> results;                   // of its INOUT parameters
};

using ClientJournal = std::vector<JournalledCall>;

}  // namespace mneme
