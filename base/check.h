// Assertions: a mistake of ours stops the program at once, with file and line.
//
// CHECK   always on.  DCHECK  debug builds only, for hot paths.
// Not here: what the world does to us (disk full, bad bytes, bad arguments) is a Result, see base/result.h.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace mneme {

[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: CHECK failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace mneme

#define CHECK(condition)                             \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? (void)0                                     \
       : ::mneme::check_failed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define DCHECK(condition) (true ? (void)0 : (void)(condition))
#else
#define DCHECK(condition) CHECK(condition)
#endif
