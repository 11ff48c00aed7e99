// The cache of machine code: what has no right seal is never given to the loader. The loader is a stand-in
// here (the linker's --wrap=dlopen): what it would do with bytes that are no object is the system's business,
// and what is sealed is trusted.
#include <fcntl.h>
#include <xxhash.h>

#include <algorithm>

#include "base/check.h"
#include "base/file/file.h"
#include "procedures/native/native_object.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/target.h"

namespace {
bool watches = false;
int asked = 0;  // to load an object, while it watches
}  // namespace

extern "C" {
void* __real_dlopen(const char* file, int mode);  // NOLINT: the linker's names
void* __wrap_dlopen(const char* file, int mode) {
  if (!watches) return __real_dlopen(file, mode);
  ++asked;
  return nullptr;
}
}

namespace mneme::fuzz {
namespace {

// As native_object.h's layout says: magic, then the checksum of all before.
constexpr size_t kSealBytes = 24;
constexpr uint64_t kSealMagic = 0x6c616573656d6e6d;

bool is_sealed(ByteSpan file) {
  if (file.size() <= kSealBytes) return false;
  const XXH128_hash_t hash = XXH3_128bits(file.data(), file.size() - kSealBytes);
  const std::byte* seal = file.data() + file.size() - kSealBytes;
  return load<uint64_t>(seal) == kSealMagic && load<uint64_t>(seal + 8) == hash.high64 &&
         load<uint64_t>(seal + 16) == hash.low64;
}

void hold_native(ByteSpan input) {
  const std::string& folder = scratch_folder();
  unpack_into(folder, {{"object.so", {input.begin(), input.end()}}});
  asked = 0;
  watches = true;
  const auto object = NativeObject::open(*File::open(folder + "/object.so", O_RDONLY), {1, 2}, 1);
  watches = false;
  CHECK(!object.ok());
  expect_words(object.error());
  CHECK(asked == (is_sealed(input) ? 1 : 0));
  CHECK((object.error().kind == ErrorKind::kDamaged) == !is_sealed(input));
}

void repair_seal(Bytes& file) {
  if (file.size() <= kSealBytes) return;
  const size_t end = file.size() - kSealBytes;
  const XXH128_hash_t hash = XXH3_128bits(file.data(), end);
  store(file.data() + end, kSealMagic);
  store(file.data() + end + 8, hash.high64);
  store(file.data() + end + 16, hash.low64);
}

std::vector<Bytes> native_seeds() {
  const std::string& folder = scratch_folder();
  unpack_into(folder, {{"object.so", bytes_of("\177ELF, as a linker would have written it")}});
  CHECK(NativeObject::seal(folder + "/object.so").ok());
  Bytes sealed = files_of(folder)[0].content;
  Bytes cut = sealed;
  cut.pop_back();
  return {std::move(sealed), std::move(cut)};
}

}  // namespace

const Target kNativeTarget{
    .name = "native", .hold = hold_native, .repair = repair_seal, .seeds = native_seeds};

}  // namespace mneme::fuzz
