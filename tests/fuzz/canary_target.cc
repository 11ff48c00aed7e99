// A planted bug: what finds nothing here is no fuzzer.
#include "base/check.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

void hold_canary(ByteSpan input) {
  ByteReader reader(input);
  if (reader.get<uint8_t>() != 'M') return;
  if (reader.get<uint16_t>() != 0x4e4e) return;
  const auto length = reader.get<uint8_t>();
  if (reader.get_bytes(length).size() < 3) return;
  CHECK(reader.remaining() != 2);
}

std::vector<Bytes> canary_seeds() {
  return {bytes_of("Mneme"), bytes_of("0123456789")};
}

}  // namespace

const Target kCanary{.name = "canary", .hold = hold_canary, .seeds = canary_seeds};

}  // namespace mneme::fuzz
