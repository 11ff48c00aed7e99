#include "server/protocol/frames.h"

#include <string_view>

#include "server/protocol/wire.h"

namespace mneme {

void FrameReader::receive(ByteSpan arrived) {
  if (at_ > 0) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(at_));
    dropped_ += at_;
    at_ = 0;
  }
  bytes_.insert(bytes_.end(), arrived.begin(), arrived.end());
}

Result<std::optional<ClientMessage>> FrameReader::next() {
  const size_t header = has_types_ ? 5 : 4;
  const ByteSpan rest = ByteSpan(bytes_).subspan(at_);
  if (rest.size() < header) return std::optional<ClientMessage>();
  const auto length = from_big_endian<uint32_t>(rest.data() + (header - 4));
  if (length < 4 || length > most_bytes_)
    return invalid_argument("a message says that it has {} bytes, and at most {} are accepted", length,
                            most_bytes_);
  const size_t whole = header - 4 + length;
  if (rest.size() < whole) return std::optional<ClientMessage>();
  next_bytes_ = whole;
  return std::optional(
      ClientMessage{has_types_ ? static_cast<char>(rest[0]) : '\0', rest.subspan(header, length - 4)});
}

void FrameReader::take() {
  at_ += next_bytes_;
  next_bytes_ = 0;
  const size_t place = dropped_ + at_;
  while (!requests_.empty() && requests_.front().end <= place) requests_.erase(requests_.begin());
}

void FrameReader::scan() {
  constexpr std::string_view kParts = "PBDEC";  // what a Sync or a Flush is to follow
  scanned_ = std::max(scanned_, dropped_ + at_);
  for (;;) {
    const size_t begin = scanned_ - dropped_;
    if (bytes_.size() < begin + 5) return;
    const auto length = from_big_endian<uint32_t>(bytes_.data() + begin + 1);
    if (length < 4 || length > most_bytes_) {
      requests_.push_back({SIZE_MAX, open_});  // for next() to refuse
      return;
    }
    if (bytes_.size() < begin + 1 + length) return;
    scanned_ += 1 + length;
    const char type = static_cast<char>(bytes_[begin]);
    if (type == 'E') ++open_.executes;
    if (kParts.find(type) != std::string_view::npos) continue;
    open_.has_sync = type == 'S';
    requests_.push_back({scanned_, open_});
    open_ = {};
  }
}

bool FrameReader::has_request() {
  if (!has_types_) return true;
  if (requests_.empty() || requests_.back().end != SIZE_MAX) scan();
  return !requests_.empty() || bytes_.size() - at_ > kMostAhead;
}

}  // namespace mneme
