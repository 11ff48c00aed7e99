#include "logging/remote/remote_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "logging/device/remote_options.h"
#include "logging/remote/log_servers.h"

namespace mneme {

namespace {

// So much may wait to be sent to a server that catches up, before it gets more.
constexpr size_t kCatchUpBytes = size_t{2} << 20;
// A server that is so far behind is cut off: it catches up from the copy, which takes no memory.
constexpr size_t kMostUnsentBytes = size_t{64} << 20;

}  // namespace

RemoteQueue::RemoteQueue(const RemoteQueueOptions& options, RemoteSegments& segments,
                         std::unique_ptr<SocketLoop> loop)
    : options_(options),
      majority_(copies_to_acknowledge(static_cast<uint32_t>(options.servers.servers.size()))),
      segments_(segments),
      loop_(std::move(loop)),
      servers_(options.servers.servers.size()),
      looked_ns_(monotonic_ns()),
      keeper_(options.servers, [this] { loop_->wake(); }) {}

Result<std::unique_ptr<RemoteQueue>> RemoteQueue::open(const RemoteQueueOptions& options,
                                                       RemoteSegments& segments) {
  auto opened = open_socket_loop(SocketMethod::kUring);
  if (!opened.ok()) return opened.error();
  std::unique_ptr<RemoteQueue> queue(new RemoteQueue(options, segments, std::move(opened->loop)));
  if (!opened->notice.empty()) queue->notices_.push_back(opened->notice);
  for (size_t i = 0; i < queue->servers_.size(); ++i) {
    auto joined = join_server(options.servers, i);
    Result<void> begun = joined.ok() ? queue->check_identity(i, *joined) : joined.error();
    // An empty log is whole: only from here on may segments be listed that are looked for there.
    if (begun.ok()) begun = joined->connection.flush({.sequence = 0, .is_whole = true});
    if (begun.ok()) {
      queue->join(i, std::move(*joined), /*is_behind=*/false);
      continue;
    }
    queue->last_loss_ = begun.error().message;
    queue->notices_.push_back(begun.error().message + "; the log goes on without it until it is there");
    queue->keeper_.lost(i);
  }
  if (queue->servers_there() >= queue->majority_) return queue;
  return failed("{} of {} log servers can be written to, and {} are needed: {}", queue->servers_there(),
                queue->servers_.size(), queue->majority_, queue->last_loss_);
}

uint32_t RemoteQueue::servers_there() const {
  return static_cast<uint32_t>(std::ranges::count_if(servers_, &Server::is_there));
}

Result<void> RemoteQueue::check_identity(size_t index, const JoinedServer& joined) const {
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i].is_there() || servers_[i].identity != joined.connection.welcome().server) continue;
    return failed("{}", same_server_text(options_.servers.servers[index], options_.servers.servers[i]));
  }
  return {};
}

void RemoteQueue::take_outcomes() {
  for (ServerKeeper::Outcome& outcome : keeper_.take_outcomes()) {
    if (!outcome.joined.ok()) {
      options_.tell(outcome.joined.error().message + "; it is tried again");
      continue;
    }
    if (const Result<void> checked = check_identity(outcome.server, *outcome.joined); !checked.ok()) {
      last_loss_ = checked.error().message;
      options_.tell(last_loss_);
      keeper_.lost(outcome.server);
      continue;
    }
    join(outcome.server, std::move(*outcome.joined), /*is_behind=*/true);
  }
}

void RemoteQueue::join(size_t index, JoinedServer joined, bool is_behind) {
  const uint64_t identity = joined.connection.welcome().server;
  LogConnection::Released released = joined.connection.release();
  Server& server = servers_[index];
  server = Server{};
  server.socket = loop_->add(released.descriptor);
  server.channel = std::move(released.channel);
  server.identity = identity;
  server.is_behind = is_behind;
  // Segments that a checkpoint has passed while it was away.
  for (const uint32_t number : joined.files) {
    if (!copies_.contains(number)) send(index, CloseMessage{number});
  }
}

