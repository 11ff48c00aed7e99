// Goal: whatever bytes arrive, the codec gives the messages that were sent, or an error, and never anything
// else. Method: round trips of every message, in one piece and byte by byte; then frames that are cut,
// changed in one byte, too long, of another version, or random; and streams that are cut, changed, or spliced
// at random.
#include "network/log_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "network/message_channel.h"

namespace mneme {
namespace {

const std::vector<std::byte> kContent(1000, std::byte{7});

std::vector<LogMessage> one_of_each() {
  FilesMessage files;
  files.whole_term = 3;
  files.files = {{1, 3, 4096, 100}, {2, 3, 4096, 0}};
  return {HelloMessage{kLogProtocolVersion, 0x1234, {5, 99}, LogRole::kWriter},
          CreateMessage{1, 1 << 20},
          CloseMessage{1},
          ReadMessage{1, 4096, 1000},
          WriteMessage{1, 4096, kContent},
          FlushMessage{17, true},
          ListMessage{},
          ShutdownMessage{},
          WelcomeMessage{kLogProtocolVersion, {5, 99}, 77},
          ContentMessage{1, 0, kContent},
          FlushedMessage{17},
          files,
          SavedMessage{},
          RefusedMessage{RefusedMessage::Reason::kOlderTerm, "term 4 is over"}};
}

std::vector<std::byte> encoded(const LogMessage& message) {
  std::vector<std::byte> bytes;
  append_message(bytes, message);
  return bytes;
}

// Decodes all that there is; an error ends it.
Result<std::vector<std::vector<std::byte>>> decode_all(ByteSpan bytes, size_t piece) {
  FrameDecoder decoder;
  std::vector<std::vector<std::byte>> again;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    decoder.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    for (;;) {
      const auto frame = decoder.next();
      if (!frame.ok()) return frame.error();
      if (!*frame) break;
      const auto message = decode_message(**frame);
      if (!message.ok()) return message.error();
      again.push_back(encoded(*message));
    }
  }
  return again;
}

TEST(LogProtocol, EveryMessageComesBackWholeHoweverItIsCut) {
  std::vector<std::byte> stream;
  std::vector<std::vector<std::byte>> sent;
  for (const LogMessage& message : one_of_each()) {
    sent.push_back(encoded(message));
    stream.insert(stream.end(), sent.back().begin(), sent.back().end());
  }
  for (const size_t piece : {stream.size(), size_t{1}, size_t{13}}) {
    const auto again = decode_all(stream, piece);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, sent) << "in pieces of " << piece;
  }
}

TEST(LogProtocol, AFrameThatIsCutShortIsAwaited) {
  const auto bytes = encoded(WriteMessage{1, 0, kContent});
  for (const size_t left : {size_t{1}, size_t{15}, size_t{16}, bytes.size() - 1}) {
    const auto again = decode_all(ByteSpan(bytes).first(left), left);
    ASSERT_TRUE(again.ok());
    EXPECT_TRUE(again->empty());
  }
}

TEST(LogProtocol, AnyChangedByteIsAnError) {
  const auto bytes = encoded(one_of_each()[0]);
  for (size_t at = 0; at < bytes.size(); ++at) {
    auto changed = bytes;
    changed[at] ^= std::byte{0x10};
    const auto again = decode_all(changed, changed.size());
    // A length that grew within the bound waits for bytes that don't come.
    EXPECT_TRUE(!again.ok() || again->empty()) << "byte " << at;
  }
}

