#include "network/log_protocol.h"

#include <type_traits>

#include "base/check.h"

namespace mneme {

namespace {

// A message's kind is its place in LogMessage, from 1.
constexpr size_t kKinds = std::variant_size_v<LogMessage>;
constexpr uint64_t kHelloMagic = 0x3130474f4c4e4d00;  // "\0MNLOG01"
constexpr size_t kMostFiles = 4096;

void put(ByteBuffer& to, const HelloMessage& m) {
  to.put(kHelloMagic);
  to.put(m.version);
  to.put(m.database_id);
  to.put(m.term.number);
  to.put(m.term.owner);
  to.put(m.role);
}
void put(ByteBuffer& to, const CreateMessage& m) {
  to.put(m.file);
  to.put(m.bytes);
}
void put(ByteBuffer& to, const CloseMessage& m) {
  to.put(m.file);
}
void put(ByteBuffer& to, const ReadMessage& m) {
  to.put(m.file);
  to.put(m.offset);
  to.put(m.bytes);
}
void put(ByteBuffer& to, const WriteMessage& m) {
  to.put(m.file);
  to.put(m.offset);
}
void put(ByteBuffer& to, const FlushMessage& m) {
  to.put(m.sequence);
  to.put(static_cast<uint8_t>(m.is_whole));
}
void put(ByteBuffer&, const ListMessage&) {}
void put(ByteBuffer&, const ShutdownMessage&) {}
void put(ByteBuffer& to, const WelcomeMessage& m) {
  to.put(m.version);
  to.put(m.term.number);
  to.put(m.term.owner);
  to.put(m.server);
}
void put(ByteBuffer& to, const ContentMessage& m) {
  to.put(m.file);
  to.put(m.offset);
}
void put(ByteBuffer& to, const FlushedMessage& m) {
  to.put(m.sequence);
}
void put(ByteBuffer& to, const FilesMessage& m) {
  CHECK(m.files.size() <= kMostFiles);
  to.put(m.whole_term);
  to.put(static_cast<uint32_t>(m.files.size()));
  for (const LogFileInfo& each : m.files) {
    to.put(each.number);
    to.put(each.term);
    to.put(each.bytes);
    to.put(each.end);
  }
}
void put(ByteBuffer&, const SavedMessage&) {}
void put(ByteBuffer& to, const RefusedMessage& m) {
  to.put(m.reason);
  to.put_text(m.text);
}

// Fields out of bounds turn the reader bad, as missing ones do.
bool get(ByteReader& from, HelloMessage& m) {
  if (from.get<uint64_t>() != kHelloMagic) return false;
  m.version = from.get<uint32_t>();
  // The rest of the message is this version's.
  if (m.version != kLogProtocolVersion) {
    from.get_bytes(from.remaining());
    return true;
  }
  m.database_id = from.get<uint64_t>();
  m.term.number = from.get<uint32_t>();
  m.term.owner = from.get<uint64_t>();
  m.role = from.get<LogRole>();
  return m.role <= LogRole::kWriter;
}
bool get(ByteReader& from, CreateMessage& m) {
  m.file = from.get<uint32_t>();
  m.bytes = from.get<uint64_t>();
  return true;
}
bool get(ByteReader& from, CloseMessage& m) {
  m.file = from.get<uint32_t>();
  return true;
}
bool get(ByteReader& from, ReadMessage& m) {
  m.file = from.get<uint32_t>();
  m.offset = from.get<uint64_t>();
  m.bytes = from.get<uint32_t>();
  return m.bytes <= kMostContentBytes;
}
bool get(ByteReader& from, WriteMessage& m) {
  m.file = from.get<uint32_t>();
  m.offset = from.get<uint64_t>();
  m.bytes = from.get_bytes(from.remaining());
  return m.bytes.size() <= kMostContentBytes;
}
bool get(ByteReader& from, FlushMessage& m) {
  m.sequence = from.get<uint64_t>();
  const auto is_whole = from.get<uint8_t>();
  m.is_whole = is_whole == 1;
  return is_whole <= 1;
}
bool get(ByteReader&, ListMessage&) {
  return true;
}
bool get(ByteReader&, ShutdownMessage&) {
  return true;
}
bool get(ByteReader& from, WelcomeMessage& m) {
  m.version = from.get<uint32_t>();
  m.term.number = from.get<uint32_t>();
  m.term.owner = from.get<uint64_t>();
  m.server = from.get<uint64_t>();
  return true;
}
bool get(ByteReader& from, ContentMessage& m) {
  m.file = from.get<uint32_t>();
  m.offset = from.get<uint64_t>();
  m.bytes = from.get_bytes(from.remaining());
  return m.bytes.size() <= kMostContentBytes;
}
bool get(ByteReader& from, FlushedMessage& m) {
  m.sequence = from.get<uint64_t>();
  return true;
}
bool get(ByteReader& from, FilesMessage& m) {
  m.whole_term = from.get<uint32_t>();
  const auto count = from.get<uint32_t>();
  if (count > kMostFiles) return false;
  for (uint32_t i = 0; i < count && !from.bad(); ++i) {
    LogFileInfo& file = m.files.emplace_back();
    file.number = from.get<uint32_t>();
    file.term = from.get<uint32_t>();
    file.bytes = from.get<uint64_t>();
    file.end = from.get<uint64_t>();
  }
  return true;
}
bool get(ByteReader&, SavedMessage&) {
  return true;
}
bool get(ByteReader& from, RefusedMessage& m) {
  m.reason = from.get<RefusedMessage::Reason>();
  m.text = from.get_text();
  return m.reason <= RefusedMessage::Reason::kNoSuchFile;
}

template <size_t kIndex = 0>
Result<LogMessage> decode_as(const Frame& frame) {
  if constexpr (kIndex == kKinds) {
    return failed("a frame of kind {}, which this protocol has not", frame.kind);
  } else {
    if (frame.kind != kIndex + 1) return decode_as<kIndex + 1>(frame);
    std::variant_alternative_t<kIndex, LogMessage> message;
    ByteReader from(frame.payload);
    const bool is_in_bounds = get(from, message);
    if (!is_in_bounds || from.bad() || from.remaining() > 0) {
      return failed("a frame of kind {} whose {} bytes are no such message", frame.kind,
                    frame.payload.size());
    }
    return LogMessage(std::move(message));
  }
}

}  // namespace

void append_message(std::vector<std::byte>& to, const LogMessage& message) {
  ByteBuffer head;
  ByteSpan tail;
  std::visit(
      [&](const auto& m) {
        put(head, m);
        using Message = std::remove_cvref_t<decltype(m)>;
        if constexpr (std::is_same_v<Message, WriteMessage> || std::is_same_v<Message, ContentMessage>) {
          CHECK(m.bytes.size() <= kMostContentBytes);
          tail = m.bytes;
        }
      },
      message);
  append_frame(to, static_cast<uint16_t>(message.index() + 1), head.span(), tail);
}

Result<LogMessage> decode_message(const Frame& frame) {
  return decode_as(frame);
}

}  // namespace mneme
