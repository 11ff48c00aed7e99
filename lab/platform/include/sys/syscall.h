// Stands in for Linux's system calls. With one thread nobody waits for a wake-up, and nobody could send one.
#pragma once

#include <linux/futex.h>

#include <cstdio>
#include <cstdlib>

#define SYS_futex 202
#define SYS_gettid 186
#define SYS_membarrier 324

template <typename... Arguments>
long syscall(long number, void*, int operation, Arguments...) {
  if (number == SYS_futex && operation == FUTEX_WAKE_PRIVATE) return 0;
  std::fputs("the laboratory has one thread, and it waits for another\n", stderr);
  std::abort();
}
template <typename... Arguments>
long syscall(long, Arguments...) {
  std::abort();
}
