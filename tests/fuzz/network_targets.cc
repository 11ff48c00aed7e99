// Targets for bytes from the network: messages, a log server's clients, its answers to an engine, the logs
// that it has saved, and the messages of a replicated log.
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <random>
#include <thread>

#include "base/check.h"
#include "logging/replicated/received_log.h"
#include "logging/replicated/replicated_message.h"
#include "logging/testing/memory_replicated_log.h"
#include "logging/testing/test_log.h"
#include "network/log_connection.h"
#include "network/log_server.h"
#include "network/message_channel.h"
#include "network/saved_log.h"
#include "tests/fuzz/archive.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {
namespace {

constexpr uint64_t kDatabase = 0x1234;
constexpr std::chrono::milliseconds kPatience{5000};

Bytes stream_of(const std::vector<LogMessage>& messages) {
  Bytes stream;
  for (const LogMessage& each : messages) append_message(stream, each);
  return stream;
}

HelloMessage hello(LogRole role, LogTerm term = {}) {
  HelloMessage message;
  message.database_id = kDatabase;
  message.role = role;
  message.term = term;
  return message;
}

// u8 how it comes: bit 0, whether there is a key; the others, how many bytes at a time. Then the stream.
void hold_messages(ByteSpan input) {
  static const auto key = std::make_shared<const PreSharedKey>(PreSharedKey{std::string(32, 'k')});
  if (input.empty()) return;
  const auto how = static_cast<uint8_t>(input[0]);
  const size_t at_a_time = how < 2 ? input.size() : how;
  MessageChannel channel(TlsSide::kServer, how % 2 == 1 ? key : nullptr);
  for (ByteSpan rest = input.subspan(1); !rest.empty();) {
    const ByteSpan piece = rest.first(std::min(at_a_time, rest.size()));
    rest = rest.subspan(piece.size());
    if (!accepted(channel.receive(piece))) return;
    for (;;) {
      const auto message = channel.next();
      if (!accepted(message)) return;
      if (!*message) break;
      // It is a message to the last byte: as it would have been written.
      Bytes once;
      append_message(once, **message);
      FrameDecoder decoder;
      decoder.feed(once);
      const auto frame = decoder.next();
      CHECK(frame.ok() && frame->has_value());
      const auto again = decode_message(**frame);
      CHECK(again.ok());
      Bytes twice;
      append_message(twice, *again);
      CHECK(once == twice);
    }
    (void)channel.take_outgoing();
  }
}

void repair_messages(Bytes& input) {
  if (input.empty()) return;
  Bytes stream(input.begin() + 1, input.end());
  repair_frames(stream);
  std::ranges::copy(stream, input.begin() + 1);
}

std::vector<LogMessage> engine_messages(ByteSpan content) {
  return {hello(LogRole::kWriter, {3, 9}),
          CreateMessage{1, 1 << 16},
          WriteMessage{1, 100, content},
          FlushMessage{1, true},
          ReadMessage{1, 90, 64},
          ListMessage{},
          CloseMessage{1},
          ShutdownMessage{}};
}
std::vector<LogMessage> server_messages(ByteSpan content) {
  return {WelcomeMessage{kLogProtocolVersion, {3, 9}, 77},
          FilesMessage{3, {{1, 3, 1 << 16, 300}, {2, 3, 1 << 16, 0}}},
          ContentMessage{1, 0, content},
          FlushedMessage{5},
          SavedMessage{},
          RefusedMessage{RefusedMessage::Reason::kOlderTerm, "an older term"}};
}

std::vector<Bytes> messages_seeds() {
  const Bytes content = bytes_of("what was written");
  std::vector<Bytes> seeds;
  for (const auto& messages : {engine_messages(content), server_messages(content)}) {
    for (const uint8_t how : {0, 14}) {
      Bytes seed{std::byte{how}};
      const Bytes stream = stream_of(messages);
      seed.insert(seed.end(), stream.begin(), stream.end());
      seeds.push_back(std::move(seed));
    }
  }
  MessageChannel client(TlsSide::kClient,
                        std::make_shared<const PreSharedKey>(PreSharedKey{std::string(32, 'k')}));
  CHECK(client.send(hello(LogRole::kReader)).ok());
  Bytes greeting = client.take_outgoing();
  greeting.insert(greeting.begin(), std::byte{1});
  seeds.push_back(std::move(greeting));
  return seeds;
}

// Sends all, reads all that comes, and leaves without a trace (a port that waits for its last packets is not
// to be had again).
Bytes talk(int descriptor, ByteSpan bytes) {
  Bytes answers;
  Bytes buffer(size_t{64} << 10);
  bool ends = false;
  if (bytes.empty()) ::shutdown(descriptor, SHUT_WR);
  while (!ends) {
    pollfd watched{descriptor, static_cast<short>(POLLIN | (bytes.empty() ? 0 : POLLOUT)), 0};
    if (::poll(&watched, 1, -1) < 0) {
      CHECK(errno == EINTR);  // libFuzzer's clock
      continue;
    }
    if ((watched.revents & POLLOUT) != 0 && !bytes.empty()) {
      const ssize_t sent = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) bytes = bytes.subspan(static_cast<size_t>(sent));
      if (sent < 0 && errno != EAGAIN) bytes = {};
      if (bytes.empty()) ::shutdown(descriptor, SHUT_WR);
    }
    if ((watched.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t count = ::recv(descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) answers.insert(answers.end(), buffer.begin(), buffer.begin() + count);
    ends = count == 0 || (count < 0 && errno != EAGAIN);
  }
  const linger none{1, 0};
  ::setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &none, sizeof none);
  ::close(descriptor);
  return answers;
}

// A client that sends these bytes, and hangs up.
void hold_log_server(ByteSpan input) {
  if (input.empty()) return;
  const std::string& folder = scratch_folder();
  unpack_into(folder, {});
  LogServerOptions options;
  options.directory = folder;
  options.without_key = true;
  options.memory_bytes = size_t{1} << 20;
  options.network = SocketMethod::kPoll;
  auto server = LogServer::start(options);
  CHECK(server.ok());
  std::thread thread([&] { CHECK((*server)->run().ok()); });
  const Result<int> descriptor = connect_to({"127.0.0.1", (*server)->port()}, kPatience);
  CHECK(descriptor.ok());
  const Bytes answers = talk(*descriptor, input);
  (*server)->stop();
  thread.join();
  server->reset();
  // Whatever it was told: what it says are messages, the last of them perhaps cut short, and what it saved
  // can be loaded.
  FrameDecoder decoder;
  decoder.feed(answers);
  for (;;) {
    const auto frame = decoder.next();
    CHECK(frame.ok());
    if (!*frame) break;
    CHECK(decode_message(**frame).ok());
  }
  CHECK(load_logs(folder).ok());
}

void repair_stream(Bytes& input) {
  repair_frames(input);
}

std::vector<Bytes> log_server_seeds() {
  const Bytes content = bytes_of("what was written");
  auto without_end = engine_messages(content);
  without_end.pop_back();
  return {stream_of(engine_messages(content)), stream_of(without_end),
          stream_of({hello(LogRole::kReader), ListMessage{}, ReadMessage{1, 0, 10}}),
          stream_of({hello(LogRole::kClaimant, {4, 1}), ListMessage{}, CreateMessage{1, 100}})};
}

// A server that answers with these bytes, whatever it is asked, and hangs up.
void hold_log_answers(ByteSpan input) {
  static const ListeningSocket listening = listen_on({"127.0.0.1", 0}).value();
  std::thread server([input] {
    const int descriptor = ::accept(listening.descriptor, nullptr, nullptr);
    CHECK(descriptor >= 0);
    (void)talk(descriptor, input);
  });
  const auto ask = [] {
    auto connection =
        LogConnection::open({"127.0.0.1", listening.port}, nullptr, hello(LogRole::kReader), kPatience);
    if (!accepted(connection)) return;
    if (!accepted(connection->list())) return;
    Bytes into(100);
    if (!accepted(connection->read(1, 0, into))) return;
    if (!accepted(connection->flush({5, false}))) return;
    (void)accepted(connection->shut_down());
  };
  ask();
  server.join();
}

std::vector<Bytes> log_answers_seeds() {
  const Bytes content(100, std::byte{'c'});
  const std::vector<LogMessage> all = server_messages(content);
  return {stream_of({all[0], all[1], all[2], all[3], all[4]}), stream_of({all[0], all[5]}),
          stream_of({all[5]})};
}

// An archive of one file: a log as a server saved it.
void hold_saved_log(ByteSpan input) {
  std::vector<ArchivedFile> files = unpack(input);
  if (files.empty()) return;
  files.resize(1);
  const Bytes& content = files[0].content;
  const uint64_t id = content.size() >= 24 ? load<uint64_t>(content.data() + 16) : 0;
  files[0].name = fmt::format("{:016x}.log", id);
  const std::string& folder = scratch_folder();
  unpack_into(folder, files);
  const auto once = load_logs(folder);
  if (!accepted(once)) return;
  CHECK(once->size() == 1);
  const LogStore& log = once->begin()->second;
  if (log.bytes() > uint64_t{1} << 40) return;  // addresses for it are there once, perhaps, and not twice
  CHECK(save_log(folder, id, log).ok());
  const auto again = load_logs(folder);
  CHECK(again.ok());
  const LogStore& same = again->at(id);
  CHECK(same.term() == log.term() && same.whole_term() == log.whole_term());
  CHECK(same.list().files == log.list().files);
  for (const auto& [number, file] : log.files()) {
    CHECK(std::ranges::equal(file.written(), same.files().at(number).written()));
  }
}

void repair_archived_log(Bytes& archive) {
  repair_each(archive, repair_saved_log);
}

std::vector<Bytes> saved_log_seeds() {
  std::vector<Bytes> seeds;
  for (const uint32_t count : {0, 2}) {
    const std::string& folder = scratch_folder();
    unpack_into(folder, {});
    LogStore log;
    const LogTerm term{3, 9};
    CHECK(!log.claim(term));
    const Bytes content = bytes_of("what was written");
    for (uint32_t file = 1; file <= count; ++file) {
      CHECK(!log.create(term, {file, 4096}, 1 << 20));
      CHECK(!log.write(term, {file, file * 10, content}));
    }
    CHECK(!log.set_whole(term));
    CHECK(save_log(folder, kDatabase, log).ok());
    seeds.push_back(pack(files_of(folder)));
  }
  return seeds;
}

// An archive: each file is a message, in order. What a standby keeps of them is a log like any other.
void hold_replicated(ByteSpan input) {
  const std::string& folder = scratch_folder();
  unpack_into(folder, {});
  auto manifest = ManifestFile::create(folder, test::new_manifest());
  CHECK(manifest.ok());
  auto received = ReceivedLog::open(**manifest, test::must(test::read_directory(folder)));
  CHECK(received.ok());
  std::vector<Lsn> taken;
  uint64_t position = 0;
  for (const ArchivedFile& message : unpack(input)) {
    ++position;
    const auto header = ReplicatedHeader::decode(message.content, kDatabase, "the message");
    if (!accepted(header)) continue;
    CHECK(header->encode(ByteSpan(message.content).subspan(kReplicatedHeaderBytes)) == message.content);
    const ReplicatedPiece piece{position,
                                header->term.number,
                                header->segment,
                                header->offset,
                                {message.content.begin() + kReplicatedHeaderBytes, message.content.end()}};
    if (!accepted((*received)->take(piece))) break;
    const auto records = (*received)->take_records();
    if (!accepted(records)) return;
    for (const RecordView& each : records->records) taken.push_back(each.lsn);
    CHECK((*received)->sync().ok());
  }
  received = failed("it has been closed");  // readers of the directory wait for that
  const auto log = test::read_directory(folder, {.patience = std::chrono::milliseconds(0)});
  CHECK(log.ok());
  CHECK(std::ranges::includes(log->records, taken, {}, &RecordView::lsn));
}

void repair_messages_of_archive(Bytes& archive) {
  repair_each(archive, repair_replicated_message);
}

std::vector<Bytes> replicated_seeds() {
  std::vector<Bytes> seeds;
  for (const uint32_t most_blocks : {1, 4}) {
    test::TemporaryDirectory directory;
    for (uint64_t life = 0; life < 2; ++life) {
      DurableLogOptions options = test::small_log();
      options.segments.bytes = size_t{16} << 10;
      options.largest_payload_bytes = 2000;
      test::OpenLog opened = test::open_for_work(directory.path(), options);
      Lsn last;
      for (uint64_t i = 0; i < 6; ++i)
        last = test::append(*opened.log, WorkerId{0}, test::payload_of(i, 1500));
      CHECK(opened.log->wait_durable(last));
    }
    std::mt19937 random(most_blocks);
    std::vector<ArchivedFile> messages;
    for (const ReplicatedPiece& piece : test::pieces_of(directory.path(), random, most_blocks)) {
      ReplicatedHeader header;
      header.database_id = kDatabase;
      header.term = {static_cast<uint32_t>(piece.term), 5};
      header.segment = piece.segment;
      header.offset = piece.offset;
      header.length = static_cast<uint32_t>(piece.bytes.size());
      messages.push_back(
          {std::string(1, static_cast<char>('a' + messages.size() % 26)), header.encode(piece.bytes)});
    }
    seeds.push_back(pack(messages));
  }
  return seeds;
}

}  // namespace

const Target kMessagesTarget{
    .name = "messages", .hold = hold_messages, .repair = repair_messages, .seeds = messages_seeds};
const Target kLogServerTarget{
    .name = "log_server", .hold = hold_log_server, .repair = repair_stream, .seeds = log_server_seeds};
const Target kLogAnswersTarget{
    .name = "log_answers", .hold = hold_log_answers, .repair = repair_stream, .seeds = log_answers_seeds};
const Target kSavedLogTarget{.name = "saved_log",
                             .hold = hold_saved_log,
                             .repair = repair_archived_log,
                             .seeds = saved_log_seeds,
                             .is_archive = true};
const Target kReplicatedTarget{.name = "replicated",
                               .hold = hold_replicated,
                               .repair = repair_messages_of_archive,
                               .seeds = replicated_seeds,
                               .is_archive = true};

}  // namespace mneme::fuzz
