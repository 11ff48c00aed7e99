#include "network/log_connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace mneme {

namespace {

constexpr size_t kAnswerBytes = size_t{256} << 10;
constexpr size_t kReadsInFlight = 8;

}  // namespace

LogConnection::LogConnection(ServerAddress address, int descriptor, std::shared_ptr<const PreSharedKey> key,
                             std::chrono::milliseconds patience)
    : address_(std::move(address)),
      descriptor_(descriptor),
      channel_(std::make_unique<MessageChannel>(TlsSide::kClient, std::move(key))),
      patience_(patience) {}

LogConnection::LogConnection(LogConnection&& other) noexcept
    : address_(std::move(other.address_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      channel_(std::move(other.channel_)),
      patience_(other.patience_),
      welcome_(other.welcome_) {}

LogConnection& LogConnection::operator=(LogConnection&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(channel_, other.channel_);
  std::swap(patience_, other.patience_);
  std::swap(welcome_, other.welcome_);
  return *this;
}

LogConnection::~LogConnection() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<LogConnection> LogConnection::open(const ServerAddress& address,
                                          std::shared_ptr<const PreSharedKey> key, const HelloMessage& hello,
                                          std::chrono::milliseconds patience) {
  if (address.is_local()) key = nullptr;
  if (key == nullptr) {
    const auto stays_here = is_loopback(address);
    if (!stays_here.ok()) return stays_here.error();
    if (!*stays_here) {
      return invalid_argument(
          "the log server {} is another machine, and without a key the log would travel in the clear: "
          "give the servers' key file",
          address.text());
    }
  }
  const auto descriptor = connect_to(address, patience);
  if (!descriptor.ok()) return descriptor.error();
  LogConnection connection(address, *descriptor, std::move(key), patience);
  RETURN_IF_ERROR(connection.send(hello));
  auto welcome = connection.await_answer<WelcomeMessage>();
  if (!welcome.ok()) return welcome.error();
  connection.welcome_ = *welcome;
  return connection;
}

Error LogConnection::broken(std::string_view how) const {
  return failed("the log server {}: {}", address_.text(), how);
}

Result<void> LogConnection::await_ready(short what) {
  pollfd watched{descriptor_, what, 0};
  int ready;
  do {
    ready = ::poll(&watched, 1, static_cast<int>(patience_.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready > 0) return {};
  return broken(ready == 0 ? fmt::format("no answer within {} ms", patience_.count()) : std::strerror(errno));
}

Result<void> LogConnection::send_outgoing() {
  const std::vector<std::byte> bytes = channel_->take_outgoing();
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(descriptor_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) return broken(std::strerror(errno));
    if (count < 0) RETURN_IF_ERROR(await_ready(POLLOUT));
    sent += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return {};
}

Result<void> LogConnection::send(const LogMessage& message) {
  RETURN_IF_ERROR(channel_->send(message));
  return send_outgoing();
}

Result<LogMessage> LogConnection::await() {
  std::vector<std::byte> arrived;
  for (;;) {
    auto message = channel_->next();
    if (!message.ok()) return broken(message.error().message);
    if (*message) return std::move(**message);
    RETURN_IF_ERROR(await_ready(POLLIN));
    arrived.resize(kAnswerBytes);
    const ssize_t count = ::recv(descriptor_, arrived.data(), arrived.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return broken(std::strerror(errno));
    if (count == 0)
      return broken("it hung up; its own output says why (another key, another version, no room)");
    const Result<void> received = channel_->receive(ByteSpan(arrived).first(static_cast<size_t>(count)));
    if (!received.ok()) return broken(received.error().message);
    RETURN_IF_ERROR(send_outgoing());
  }
}

template <typename Message>
Result<Message> LogConnection::await_answer() {
  auto answer = await();
  if (!answer.ok()) return answer.error();
  if (const auto* refused = std::get_if<RefusedMessage>(&*answer))
    return broken("it refuses: " + refused->text);
  if (auto* expected = std::get_if<Message>(&*answer)) return std::move(*expected);
  return broken("it answers something else than it was asked");
}

Result<FilesMessage> LogConnection::list() {
  RETURN_IF_ERROR(send(ListMessage{}));
  return await_answer<FilesMessage>();
}

Result<void> LogConnection::close_file(uint32_t file) {
  return send(CloseMessage{file});
}

Result<void> LogConnection::flush(const FlushMessage& flush) {
  RETURN_IF_ERROR(send(flush));
  const auto flushed = await_answer<FlushedMessage>();
  if (!flushed.ok()) return flushed.error();
  if (flushed->sequence == flush.sequence) return {};
  return broken("it tells of another flush than it was asked for");
}

Result<void> LogConnection::read(uint32_t file, uint64_t offset, std::span<std::byte> into) {
  size_t asked = 0;
  size_t got = 0;
  size_t in_flight = 0;
  while (got < into.size()) {
    while (in_flight < kReadsInFlight && asked < into.size()) {
      const size_t bytes = std::min(kMostContentBytes, into.size() - asked);
      RETURN_IF_ERROR(send(ReadMessage{file, offset + asked, static_cast<uint32_t>(bytes)}));
      asked += bytes;
      ++in_flight;
    }
    const auto content = await_answer<ContentMessage>();
    if (!content.ok()) return content.error();
    const size_t expected = std::min(kMostContentBytes, into.size() - got);
    if (content->file != file || content->offset != offset + got || content->bytes.size() != expected) {
      return broken("it answers with another part of the log than it was asked for");
    }
    std::memcpy(into.data() + got, content->bytes.data(), expected);
    got += expected;
    --in_flight;
  }
  return {};
}

Result<void> LogConnection::shut_down() {
  RETURN_IF_ERROR(send(ShutdownMessage{}));
  const auto saved = await_answer<SavedMessage>();
  return saved.ok() ? Result<void>() : Result<void>(saved.error());
}

LogConnection::Released LogConnection::release() {
  return {std::exchange(descriptor_, -1), std::move(channel_)};
}

}  // namespace mneme
