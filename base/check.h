// Assertions: a failed one is a bug in this program. It prints the file and the line, and aborts.
//
// CHECK       always on.
// DCHECK      debug builds only, for hot paths.
// Not here    a full disk, bad bytes or bad arguments are no bugs: report those as a Result (base/result.h).
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
