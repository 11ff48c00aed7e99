#include "network/log_store.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace mneme {

namespace {

using Reason = RefusedMessage::Reason;

template <typename... Args>
RefusedMessage refused(Reason reason, fmt::format_string<Args...> text, Args&&... args) {
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
  if (term.number < term_.number) {
    return refused(Reason::kOlderTerm, "term {} is over: an engine of term {} has taken this log over",
                   term.number, term_.number);
  }
  if (term.number == term_.number && term.owner != term_.owner) {
    return refused(Reason::kOlderTerm, "term {} belongs to another engine", term.number);
  }
  term_ = term;
  return {};
}

LogStore::Refusal LogStore::check_owner(const LogTerm& by) const {
  if (by == term_) return {};
  return refused(Reason::kOlderTerm, "term {} is over: an engine of term {} has taken this log over",
                 by.number, term_.number);
}

LogStore::Refusal LogStore::create(const LogTerm& by, const CreateMessage& create, uint64_t most_bytes) {
  if (auto refusal = check_owner(by)) return refusal;
  const auto there = files_.find(create.file);
  const uint64_t there_bytes = there == files_.end() ? 0 : there->second.memory.span().size();
  if (there != files_.end() && there->second.term == by.number && there_bytes == create.bytes) return {};
  if (create.bytes == 0 || create.bytes > most_bytes || bytes_ - there_bytes > most_bytes - create.bytes) {
    return refused(Reason::kNoMemory,
                   "log file {} wants {} bytes, and this server holds logs of {} of at most {} bytes: start "
                   "it with more "
                   "--memory",
                   create.file, create.bytes, bytes_, most_bytes);
  }
  ZeroedMemory memory(create.bytes);
  if (!memory.is_open()) {
    return refused(Reason::kNoMemory, "the server's system has no memory left for log file {} of {} bytes",
                   create.file, create.bytes);
  }
  if (there != files_.end()) files_.erase(there);
  bytes_ += create.bytes - there_bytes;
  files_.emplace(create.file, File{by.number, std::move(memory)});
  return {};
}

LogStore::Refusal LogStore::write(const LogTerm& by, const WriteMessage& write) {
  if (auto refusal = check_owner(by)) return refusal;
  const auto file = files_.find(write.file);
  if (file == files_.end() || file->second.term != by.number) {
    return refused(Reason::kNoSuchFile, "term {} has created no log file {} here", by.number, write.file);
  }
  const std::span<std::byte> memory = file->second.memory.span();
  if (write.offset > memory.size() || write.bytes.size() > memory.size() - write.offset) {
    return refused(Reason::kNotAllowed, "log file {} has {} bytes, and {} at byte {} reach past them",
                   write.file, memory.size(), write.bytes.size(), write.offset);
  }
  if (write.bytes.empty()) return {};
  std::memcpy(memory.data() + write.offset, write.bytes.data(), write.bytes.size());
  file->second.end = std::max(file->second.end, write.offset + write.bytes.size());
  return {};
}

LogStore::Refusal LogStore::close(const LogTerm& by, const CloseMessage& close) {
  if (auto refusal = check_owner(by)) return refusal;
  const auto file = files_.find(close.file);
  if (file == files_.end()) return {};
  bytes_ -= file->second.memory.span().size();
  files_.erase(file);
  return {};
}

bool LogStore::has_content() const {
  return std::ranges::any_of(files_, [](const auto& each) { return each.second.end > 0; });
}

void LogStore::drop_unwritten() {
  CHECK(!has_content());
  files_.clear();
  bytes_ = 0;
}

LogStore::Refusal LogStore::set_whole(const LogTerm& by) {
  if (auto refusal = check_owner(by)) return refusal;
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
