// CRC32C (Castagnoli), by ISA-L. Chainable: crc32c(b, crc32c(a)) == crc32c(a + b).
#pragma once

#include <isa-l/crc.h>

#include <cstdint>

#include "base/bytes.h"

namespace mneme {

inline uint32_t crc32c(ByteSpan bytes, uint32_t seed = 0) {
  // ISA-L takes and returns the raw register; the standard form inverts it on both sides.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  return ~crc32_iscsi(data, static_cast<int>(bytes.size()), ~seed);
}

}  // namespace mneme
