// NativeObject: a shared object of procedures' machine code: a file with a seal, and the file loaded.
//
// Layout      the object as the linker wrote it, then a seal: a magic number and a checksum of all bytes
//             before it. Loaders of shared objects do not look behind the last section; so one file holds
//             both, and renaming it into place is one step.
// Invariants  a file without a right seal is never loaded: it was cut short, or somebody else's. A loaded
//             object says of itself what it was compiled from (its key), whatever name its file has.
// Errors      a sentence that names the file and what is wrong with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/file/file.h"
#include "base/result.h"
#include "procedures/interpreter/native_abi.h"

namespace mneme {

// The key of an object: a hash of the text, headers, compiler and flags that it was compiled from.
struct NativeKey {
  uint64_t high = 0;
  uint64_t low = 0;

  std::string to_string() const;  // 32 hexadecimal digits
  bool operator==(const NativeKey&) const = default;
};

// Text to compile with the units, by which the object carries its key.
std::string native_key_definition(const NativeKey& key);

class NativeObject {
 public:
  // Ends a linked object's file with the seal.
  static Result<void> seal(const std::string& path);
  // Checks the seal, loads the object, and holds it to the key and the number of units. The object's code
  // runs then: the caller has checked who could write the file (trusted_folder.h). It may close it
  // afterwards.
  static Result<NativeObject> open(const File& file, const NativeKey& key, size_t unit_count);

  NativeObject(NativeObject&& other) noexcept;
  NativeObject& operator=(NativeObject&& other) noexcept;
  // Nothing of the object may be in use any more.
  ~NativeObject();

  std::span<const NativeFunctions> units() const { return units_; }

 private:
  explicit NativeObject(void* handle) : handle_(handle) {}

  void* handle_ = nullptr;
  std::span<const NativeFunctions> units_;
};

}  // namespace mneme
