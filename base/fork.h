// Fork: what a child that fork() has made does with what its parent had open. Threads don't live on in it, so
// there is nothing that it could finish, and what it did to files its parent would do as well.
//
// Threads     any.
// Not here    children that are made by clone() or vfork() alone: no handler runs in them. Those that go on
//             to exec() have nothing of it.
#pragma once

#include <cstdint>

namespace mneme {

// The process that this one is: another number in each child of fork(), and before it.
uint64_t this_process();

// A descriptor that a child closes as the first thing it does: a lock that a process has must not live on in
// its children.
class ClosedInChild {
 public:
  explicit ClosedInChild(int descriptor);
  ~ClosedInChild();
  ClosedInChild(const ClosedInChild&) = delete;
  ClosedInChild& operator=(const ClosedInChild&) = delete;

  // Whether this is a child, in which the descriptor's number is another file's, or no one's.
  bool is_closed() const { return process_ != this_process(); }

 private:
  const int descriptor_;
  const uint64_t process_;
};

}  // namespace mneme
