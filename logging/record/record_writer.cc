#include "logging/record/record_writer.h"

namespace mneme {

namespace {

// Never written. Not const, so that the program file does not hold the zeros.
std::byte zeros[kMaxPayloadBytes];

}  // namespace

ByteSpan skip_payload(size_t bytes) {
  return ByteSpan(zeros).first(bytes);
}

}  // namespace mneme
