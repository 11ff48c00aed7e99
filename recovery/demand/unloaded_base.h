// UnloadedBase: the checkpoint that a log is replayed upon, while only some of it is loaded: what is wanted
// comes first, and the rest when there is time for it.
//
// Flow        Database::set_unloaded() -> load() by threads that want rows, load_next() by threads that have
//             time, until it returns false -> finish()
// Invariants  as UnloadedRows'.
// Errors      has_failed() is true before any call of that thread, or of one that sees what it did since,
//             returns; from then on all loads return false. error() says why.
// Threads     any number; finish(): one.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "engine/table/unloaded_rows.h"

namespace mneme {

class UnloadedBase : public UnloadedRows {
 public:
  // Loads a chunk that no thread has begun to load; false: there is none, or loading has failed.
  virtual bool load_next() = 0;
  // Waits for chunks that other threads load, of which all have been begun, and then passes on the free
  // slots; false: loading has failed.
  virtual bool finish() = 0;
  virtual bool has_failed() const = 0;
  // After has_failed().
  virtual Error error() const = 0;

  virtual uint64_t chunk_count() const = 0;
  // How many of them are loaded, and how many of these somebody wanted.
  virtual uint64_t loaded_count() const = 0;
  virtual uint64_t wanted_count() const = 0;
};

}  // namespace mneme
