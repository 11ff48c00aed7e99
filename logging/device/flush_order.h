// FlushOrder: which flushes are in flight, and up to where the log is durable by those that have ended.
//
// Flow        has_room() -> send() gives the flush a slot -> ... -> ended(): the slot is free again, and
//             durable() may have risen
// Invariants  flushes are sent in log order and end in any order. durable() is the end of the longest run of
//             flushes, from the first one on, that have all ended well; it never falls. A slot belongs to one
//             flush at a time, until that has ended.
// Errors      after a flush that ended badly, or fail(), durable() rises no more, and there is no room: it is
//             unknown what the medium holds of that flush, and behind a gap recovery reads nothing.
// Threads     one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "logging/record/stream_position.h"

namespace mneme {

class FlushOrder {
 public:
  // The log is durable up to `begin`. At most `slots` flushes are in flight.
  FlushOrder(StreamPosition begin, uint32_t slots);

  // Whether send() may be called: a slot is free, and nothing has failed.
  bool has_room() const;
  // Notes a flush of what lies between the last one's end and `end`. Returns its slot.
  uint32_t send(StreamPosition end);
  // Notes that the flush in this slot has ended. is_good: its bytes are on the medium, all of them.
  void ended(uint32_t slot, bool is_good);
  // Notes that no flush can be relied on any more.
  void fail() { has_failed_ = true; }

  bool has_failed() const { return has_failed_; }
  StreamPosition durable() const { return durable_; }

 private:
  struct Flush {
    uint32_t slot;
    StreamPosition end;
    bool has_ended = false;  // well
  };

  std::vector<uint32_t> free_slots_;
  std::deque<Flush> flushes_;  // in log order: the first has not ended
  StreamPosition durable_;
  bool has_failed_ = false;
};

}  // namespace mneme
