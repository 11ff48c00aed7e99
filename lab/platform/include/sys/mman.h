// Stands in for Linux's mmap: memory comes from the heap (source/huge_pages.cc), and advice is not taken.
#pragma once

#include <cstddef>

#define MADV_HUGEPAGE 14
#define MADV_NOHUGEPAGE 15
inline int madvise(void*, size_t, int) {
  return 0;
}
