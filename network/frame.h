// Frames: how messages lie in a stream of bytes between two machines, and how they are found again in what
// arrives.
//
// Layout      0 magic "MNFR"   4 u32 payload bytes   8 u32 CRC32C of bytes 4..7, 12..15 and the payload
//             12 u16 kind      14 u16 0              16 payload
// Flow        append_frame() -> the network -> FrameDecoder::feed() -> next()
// Invariants  a frame longer than kLargestPayloadBytes is refused by its header alone, before memory is taken
//             for it. After an error the decoder gives nothing more: what follows garbage has no beginning.
// Threads     one owner. Pure: no socket, no clock.
// Errors      another magic, a length beyond the bound, a checksum that doesn't match: a sentence that names
//             the byte of the stream. A frame that is cut short is no error: the rest may yet come.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace mneme {

inline constexpr size_t kFrameHeaderBytes = 16;
inline constexpr size_t kLargestPayloadBytes = size_t{1} << 20;

struct Frame {
  uint16_t kind = 0;
  ByteSpan payload;  // valid until the decoder is fed again
};

// The payload is `head` and behind it `tail`: a message's fields, and bytes that need not be copied to stand
// behind them.
void append_frame(std::vector<std::byte>& to, uint16_t kind, ByteSpan head, ByteSpan tail = {});

class FrameDecoder {
 public:
  void feed(ByteSpan bytes);
  // Returns nullopt where no whole frame has arrived.
  Result<std::optional<Frame>> next();

 private:
  Error refuse(Error error);

  std::vector<std::byte> bytes_;  // that arrived and belong to frames that were not given yet
  size_t given_ = 0;              // of them, which next() has given
  uint64_t stream_position_ = 0;  // of bytes_[0]
  std::optional<Error> refused_;
};

}  // namespace mneme
