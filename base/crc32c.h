// CRC32C (Castagnoli), by ISA-L. Chainable: crc32c(b, crc32c(a)) == crc32c(a + b).
//
// Upper halves   ISA-L's routines for AVX leave the upper halves of vector registers in use. On Intel's
//                processors every SSE instruction of the thread then takes them along, and so do threads that
//                it starts later, which makes all of them slower (docs/performance.md, "Whole runs"). They
//                are cleared after each call.
#pragma once

#include <isa-l/crc.h>

#include <cstdint>

#include "base/bytes.h"

namespace mneme {

inline uint32_t crc32c(ByteSpan bytes, uint32_t seed = 0) {
  // ISA-L takes and returns the raw register; the standard form inverts it on both sides.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  const uint32_t sum = ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~seed);
#if defined(__x86_64__)
  // No register's value is lost: the call before may have changed them all.
  if (__builtin_cpu_supports("avx")) asm volatile("vzeroupper");
#endif
  return sum;
}

}  // namespace mneme
