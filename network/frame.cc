#include "network/frame.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/crc32c.h"

namespace mneme {

namespace {

constexpr uint32_t kMagic = 'M' | 'N' << 8 | 'F' << 16 | 'R' << 24;
constexpr size_t kLengthAt = 4;
constexpr size_t kChecksumAt = 8;
constexpr size_t kKindAt = 12;

uint32_t header_checksum(const std::byte* header) {
  const uint32_t length = crc32c({header + kLengthAt, kChecksumAt - kLengthAt});
  return crc32c({header + kKindAt, kFrameHeaderBytes - kKindAt}, length);
}

}  // namespace

void append_frame(std::vector<std::byte>& to, uint16_t kind, ByteSpan head, ByteSpan tail) {
  CHECK(head.size() + tail.size() <= kLargestPayloadBytes);
  std::byte header[kFrameHeaderBytes] = {};
  store(header, kMagic);
  store(header + kLengthAt, static_cast<uint32_t>(head.size() + tail.size()));
  store(header + kKindAt, kind);
  store(header + kChecksumAt, crc32c(tail, crc32c(head, header_checksum(header))));
  to.insert(to.end(), header, header + kFrameHeaderBytes);
  to.insert(to.end(), head.begin(), head.end());
  to.insert(to.end(), tail.begin(), tail.end());
}

void FrameDecoder::feed(ByteSpan bytes) {
  if (refused_) return;
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(given_));
  stream_position_ += given_;
  given_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

Error FrameDecoder::refuse(Error error) {
  refused_ = error;
  bytes_.clear();
  given_ = 0;
  return error;
}

Result<std::optional<Frame>> FrameDecoder::next() {
  if (refused_) return *refused_;
  const ByteSpan rest = ByteSpan(bytes_).subspan(given_);
  const uint64_t position = stream_position_ + given_;
  if (rest.empty()) return std::optional<Frame>();
  // Garbage is recognised by its first bytes, however few of them have come.
  const size_t magic_bytes = std::min(rest.size(), sizeof kMagic);
  if (std::memcmp(rest.data(), &kMagic, magic_bytes) != 0) {
    return refuse(failed("byte {} of what arrived begins no frame of Mneme's", position));
  }
  if (rest.size() < kFrameHeaderBytes) return std::optional<Frame>();
  const auto payload_bytes = load<uint32_t>(rest.data() + kLengthAt);
  if (payload_bytes > kLargestPayloadBytes) {
    return refuse(failed("the frame at byte {} claims {} bytes, and none has more than {}", position,
                         payload_bytes, kLargestPayloadBytes));
  }
  if (rest.size() < kFrameHeaderBytes + payload_bytes) return std::optional<Frame>();
  const ByteSpan payload = rest.subspan(kFrameHeaderBytes, payload_bytes);
  if (load<uint32_t>(rest.data() + kChecksumAt) != crc32c(payload, header_checksum(rest.data()))) {
    return refuse(failed("the frame at byte {} doesn't match its checksum", position));
  }
  given_ += kFrameHeaderBytes + payload_bytes;
  return std::optional(Frame{load<uint16_t>(rest.data() + kKindAt), payload});
}

}  // namespace mneme
