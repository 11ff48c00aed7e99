// FlusherObserver: each flusher of a distributed log calls it before it acts, and once it is further
// (stream_horizon.h).
//
// Threads  the flusher's.
#pragma once

#include "logging/record/stream_position.h"

namespace mneme {

class FlusherObserver {
 public:
  virtual ~FlusherObserver() = default;

  // It looks into its buffer next: what is published by now goes out with its next flush, at the latest.
  virtual void gathers() = 0;
  virtual void rose(StreamPosition durable) = 0;
  // It has nothing to do. False: it should look again soon.
  virtual bool may_sleep() = 0;
  virtual void failed() = 0;
};

}  // namespace mneme