void RemoteQueue::lose(size_t index, std::string why) {
  Server& server = servers_[index];
  if (!server.is_there()) return;
  loop_->close(server.socket);
  server = Server{};
  last_loss_ = fmt::format("{}: {}", options_.servers.servers[index].text(), why);
  options_.tell(fmt::format("the log server {} is lost ({}); {} of {} are there, and {} are needed",
                            options_.servers.servers[index].text(), why, servers_there(), servers_.size(),
                            majority_));
  keeper_.lost(index);
}

void RemoteQueue::send(size_t index, const LogMessage& message) {
  Server& server = servers_[index];
  if (!server.is_there()) return;
  if (const Result<void> sent = server.channel->send(message); !sent.ok()) lose(index, sent.error().message);
}

void RemoteQueue::send_range(size_t index, const SegmentCopy& copy, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; at += kMostContentBytes) {
    const uint64_t bytes = std::min<uint64_t>(kMostContentBytes, end - at);
    send(index, WriteMessage{copy.number, at, ByteSpan(copy.bytes.span()).subspan(at, bytes)});
  }
}

// Hands what was sent to the socket.
void RemoteQueue::push(size_t index) {
  Server& server = servers_[index];
  if (!server.is_there()) return;
  loop_->send(server.socket, server.channel->take_outgoing());
  if (loop_->unsent_bytes(server.socket) > kMostUnsentBytes) lose(index, "it is too slow");
}

int RemoteQueue::attach(int handle) {
  const auto number = static_cast<uint32_t>(handle);
  const std::shared_ptr<SegmentCopy> copy = segments_.copy(number);
  copies_[number] = copy;
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i].is_there() || servers_[i].is_behind) continue;
    send(i, CreateMessage{number, options_.segment_bytes});
    send_range(i, *copy, 0, copy->filled);
    push(i);
  }
  return handle;
}

void RemoteQueue::submit(const IoChain& chain) {
  const auto number = static_cast<uint32_t>(chain.file);
  SegmentCopy& copy = *copies_.at(number);
  segments_.fill(copy, chain);
  in_flight_.push_back({chain.tag, ++sequence_});
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (!servers_[i].is_there() || servers_[i].is_behind) continue;
    send_range(i, copy, chain.offset, copy.filled);
    send(i, FlushMessage{sequence_});
    servers_[i].asked = sequence_;
    push(i);
  }
}

// False: the server has been sent all that there is.
bool RemoteQueue::send_next_piece(size_t index) {
  Server& server = servers_[index];
  const auto next = copies_.lower_bound(server.next_file);
  if (next == copies_.end()) return false;
  const SegmentCopy& copy = *next->second;
  if (next->first != server.next_file) {
    server.next_file = next->first;
    server.next_offset = 0;
  }
  if (server.next_offset == 0) send(index, CreateMessage{copy.number, options_.segment_bytes});
  const uint64_t end = std::min<uint64_t>(server.next_offset + kMostContentBytes, copy.filled);
  send_range(index, copy, server.next_offset, end);
  if (!server.is_there()) return false;
  server.next_offset = end;
  if (end < copy.filled) return true;
  if (std::next(next) == copies_.end()) return false;
  ++server.next_file;
  server.next_offset = 0;
  return true;
}

void RemoteQueue::catch_up(size_t index) {
  Server& server = servers_[index];
  while (server.is_there() && server.is_behind && loop_->unsent_bytes(server.socket) < kCatchUpBytes) {
    if (!send_next_piece(index) && server.is_there()) {
      server.is_behind = false;
      server.asked = sequence_;
      send(index, FlushMessage{sequence_, /*is_whole=*/true});
      options_.tell(
          fmt::format("the log server {} is back, and has been sent all of the log; {} of {} are there",
                      options_.servers.servers[index].text(), servers_there(), servers_.size()));
    }
    push(index);
  }
}

// Servers let go of the segments that a checkpoint has passed.
void RemoteQueue::let_go_of_dropped() {
  for (std::shared_ptr<SegmentCopy>& copy : segments_.take_dropped()) {
    for (size_t i = 0; i < servers_.size(); ++i) {
      send(i, CloseMessage{copy->number});
      push(i);
    }
    copies_.erase(copy->number);
    segments_.give_back(std::move(copy));
  }
}

