// SeatPool: the database's connections that sessions run on, lent one at a time.
//
// Threads  any.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "embedding/embedded_database.h"

namespace mneme {

class SeatPool {
 public:
  void add(std::unique_ptr<Connection> seat) { free_.push_back(std::move(seat)); }
  std::unique_ptr<Connection> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return nullptr;
    std::unique_ptr<Connection> seat = std::move(free_.back());
    free_.pop_back();
    return seat;
  }
  void give_back(std::unique_ptr<Connection> seat) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(seat));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> free_;  // guarded by mutex_; the one that was used last is next
};

}  // namespace mneme