// A terminal shows them.
TEST(LogProtocol, ARefusalsWordsAreNoCommandsToATerminal) {
  std::vector<std::byte> bytes = encoded(RefusedMessage{RefusedMessage::Reason::kNotAllowed,
                                                        "no\x1b[2J\r\n\xc2\x9b" + std::string(100'000, 'x')});
  MessageChannel channel(TlsSide::kClient, nullptr);
  ASSERT_TRUE(channel.receive(bytes).ok());
  const auto message = channel.next();
  ASSERT_TRUE(message.ok() && message->has_value());
  const std::string& text = std::get<RefusedMessage>(**message).text;
  EXPECT_TRUE(text.starts_with("no?[2J????xxx")) << text;
  EXPECT_LE(text.size(), 1000u);
}

TEST(LogProtocol, AHugeLengthIsRefusedByTheHeaderAlone) {
  auto bytes = encoded(ListMessage{});
  store(bytes.data() + 4, uint32_t{0xffffffff});
  const auto again = decode_all(bytes, bytes.size());
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().message.find("4294967295 bytes"), std::string::npos) << again.error().message;
}

TEST(LogProtocol, GarbageIsRefusedByItsFirstByte) {
  const auto again = decode_all(as_bytes("G"), 1);
  EXPECT_FALSE(again.ok());
}

TEST(LogProtocol, AnotherVersionIsTold) {
  const auto bytes = encoded(HelloMessage{2, 0x1234, {5, 99}, LogRole::kWriter});
  FrameDecoder decoder;
  decoder.feed(bytes);
  const auto frame = decoder.next();
  ASSERT_TRUE(frame.ok());
  const auto message = decode_message(**frame);
  ASSERT_TRUE(message.ok()) << message.error().message;
  EXPECT_EQ(std::get<HelloMessage>(*message).version, 2u);
}

// Frames with right checksums and random insides: what decodes is a message that encodes to the same bytes.
TEST(LogProtocol, RandomPayloadsGiveMessagesOrErrors) {
  std::mt19937_64 random(1);
  size_t messages = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> payload(random() % 48);
    for (std::byte& each : payload) each = static_cast<std::byte>(random() % 3);
    const auto kind = static_cast<uint16_t>(random() % 18);
    std::vector<std::byte> bytes;
    append_frame(bytes, kind, payload);
    const auto again = decode_all(bytes, bytes.size());
    if (!again.ok()) continue;
    ASSERT_EQ(again->size(), 1u);
    EXPECT_EQ(again->front(), bytes);
    ++messages;
  }
  EXPECT_GT(messages, 100u);
}

// The messages that a receiver takes from a stream that arrives in random pieces, until it sees an error.
struct Taken {
  std::vector<std::byte> bytes;  // all messages, encoded again
  size_t messages = 0;
  bool is_refused = false;
};

Taken take(ByteSpan stream, std::mt19937_64& random) {
  FrameDecoder decoder;
  Taken taken;
  while (!stream.empty()) {
    const size_t piece = std::min<size_t>(stream.size(), 1 + random() % 3000);
    decoder.feed(stream.first(piece));
    stream = stream.subspan(piece);
    for (;;) {
      const auto frame = decoder.next();
      if (frame.ok() && !*frame) break;
      const auto message = frame.ok() ? decode_message(**frame) : Result<LogMessage>(frame.error());
      if (!message.ok()) {
        taken.is_refused = true;
        return taken;
      }
      append_message(taken.bytes, *message);
      ++taken.messages;
    }
  }
  return taken;
}

bool is_prefix(ByteSpan of, ByteSpan bytes) {
  return bytes.size() <= of.size() && std::ranges::equal(bytes, of.first(bytes.size()));
}

// Some messages of a random order, and where each begins.
struct Stream {
  std::vector<std::byte> bytes;
  std::vector<size_t> begins;
};

Stream random_stream(std::mt19937_64& random) {
  static const std::vector<LogMessage> kMessages = one_of_each();
  Stream stream;
  for (uint64_t count = 1 + random() % 8; count > 0; --count) {
    stream.begins.push_back(stream.bytes.size());
    append_message(stream.bytes, kMessages[random() % kMessages.size()]);
  }
  return stream;
}

// Changes within four bytes, of which the checksum finds each: what comes before the frame is taken, and
// nothing from it on.
TEST(LogProtocol, NoFrameWithChangedBytesIsTaken) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    Stream stream = random_stream(random);
    const size_t at = random() % stream.bytes.size();
    const size_t width = std::min<size_t>(1 + random() % 4, stream.bytes.size() - at);
    for (size_t k = 0; k < width; ++k) {
      stream.bytes[at + k] ^= static_cast<std::byte>(k == 0 ? 1 + random() % 255 : random());
    }
    const auto changed = std::ranges::upper_bound(stream.begins, at) - stream.begins.begin() - 1;
    const Taken taken = take(stream.bytes, random);
    ASSERT_EQ(taken.messages, static_cast<size_t>(changed)) << "round " << i << ", byte " << at;
    ASSERT_TRUE(is_prefix(stream.bytes, taken.bytes)) << "round " << i;
  }
}

