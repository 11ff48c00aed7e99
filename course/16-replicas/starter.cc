// Your part of chapter 16: one database's log in a server's memory, and who may write it. Read
// network/log_store.h first, then base/log_term.h.
//
// This starter gives each term to each engine that claims it, lets every engine write, and counts no memory.
// What lies above claim() and from read() on is the engine's own.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "network/log_store.h"

namespace mneme {

namespace {

using Reason = RefusedMessage::Reason;

// For your refusals: refused(Reason::kOlderTerm, "term {} is over", number).
template <typename... Args>
[[maybe_unused]] RefusedMessage refused(Reason reason, fmt::format_string<Args...> text, Args&&... args) {
  return {reason, fmt::format(text, std::forward<Args>(args)...)};
}

}  // namespace

ZeroedMemory::ZeroedMemory(size_t bytes) : memory_(nullptr), bytes_(bytes) {
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory != MAP_FAILED) memory_ = static_cast<std::byte*>(memory);
}

ZeroedMemory::ZeroedMemory(ZeroedMemory&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

ZeroedMemory::~ZeroedMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

FilesMessage LogStore::list() const {
  FilesMessage message;
  message.whole_term = whole_term_;
  for (const auto& [number, file] : files_) {
    message.files.push_back({number, file.term, file.memory.span().size(), file.end});
  }
  return message;
}

LogStore::Refusal LogStore::claim(const LogTerm& term) {
  term_ = term;
  return {};
}

LogStore::Refusal LogStore::check_owner(const LogTerm& by) const {
  (void)by;
  return {};
}

LogStore::Refusal LogStore::create(const LogTerm& by, const CreateMessage& create, uint64_t most_bytes) {
  (void)most_bytes;
  ZeroedMemory memory(create.bytes);
  if (!memory.is_open()) return refused(Reason::kNoMemory, "the system has no memory left");
  files_.emplace(create.file, File{by.number, std::move(memory)});
  return {};
}

LogStore::Refusal LogStore::write(const LogTerm& by, const WriteMessage& write) {
  (void)by;
  const auto file = files_.find(write.file);
  if (file == files_.end()) return refused(Reason::kNoSuchFile, "there is no log file {}", write.file);
  const std::span<std::byte> memory = file->second.memory.span();
  if (write.offset > memory.size() || write.bytes.size() > memory.size() - write.offset) return {};
  std::copy(write.bytes.begin(), write.bytes.end(), memory.begin() + static_cast<ptrdiff_t>(write.offset));
  return {};
}

LogStore::Refusal LogStore::close(const LogTerm& by, const CloseMessage& close) {
  (void)by;
  files_.erase(close.file);
  return {};
}

bool LogStore::has_content() const {
  return true;
}

void LogStore::drop_unwritten() {}

LogStore::Refusal LogStore::set_whole(const LogTerm& by) {
  whole_term_ = by.number;
  return {};
}

std::optional<ByteSpan> LogStore::read(const ReadMessage& read) const {
  const auto file = files_.find(read.file);
  if (file == files_.end()) return std::nullopt;
  const ByteSpan memory = file->second.memory.span();
  const uint64_t begin = std::min<uint64_t>(read.offset, memory.size());
  return memory.subspan(begin, std::min<uint64_t>(read.bytes, memory.size() - begin));
}

void LogStore::restore(const LogTerm& term, uint32_t whole_term) {
  term_ = term;
  whole_term_ = whole_term;
}

LogStore::File* LogStore::restore_file(const LogFileInfo& info) {
  ZeroedMemory memory(info.bytes);
  if (!memory.is_open()) return nullptr;
  File& file = files_.emplace(info.number, File{info.term, std::move(memory)}).first->second;
  file.end = info.end;
  bytes_ += info.bytes;
  return &file;
}

}  // namespace mneme
