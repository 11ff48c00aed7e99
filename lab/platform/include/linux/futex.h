// Stands in for Linux's futex: with one thread a wait that is not over at once would never end
// (sys/syscall.h).
#pragma once
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
