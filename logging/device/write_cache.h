// WriteCache: a disk's volatile cache, for tests: what the disk has taken and does not keep when its power
// fails.
//
// Flow        put() ... write_back_early() ... sync(): a sync writes every cached sector of its file to the
//             medium. What is cached when the power fails is lost.
// Invariants  only a sync promises anything. Before it, any sector may reach the medium or not, in any order,
//             by itself: a disk writes a sector of 512 bytes whole or not at all. Of two writes of a sector
//             the later one stands.
// Threads     one owner.
// Errors      the system's error number of the write to the medium that failed, or 0.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "base/bytes.h"

namespace mneme {

class WriteCache {
 public:
  // Writes bytes of a file to the medium. Returns the system's error number, or 0.
  using Medium = std::function<int(int file, uint64_t offset, ByteSpan bytes)>;
  // A cache that is fuller than this writes back the first sector of the first file.
  static constexpr size_t kMostSectors = 4096;

  // The same seed and the same calls give the same choices.
  WriteCache(Medium medium, uint64_t seed);

  // Takes a write at the beginning of a sector. Its last sector may be a part of one, if no later write of
  // that sector is shorter: the engine's writes are whole blocks, so that case is left undefined. A full
  // cache writes back a sector for each that is one too many. Returns the first error of that, and takes all
  // of the write in any case; what could not be written stays cached.
  int put(int file, uint64_t offset, ByteSpan bytes);
  // Writes some sectors of what is cached to the medium, as a disk does when it likes, or none.
  int write_back_early();
  // Writes what is cached of the file to the medium, in an order drawn by chance: the power may fail within a
  // sync. What could not be written stays cached.
  int sync(int file);

 private:
  struct Place {
    int file;
    uint64_t offset;
    auto operator<=>(const Place&) const = default;
  };

  const Medium medium_;
  std::mt19937_64 random_;
  std::map<Place, std::vector<std::byte>> sectors_;
};

}  // namespace mneme
