#include "server/session/client_activity.h"

#include <chrono>

namespace mneme {
namespace {

// From 1970-01-01 to 2000-01-01.
constexpr int64_t kEpochMicroseconds = int64_t{946'684'800} * 1'000'000;

int64_t microseconds_now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count() - kEpochMicroseconds;
}

// Not in the middle of a character.
std::string_view cut_query(std::string_view text) {
  // The session ends a line for the parser.
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.size() <= ClientActivity::kMostQueryBytes) return text;
  size_t end = ClientActivity::kMostQueryBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

void ClientActivity::begin_session(int64_t number, const std::string& user, const std::string& database) {
  const std::lock_guard lock(mutex_);
  shown_.pid = number;
  shown_.user = user;
  shown_.database = database;
  shown_.state = "idle";
  shown_.times.session = shown_.times.state = microseconds_now();
}

void ClientActivity::set_application(const std::string& name) {
  const std::lock_guard lock(mutex_);
  shown_.application = name;
}

void ClientActivity::begin_query(std::string_view text, bool is_in_block) {
  const std::string_view query = cut_query(text);
  const std::lock_guard lock(mutex_);
  if (shown_.state == "active" && shown_.query == query) return;
  waits_for_lock_.store(false, std::memory_order_relaxed);
  shown_.times.query = microseconds_now();
  if (!is_in_block || shown_.times.transaction == 0) shown_.times.transaction = shown_.times.query;
  if (shown_.state != "active") shown_.times.state = shown_.times.query;
  shown_.state = "active";
  shown_.query = query;
}

void ClientActivity::end(char state) {
  waits_for_lock_.store(false, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  shown_.state = state == 'I'   ? "idle"
                 : state == 'T' ? "idle in transaction"
                                : "idle in transaction (aborted)";
  if (state == 'I') shown_.times.transaction = 0;
  shown_.times.state = microseconds_now();
}

std::optional<SessionActivity> ClientActivity::look() const {
  const std::lock_guard lock(mutex_);
  if (shown_.times.session == 0) return std::nullopt;
  SessionActivity shown = shown_;
  shown.waits_for_lock = waits_for_lock_.load(std::memory_order_relaxed);
  return shown;
}

}  // namespace mneme
