// Your part of chapter 1: a disk's volatile cache. Read logging/device/write_cache.h first: it says what each
// function is for. This starter is the disk of a program that has never met a power failure: each write
// reaches the medium at once, so nothing is ever lost, and a sync has nothing to do.
//
// What you may use: `medium_` writes to the medium, `random_` draws numbers, `sectors_` maps a place (file
// and offset of the beginning of a sector) to the bytes that are cached of it.
#include <algorithm>
#include <utility>

#include "logging/device/write_cache.h"
#include "logging/record/block_format.h"  // kSectorBytes, 512

namespace mneme {

WriteCache::WriteCache(Medium medium, uint64_t seed) : medium_(std::move(medium)), random_(seed) {}

int WriteCache::put(int file, uint64_t offset, ByteSpan bytes) {
  return medium_(file, offset, bytes);
}

int WriteCache::write_back_early() {
  return 0;
}

int WriteCache::sync(int /*file*/) {
  return 0;
}

}  // namespace mneme
