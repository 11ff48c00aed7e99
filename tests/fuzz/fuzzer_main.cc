// libFuzzer's side of the targets. Which one: MNEME_FUZZ_TARGET, as libFuzzer has the arguments. scripts/fuzz
// calls this.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/archive.h"
#include "tests/fuzz/mutator.h"
#include "tests/fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);  // NOLINT: libFuzzer's names

namespace {

using namespace mneme;

const fuzz::Target& target() {
  static const fuzz::Target& chosen = [&]() -> const fuzz::Target& {
    const char* const name = std::getenv("MNEME_FUZZ_TARGET");
    const fuzz::Target* const found = name == nullptr ? nullptr : fuzz::find_target(name);
    if (found != nullptr) return *found;
    std::fprintf(stderr, "set MNEME_FUZZ_TARGET to one of:\n");
    for (const fuzz::Target& each : fuzz::all_targets()) std::fprintf(stderr, "%s\n", each.name.data());
    std::exit(2);
  }();
  return chosen;
}

constexpr size_t kLongestAddition = 64;  // to a stretch

void mutate(fuzz::Bytes& bytes, size_t most) {
  const size_t size = bytes.size();
  bytes.resize(most);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, most));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {  // NOLINT
  target().hold({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}

// Half of the mutations are made right; a quarter of all are ours, which know of written numbers, the others
// libFuzzer's.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {  // NOLINT
  auto* const bytes = reinterpret_cast<std::byte*>(data);
  fuzz::Bytes input;
  if (seed % 4 == 0) {
    const std::vector<fuzz::Bytes> corpus = {{bytes, bytes + size}};
    input = fuzz::Mutator(seed).next(target(), corpus);
  } else {
    input.assign(bytes, bytes + size);
    if (target().is_archive && seed % 8 != 1)
      fuzz::change_a_stretch(
          input, seed, [](fuzz::Bytes& stretch) { mutate(stretch, stretch.size() + kLongestAddition); });
    else
      mutate(input, max_size);
    if (target().repair != nullptr && seed % 2 == 1) target().repair(input);
  }
  if (input.size() > max_size) input.resize(max_size);
  std::copy(input.begin(), input.end(), bytes);
  return input.size();
}
