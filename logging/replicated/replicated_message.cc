#include "logging/replicated/replicated_message.h"

#include <algorithm>

#include "base/check.h"
#include "base/crc32c.h"

namespace mneme {

namespace {

constexpr uint32_t kMagic = 0x4d524e4d;  // "MNRM"
constexpr size_t kChecksumAt = 44;

uint32_t checksum(ByteSpan message) {
  return crc32c(message.subspan(kReplicatedHeaderBytes), crc32c(message.first(kChecksumAt)));
}

}  // namespace

std::vector<std::byte> ReplicatedHeader::encode(ByteSpan bytes) const {
  CHECK(bytes.size() == length);
  std::vector<std::byte> message(kReplicatedHeaderBytes + bytes.size());
  std::byte* at = message.data();
  store(at, kMagic);
  store(at + 4, kReplicatedMessageVersion);
  store(at + 8, database_id);
  store(at + 16, term.number);
  store(at + 20, segment);
  store(at + 24, term.owner);
  store(at + 32, offset);
  store(at + 40, length);
  std::copy(bytes.begin(), bytes.end(), at + kReplicatedHeaderBytes);
  store(at + kChecksumAt, checksum(message));
  return message;
}

Result<ReplicatedHeader> ReplicatedHeader::decode_header(ByteSpan header, uint64_t database_id,
                                                         const std::string& where) {
  if (header.size() < kReplicatedHeaderBytes || load<uint32_t>(header.data()) != kMagic) {
    return damaged("{} is no message of a log: something else writes to this stream", where);
  }
  const std::byte* at = header.data();
  if (const auto version = load<uint32_t>(at + 4); version != kReplicatedMessageVersion) {
    return invalid_argument(
        "{} has format version {}, and this program reads {}: use the program that wrote it", where, version,
        kReplicatedMessageVersion);
  }
  ReplicatedHeader decoded;
  decoded.database_id = load<uint64_t>(at + 8);
  decoded.term = {load<uint32_t>(at + 16), load<uint64_t>(at + 24)};
  decoded.segment = load<uint32_t>(at + 20);
  decoded.offset = load<uint64_t>(at + 32);
  decoded.length = load<uint32_t>(at + 40);
  if (database_id != 0 && decoded.database_id != database_id) {
    return invalid_argument("{} is of another database ({:016x}): choose another --log-stream", where,
                            decoded.database_id);
  }
  return decoded;
}

Result<ReplicatedHeader> ReplicatedHeader::decode(ByteSpan message, uint64_t database_id,
                                                  const std::string& where) {
  auto decoded = decode_header(message, database_id, where);
  if (!decoded.ok()) return decoded;
  if (message.size() - kReplicatedHeaderBytes != decoded->length ||
      load<uint32_t>(message.data() + kChecksumAt) != checksum(message)) {
    return damaged("{} is not what was written: its checksum is wrong", where);
  }
  return decoded;
}

}  // namespace mneme