TEST(LogProtocol, OfAStreamThatIsCutTheWholeFramesAreTaken) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 5'000; ++i) {
    const Stream stream = random_stream(random);
    const size_t left = random() % stream.bytes.size();
    const auto whole = std::ranges::upper_bound(stream.begins, left) - stream.begins.begin() - 1;
    const Taken taken = take(ByteSpan(stream.bytes).first(left), random);
    ASSERT_FALSE(taken.is_refused) << "round " << i;
    ASSERT_EQ(taken.messages, static_cast<size_t>(whole)) << "round " << i << ", " << left << " bytes";
  }
}

// Parts are left out, doubled, or come from elsewhere, noise with a right beginning among them: what is taken
// is what arrived.
TEST(LogProtocol, OfASplicedStreamOnlyWhatArrivedIsTaken) {
  std::mt19937_64 random(4);
  size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> bytes = random_stream(random).bytes;
    std::vector<std::byte> other = random_stream(random).bytes;
    if (random() % 3 == 0) {
      for (std::byte& each : other) each = static_cast<std::byte>(random());
      std::ranges::copy(as_bytes("MNFR"), other.begin());
    }
    const size_t at = random() % bytes.size();
    const size_t until = at + random() % (bytes.size() - at);
    const size_t from = random() % 2 == 0 ? 0 : random() % other.size();
    bytes.erase(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(until));
    bytes.insert(bytes.begin() + static_cast<ptrdiff_t>(at), other.begin() + static_cast<ptrdiff_t>(from),
                 other.end());
    const Taken taken = take(bytes, random);
    ASSERT_TRUE(is_prefix(bytes, taken.bytes)) << "round " << i;
    refused += taken.is_refused ? 1 : 0;
  }
  EXPECT_GT(refused, 5'000u);
}

// An attacker makes the checksum right. A changed payload is then another message, to the last byte, or an
// error.
TEST(LogProtocol, ChangedPayloadsWithRightChecksumsGiveMessagesOrErrors) {
  std::mt19937_64 random(5);
  size_t taken = 0;
  for (const LogMessage& message : one_of_each()) {
    const auto kind = static_cast<uint16_t>(message.index() + 1);
    const auto bytes = encoded(message);
    for (int i = 0; i < 1'000; ++i) {
      std::vector<std::byte> payload(bytes.begin() + kFrameHeaderBytes, bytes.end());
      if (random() % 2 == 0) payload.resize(random() % (payload.size() + 8));
      for (uint64_t changes = random() % 4; changes > 0 && !payload.empty(); --changes) {
        payload[random() % payload.size()] = static_cast<std::byte>(random());
      }
      const auto again = decode_message(Frame{kind, payload});
      if (!again.ok()) continue;
      ++taken;
      const auto* hello = std::get_if<HelloMessage>(&*again);
      if (hello != nullptr && hello->version != kLogProtocolVersion)
        continue;  // the rest of it is unknown here
      std::vector<std::byte> frame;
      append_frame(frame, kind, payload);
      ASSERT_EQ(encoded(*again), frame) << "kind " << kind;
    }
  }
  EXPECT_GT(taken, 1'000u);
}

}  // namespace
}  // namespace mneme
