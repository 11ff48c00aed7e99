// FifoQueue: a queue that keeps its memory, so that in the steady state it allocates nothing (a std::deque
// does).
//
// Threads     one owner.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace mneme {

template <typename T>
class FifoQueue {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T& front() {
    DCHECK(size_ > 0);
    return items_[head_];
  }
  // The i-th from the front.
  const T& operator[](size_t i) const {
    DCHECK(i < size_);
    return items_[(head_ + i) & (items_.size() - 1)];
  }
  void pop() {
    DCHECK(size_ > 0);
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
  }
  // The next `count` pushes allocate nothing.
  void make_room(size_t count) {
    while (size_ + count > items_.size()) grow();
  }
  void push(T item) {
    if (size_ == items_.size()) grow();
    items_[(head_ + size_) & (items_.size() - 1)] = std::move(item);
    ++size_;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 16 : 2 * items_.size());
    for (size_t i = 0; i < size_; ++i) larger[i] = std::move(items_[(head_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;  // a ring; its size is a power of two, or nothing
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace mneme
