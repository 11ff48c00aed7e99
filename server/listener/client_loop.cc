#include "server/listener/client_loop.h"

#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "server/protocol/sqlstates.h"

namespace mneme {
namespace {

constexpr std::chrono::milliseconds kRetryInterval{1};
constexpr std::chrono::milliseconds kLookInterval{250};
constexpr uint64_t kNanosecondsAMillisecond = 1'000'000;
// What a client may leave unread before no more of its messages are handled.
constexpr size_t kMostUnsentBytes = size_t{64} << 20;
// What may wait of a client's messages: one that sends so much faster than it is served is cut off.
constexpr size_t kMostWaitingBytes = size_t{256} << 20;
constexpr size_t kEncipheredAtOnce = size_t{1} << 20;

}  // namespace

void ClientLoop::adopt(int descriptor, uint32_t id, uint32_t secret, ClientLink link) {
  {
    const std::lock_guard lock(mutex_);
    adopted_.push_back({descriptor, id, secret, std::move(link)});
  }
  wake();
}

void ClientLoop::come_back(SocketId client, ClientSession::Step step) {
  {
    const std::lock_guard lock(mutex_);
    back_.push_back({client, step});
  }
  wake();
}

void ClientLoop::stop(Stop how) {
  stop_.store(how, std::memory_order_relaxed);
  wake();
}

void ClientLoop::take_messages() {
  std::vector<Adopted> adopted;
  std::vector<Back> back;
  {
    const std::lock_guard lock(mutex_);
    adopted.swap(adopted_);
    back.swap(back_);
  }
  for (Adopted& each : adopted) {
    if (stops_) {
      ::close(each.descriptor);
      server_.gone(each.id);
      continue;
    }
    auto client = std::make_unique<Client>(*server_.host, each.id, each.secret, std::move(each.link));
    client->since_ns = client->heard_ns = client->sent_ns = monotonic_ns();
    clients_.emplace(sockets_->add(each.descriptor), std::move(client));
  }
  for (const Back& each : back) {
    const auto found = clients_.find(each.client);
    Client& client = *found->second;
    client.is_away = false;
    active_.insert(each.client);
    if (client.is_gone) continue;
    client.session.receive(client.arrived);
    client.arrived.clear();
    settle(each.client, client, each.step);
    if (each.step == ClientSession::Step::kWaits) advance(each.client, client);
    deliver_notifications(each.client, client);  // which came while it was away
  }
}

void ClientLoop::take(const SocketEvent& event) {
  const auto found = clients_.find(event.socket);
  if (found == clients_.end()) return;
  Client& client = *found->second;
  if (event.kind == SocketEvent::Kind::kClosed) {
    lose(event.socket, client);
    return;
  }
  if (event.kind != SocketEvent::Kind::kReceived) return;
  if (client.is_gone) return;
  client.heard_ns = monotonic_ns();
  if (client.tls == nullptr) {
    take(event.socket, client, event.bytes);
    return;
  }
  deciphered_.clear();
  const bool goes_on = client.tls->receive(event.bytes, deciphered_).ok();
  send_enciphered(event.socket, client);
  if (!deciphered_.empty()) take(event.socket, client, deciphered_);
  if (goes_on || client.is_gone) return;
  // It has ended TLS, as clients do behind their last message, or sent what is none.
  sockets_->close(event.socket);
  lose(event.socket, client);
}

void ClientLoop::take(SocketId id, Client& client, ByteSpan bytes) {
  // What a helper's session has in hand is the helper's to look at.
  const size_t waiting = client.is_away ? client.arrived.size() : client.session.waiting_bytes();
  if (waiting + bytes.size() > kMostWaitingBytes) {
    sockets_->abort(id);
    lose(id, client);
    return;
  }
  if (client.is_away) {
    client.arrived.insert(client.arrived.end(), bytes.begin(), bytes.end());
    return;
  }
  if (client.ends) return;
  client.session.receive(bytes);
  advance(id, client);
}

void ClientLoop::lose(SocketId id, Client& client) {
  client.is_gone = true;
  client.session.stop();
  active_.insert(id);
}

void ClientLoop::begin_tls(SocketId id, Client& client) {
  // The answer to its request, the last bytes in the clear. No record is behind it.
  sockets_->send(id, client.session.replies().take(Lsn{}));
  client.tls = std::make_unique<TlsSession>(server_.options->tls);
}

void ClientLoop::send_enciphered(SocketId id, Client& client) {
  if (client.tls->outgoing_bytes() > 0) sockets_->send(id, client.tls->take_outgoing());
}

void ClientLoop::send(SocketId id, Client& client, std::vector<std::byte> plain) {
  if (client.tls == nullptr) {
    sockets_->send(id, std::move(plain));
    return;
  }
  // In pieces, so that a large reply is not in memory a third time.
  for (ByteSpan rest = plain; !rest.empty();) {
    const ByteSpan piece = rest.first(std::min(rest.size(), kEncipheredAtOnce));
    rest = rest.subspan(piece.size());
    if (!client.tls->send(piece).ok()) {
      client.ends = true;
      return;
    }
    send_enciphered(id, client);
  }
}

void ClientLoop::advance(SocketId id, Client& client) {
  if (client.is_away || client.ends) return;
  if (sockets_->unsent_bytes(id) > kMostUnsentBytes) {  // until the client has read some of it
    client.retries = true;
    active_.insert(id);
    return;
  }
  settle(id, client, client.session.advance(ClientSession::Waiting::kNever));
}

void ClientLoop::settle(SocketId id, Client& client, ClientSession::Step step) {
  active_.insert(id);
  if (step == ClientSession::Step::kTls) {
    begin_tls(id, client);
    return;
  }
  client.retries = step == ClientSession::Step::kRetry;
  client.ends |= step == ClientSession::Step::kEnds;
  if (step != ClientSession::Step::kWork) return;
  client.is_away = true;
  server_.help(*this, id, client.session);
}

bool ClientLoop::send(SocketId id, Client& client, Lsn durable) {
  if (client.is_away) return false;
  if (client.is_gone) {
    remove(id);
    return false;
  }
  ReplyQueue& replies = client.session.replies();
  if (drops_held_) replies.drop_held();
  if (replies.bytes() > 0) {
    std::vector<std::byte> leaving = replies.take(durable);
    if (!leaving.empty()) send(id, client, std::move(leaving));
  }
  if (const std::optional<Lsn> gate = replies.gate(); gate) {
    server_.wait_for(number_, *gate);
    return true;
  }
  if (!client.ends) return client.retries;
  if (client.tls != nullptr) {
    client.tls->finish();
    send_enciphered(id, client);
  }
  if (sockets_->unsent_bytes(id) > 0) return true;
  sockets_->close(id);
  remove(id);
  return false;
}

void ClientLoop::send_all() {
  const Lsn durable = server_.log->durable();
  has_retries_ = false;
  for (auto at = active_.begin(); at != active_.end();) {
    const SocketId id = *at++;
    const auto found = clients_.find(id);
    if (found == clients_.end() || !send(id, *found->second, durable)) {
      active_.erase(id);
      continue;
    }
    has_retries_ |= found->second->retries || found->second->ends;
  }
}

void ClientLoop::end_all(std::string_view sqlstate, std::string_view message) {
  for (auto& [id, client] : clients_) {
    client->session.stop();
    if (client->is_away || client->ends) continue;
    end(id, *client, sqlstate, message);
  }
}

void ClientLoop::end(SocketId id, Client& client, std::string_view sqlstate, std::string_view message) {
  client.session.end(sqlstate, message);
  client.ends = true;
  active_.insert(id);
}

void ClientLoop::look_after(uint64_t now) {
  for (auto& [id, client] : clients_) {
    if (client->is_away || client->is_gone) continue;
    const auto is_over = [now](uint64_t since, std::chrono::milliseconds patience) {
      return now - since > static_cast<uint64_t>(patience.count()) * kNanosecondsAMillisecond;
    };
    const uint64_t sent = sockets_->sent_bytes(id);
    if (sent != client->sent_bytes || sockets_->unsent_bytes(id) == 0) {
      client->sent_bytes = sent;
      client->sent_ns = now;
    }
    if (is_over(client->sent_ns, server_.options->read_patience)) {
      sockets_->abort(id);
      client->is_gone = true;
      active_.insert(id);
    } else if (client->ends) {
      continue;
    } else if (!client->session.has_started() &&
               is_over(client->since_ns, server_.options->startup_patience)) {
      end(id, *client, sqlstate::kProtocolViolation, "canceling authentication due to timeout");
    } else if (const uint64_t limit = client->session.idle_in_block_ms();
               limit > 0 && client->session.in_block() &&
               is_over(client->heard_ns, std::chrono::milliseconds(limit))) {
      end(id, *client, sqlstate::kIdleInBlock, "terminating connection due to idle-in-transaction timeout");
    }
  }
}

void ClientLoop::deliver_notifications(SocketId id, Client& client) {
  if (client.is_away || client.is_gone || client.ends) return;
  if (sockets_->unsent_bytes(id) + client.session.replies().bytes() > kMostUnsentBytes) return;
  if (client.session.deliver_if_idle()) active_.insert(id);
}

void ClientLoop::deliver_notifications() {
  for (auto& [id, client] : clients_) deliver_notifications(id, *client);
}

void ClientLoop::remove(SocketId id) {
  const auto found = clients_.find(id);
  const uint32_t number = found->second->id;
  clients_.erase(found);
  server_.gone(number);
}

std::chrono::nanoseconds ClientLoop::longest_wait() const {
  return has_retries_ ? std::chrono::nanoseconds(kRetryInterval) : std::chrono::nanoseconds(kLookInterval);
}

void ClientLoop::run() {
  std::vector<SocketEvent> events;
  for (;;) {
    events.clear();
    sockets_->wait(longest_wait(), events);
    take_messages();
    for (const SocketEvent& event : events) take(event);
    if (has_retries_) {
      for (const SocketId id : std::vector<SocketId>(active_.begin(), active_.end())) {
        const auto found = clients_.find(id);
        if (found != clients_.end() && found->second->retries) advance(id, *found->second);
      }
    }
    if (has_failed_.load(std::memory_order_relaxed) && !drops_held_) {
      drops_held_ = true;
      end_all(sqlstate::kIoError, "the log has failed: what was not acknowledged may be lost");
    }
    if (gives_way_.exchange(false, std::memory_order_relaxed)) {
      for (auto& [id, client] : clients_) {
        if (client->is_away || client->is_gone || client->ends || !client->session.in_block()) continue;
        end(id, *client, sqlstate::kSerializationFailure,
            "terminating connection due to conflict with recovery");
      }
    }
    if (const Stop how = stop_.load(std::memory_order_relaxed); how != Stop::kNo) {
      stops_ = true;
      end_all(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
      if (how == Stop::kNow) {
        for (auto& [id, client] : clients_) {
          if (!client->is_gone) sockets_->abort(id);
          client->is_gone = true;
          active_.insert(id);
        }
      }
    }
    if (has_notifications_.exchange(false, std::memory_order_relaxed)) deliver_notifications();
    const uint64_t now = monotonic_ns();
    if (now - looked_ns_ > static_cast<uint64_t>(std::chrono::nanoseconds(kLookInterval).count())) {
      looked_ns_ = now;
      look_after(now);
      deliver_notifications();  // to those that have read what they had left
    }
    send_all();
    if (stops_ && clients_.empty()) return;
  }
}

}  // namespace mneme
