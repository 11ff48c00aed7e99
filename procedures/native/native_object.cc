#include "procedures/native/native_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <xxhash.h>

#include <atomic>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/file/file.h"

namespace mneme {
namespace {

constexpr uint64_t kSealMagic = 0x6c616573656d6e6d;  // "mnemseal"

struct Seal {
  uint64_t magic;
  uint64_t high;
  uint64_t low;

  static Seal of(ByteSpan content) {
    const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
    return {kSealMagic, hash.high64, hash.low64};
  }
  bool operator==(const Seal&) const = default;
};

Result<std::vector<std::byte>> read_all(const File& file) {
  const Result<uint64_t> size = file.size();
  if (!size) return size.error();
  std::vector<std::byte> content(*size);
  const Result<size_t> read = file.read_at(content, 0);
  if (!read) return read.error();
  content.resize(*read);
  return content;
}

Result<void> check_seal(const File& file) {
  const Result<std::vector<std::byte>> content = read_all(file);
  if (!content) return content.error();
  const ByteSpan bytes(*content);
  if (bytes.size() > sizeof(Seal)) {
    const ByteSpan object = bytes.first(bytes.size() - sizeof(Seal));
    if (load<Seal>(object.data() + object.size()) == Seal::of(object)) return {};
  }
  return damaged(
      "{} is not the machine code that was written there: it is cut short, damaged, or another file",
      file.path());
}

// A path of the descriptor that no object was loaded by before: the loader takes an object that it has loaded
// by the same path for the same, and the number of a descriptor that was closed comes again. The kernel reads
// over the dots and slashes.
std::string loader_path(const File& file) {
  static std::atomic<uint64_t> loads = 0;
  std::string path = "/proc/self/fd/";
  // Relaxed: each count is another, and nothing else rests on it.
  for (uint64_t count = loads.fetch_add(1, std::memory_order_relaxed); count > 0; count /= 2)
    path += count % 2 == 0 ? "./" : ".//";
  return path + std::to_string(file.descriptor());
}

std::string loader_message() {
  const char* const message = dlerror();
  return message != nullptr ? message : "no reason given";
}

}  // namespace

std::string NativeKey::to_string() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

std::string native_key_definition(const NativeKey& key) {
  return fmt::format(
      "\nextern \"C\" {{\nextern const unsigned long mneme_native_key[2];\n"
      "const unsigned long mneme_native_key[2] = {{{:#x}ul, {:#x}ul}};\n}}\n",
      key.high, key.low);
}

Result<void> NativeObject::seal(const std::string& path) {
  const Result<File> file = File::open(path, O_RDWR);
  if (!file) return file.error();
  const Result<std::vector<std::byte>> content = read_all(*file);
  if (!content) return content.error();
  const Seal seal = Seal::of(*content);
  return file->write_at(std::as_bytes(std::span(&seal, 1)), content->size());
}

Result<NativeObject> NativeObject::open(const File& file, const NativeKey& key, size_t unit_count) {
  RETURN_IF_ERROR(check_seal(file));
  const std::string& path = file.path();
  void* const handle = dlopen(loader_path(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return failed("the machine code in {} cannot be loaded: {}; build the program anew, or remove the file",
                  path, loader_message());
  }
  NativeObject object(handle);
  const auto* const own_key = static_cast<const uint64_t*>(dlsym(handle, "mneme_native_key"));
  const auto* const units = static_cast<const NativeFunctions*>(dlsym(handle, "mneme_native_units"));
  const auto* const count = static_cast<const uint32_t*>(dlsym(handle, "mneme_native_unit_count"));
  if (own_key == nullptr || units == nullptr || count == nullptr) {
    return failed("{} holds no procedures of Mneme: {}; remove the file", path, loader_message());
  }
  if (NativeKey{own_key[0], own_key[1]} != key || *count != unit_count) {
    return failed("{} holds machine code of other procedures, or for another program; remove the file", path);
  }
  object.units_ = {units, unit_count};
  return object;
}

NativeObject::NativeObject(NativeObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), units_(std::exchange(other.units_, {})) {}

NativeObject& NativeObject::operator=(NativeObject&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(units_, other.units_);
  return *this;
}

NativeObject::~NativeObject() {
  if (handle_ != nullptr) dlclose(handle_);
}

}  // namespace mneme