void RemoteQueue::take_message(size_t index, const LogMessage& message) {
  if (const auto* flushed = std::get_if<FlushedMessage>(&message)) {
    servers_[index].flushed = std::max(servers_[index].flushed, flushed->sequence);
    servers_[index].silent_ns = 0;
    return;
  }
  const auto* refused = std::get_if<RefusedMessage>(&message);
  if (refused == nullptr) return lose(index, "it answers what it was not asked");
  if (refused->reason == RefusedMessage::Reason::kOlderTerm && !failure_) {
    fail(failed(
        "the log server {} refuses this engine: {}; what it has not acknowledged may be missing from the log",
        options_.servers.servers[index].text(), refused->text));
  }
  lose(index, refused->text);
}

void RemoteQueue::take_event(const SocketEvent& event) {
  const auto server = std::ranges::find_if(
      servers_, [&](const Server& each) { return each.is_there() && each.socket == event.socket; });
  if (server == servers_.end()) return;
  const auto index = static_cast<size_t>(server - servers_.begin());
  if (event.kind != SocketEvent::Kind::kReceived) {
    return lose(index, event.error_number == 0 ? "it hung up" : reason_text(event.error_number));
  }
  if (const auto received = server->channel->receive(event.bytes); !received.ok()) {
    return lose(index, received.error().message);
  }
  while (server->is_there()) {
    const auto message = server->channel->next();
    if (!message.ok()) return lose(index, message.error().message);
    if (!*message) break;
    take_message(index, **message);
  }
  push(index);
}

// A server that hangs on a machine that lives: the network takes what it is sent, and nothing comes back.
void RemoteQueue::lose_silent() {
  const std::chrono::nanoseconds silence = options_.silence;
  const uint64_t now = monotonic_ns();
  // Between two looks that lie far apart this process stood still itself, or had nothing to wait for.
  const uint64_t passed =
      std::min(now - std::exchange(looked_ns_, now), static_cast<uint64_t>(look_interval().count()));
  for (size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    if (!server.is_there()) continue;
    const bool owes = server.is_behind ? loop_->unsent_bytes(server.socket) >= kCatchUpBytes
                                       : server.asked > server.flushed;
    server.silent_ns = owes ? server.silent_ns + passed : 0;
    if (server.silent_ns > static_cast<uint64_t>(silence.count())) {
      lose(i, fmt::format("it has given no answer for {} ms", options_.silence.count()));
    }
  }
}

void RemoteQueue::fail(Error error) {
  failure_ = std::move(error);
}

void RemoteQueue::end_chains(std::vector<IoCompletion>& ended) {
  const auto has = [this](uint64_t sequence) {
    return std::ranges::count_if(servers_, [&](const Server& each) {
             return each.is_there() && each.flushed >= sequence;
           }) >= majority_;
  };
  while (!in_flight_.empty() && (failure_ || has(in_flight_.front().sequence))) {
    const auto failure = failure_ ? IoCompletion::Failure::kWrite : IoCompletion::Failure::kNone;
    ended.push_back({in_flight_.front().tag, failure, 0});
    in_flight_.pop_front();
  }
}

void RemoteQueue::wait(std::chrono::nanoseconds limit, std::vector<IoCompletion>& ended) {
  take_outcomes();
  let_go_of_dropped();
  for (size_t i = 0; i < servers_.size(); ++i) catch_up(i);

  events_.clear();
  const std::chrono::nanoseconds longest = failure_ ? std::chrono::milliseconds(1) : look_interval();
  loop_->wait(std::min(limit, longest), events_);
  for (const SocketEvent& event : events_) take_event(event);
  lose_silent();
  if (!failure_ && servers_there() < majority_) {
    fail(segments_.save_after(fmt::format("{} of {} log servers are there, and {} are needed ({})",
                                          servers_there(), servers_.size(), majority_, last_loss_)));
  }
  end_chains(ended);
}

}  // namespace mneme
