// What the simulated disk (simulated_disk.h) knows of changes that a power failure may undo: changes of a
// file's content and of a directory's entries. A process that is killed writes them down for the next one, as
// numbers and texts, one behind the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "base/check.h"

namespace mneme::simulator {

class CacheWriter {
 public:
  explicit CacheWriter(const std::string& path) : file_(path, std::ios::binary) {}
  ~CacheWriter() { CHECK(file_.good()); }
  void put(uint64_t number) { file_.write(reinterpret_cast<const char*>(&number), sizeof number); }
  template <typename Text>
  void put_text(const Text& text) {
    put(text.size());
    file_.write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  std::ofstream file_;
};

class CacheReader {
 public:
  explicit CacheReader(const std::string& path) : file_(path, std::ios::binary) {}
  uint64_t get() {
    uint64_t number = 0;
    file_.read(reinterpret_cast<char*>(&number), sizeof number);
    CHECK(file_.good());
    return number;
  }
  template <typename Text>
  Text get_text() {
    Text text(get(), char{});
    file_.read(text.data(), static_cast<std::streamsize>(text.size()));
    CHECK(file_.good());
    return text;
  }

 private:
  std::ifstream file_;
};

using Bytes = std::vector<char>;

// A change of a file's content that no sync has covered.
struct Change {
  uint64_t id;
  uint64_t offset;
  Bytes before;
  Bytes after;
  uint64_t size_before;
  uint64_t size_after;
  bool is_doomed = false;  // a sync that should have covered it failed

  static Change get(CacheReader& cache);
  void put(CacheWriter& cache) const;
  uint64_t end() const { return offset + std::max(before.size(), after.size()); }
};

struct Content {
  int descriptor = -1;  // of our own
  std::vector<Change> changes;
};

// A change of a directory's entries that no sync has covered.
struct EntryChange {
  enum class Kind : uint8_t { kMade, kRenamed, kRemoved };
  uint64_t id;
  Kind kind;
  std::string path;
  std::string from{};      // kRenamed
  std::string kept{};      // what had the path before, in the trash
  bool is_doomed = false;  // a sync that should have covered it failed

  static EntryChange get(CacheReader& cache);
  void put(CacheWriter& cache) const;
};

}  // namespace mneme::simulator
