#include "network/saved_log.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/crc32c.h"
#include "base/file/directory.h"
#include "base/file/file.h"

namespace mneme {

namespace {

constexpr char kSavedMagic[8] = {'M', 'N', 'L', 'O', 'G', 'S', 'R', 'V'};
constexpr uint32_t kVersion = 1;
constexpr size_t kSavedChecksumAt = 8;
constexpr size_t kBodyAt = 12;
constexpr std::string_view kLogSuffix = ".log";
constexpr std::string_view kTermSuffix = ".term";

std::string path_of(const std::string& directory, uint64_t database_id, std::string_view suffix) {
  return fmt::format("{}/{:016x}{}", directory, database_id, suffix);
}

// Returns a saved log's head: all that precedes its files' bytes.
ByteBuffer head_of(uint64_t database_id, const LogTerm& term, const FilesMessage& files) {
  ByteBuffer head;
  head.put_bytes(as_bytes({kSavedMagic, sizeof kSavedMagic}));
  head.put(uint32_t{0});  // the checksum, which replace() fills in
  head.put(kVersion);
  head.put(database_id);
  head.put(term.number);
  head.put(term.owner);
  head.put(files.whole_term);
  head.put(static_cast<uint32_t>(files.files.size()));
  for (const LogFileInfo& each : files.files) {
    head.put(each.number);
    head.put(each.term);
    head.put(each.bytes);
    head.put(each.end);
  }
  return head;
}

Result<void> replace(const std::string& directory, const std::string& path, ByteBuffer head,
                     const std::vector<ByteSpan>& contents) {
  uint32_t checksum = crc32c(head.span().subspan(kBodyAt));
  for (const ByteSpan each : contents) checksum = crc32c(each, checksum);
  store(head.data() + kSavedChecksumAt, checksum);

  const DirectoryChanges changes(directory);
  const std::string incoming = path + ".tmp";
  auto file = File::make(incoming, O_WRONLY);
  if (!file.ok()) return file.error();
  RETURN_IF_ERROR(file->write_at(head.span(), 0));
  uint64_t offset = head.size();
  for (const ByteSpan each : contents) {
    RETURN_IF_ERROR(file->write_at(each, offset));
    offset += each.size();
  }
  RETURN_IF_ERROR(file->sync_data());
  if (std::rename(incoming.c_str(), path.c_str()) != 0) return file_error("put in place", path, errno);
  return changes.sync();
}

Error damaged_log(const std::string& path, std::string_view how) {
  return damaged("the saved log {} is damaged: {}; nothing was changed. Move it away to start without it",
                 path, how);
}

// Maps a file's bytes into memory until the object is destroyed.
class Mapped {
 public:
  explicit Mapped(const File& file, size_t bytes) : bytes_(bytes) {
    if (bytes_ == 0) return;
    void* memory = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    if (memory != MAP_FAILED) memory_ = static_cast<const std::byte*>(memory);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    if (memory_ != nullptr) ::munmap(const_cast<std::byte*>(memory_), bytes_);
  }
  bool is_open() const { return memory_ != nullptr; }
  ByteSpan span() const { return {memory_, bytes_}; }

 private:
  const std::byte* memory_ = nullptr;
  size_t bytes_;
};

Result<LogStore> decode(ByteSpan bytes, const std::string& path, uint64_t& database_id) {
  if (bytes.size() < kBodyAt || std::memcmp(bytes.data(), kSavedMagic, sizeof kSavedMagic) != 0) {
    return damaged_log(path, "it begins with other bytes");
  }
  const ByteSpan body = bytes.subspan(kBodyAt);
  if (load<uint32_t>(bytes.data() + kSavedChecksumAt) != crc32c(body)) {
    return damaged_log(path, "its checksum doesn't match");
  }
  ByteReader from(body);
  if (const auto version = from.get<uint32_t>(); version != kVersion) {
    return invalid_argument("the saved log {} has version {}, and this program reads version {}", path,
                            version, kVersion);
  }
  database_id = from.get<uint64_t>();
  LogTerm term;
  term.number = from.get<uint32_t>();
  term.owner = from.get<uint64_t>();
  const auto whole_term = from.get<uint32_t>();
  std::vector<LogFileInfo> files(std::min<size_t>(from.get<uint32_t>(), body.size()));
  for (LogFileInfo& each : files) {
    each.number = from.get<uint32_t>();
    each.term = from.get<uint32_t>();
    each.bytes = from.get<uint64_t>();
    each.end = from.get<uint64_t>();
  }
  LogStore log;
  log.restore(term, whole_term);
  for (const LogFileInfo& each : files) {
    const ByteSpan content = from.get_bytes(each.end);
    if (from.bad() || each.end > each.bytes) return damaged_log(path, "it is shorter than it says");
    if (log.files().contains(each.number)) return damaged_log(path, "it holds a file twice");
    const LogStore::File* file = log.restore_file(each);
    if (file == nullptr) return failed("there is no memory for the log that {} holds", path);
    if (!content.empty()) std::memcpy(file->memory.span().data(), content.data(), content.size());
  }
  if (from.bad() || from.remaining() > 0) return damaged_log(path, "it is longer than it says");
  return log;
}

Result<LogStore> load(const std::string& path, uint64_t& database_id) {
  auto file = File::open_own(path, O_RDONLY);
  if (!file.ok()) return file.error();
  const auto size = file->size();
  if (!size.ok()) return size.error();
  const Mapped mapped(*file, *size);
  if (!mapped.is_open()) return damaged_log(path, "it is empty, or can't be read");
  return decode(mapped.span(), path, database_id);
}

}  // namespace

Result<void> save_log(const std::string& directory, uint64_t database_id, const LogStore& log) {
  std::vector<ByteSpan> contents;
  for (const auto& [number, file] : log.files()) contents.push_back(file.written());
  return replace(directory, path_of(directory, database_id, kLogSuffix),
                 head_of(database_id, log.term(), log.list()), contents);
}

Result<void> note_serving(const std::string& directory, uint64_t database_id, const LogTerm& term) {
  return replace(directory, path_of(directory, database_id, kLogSuffix),
                 head_of(database_id, term, FilesMessage{}), {});
}

Result<void> keep_term(const std::string& directory, uint64_t database_id, const LogTerm& term) {
  return replace(directory, path_of(directory, database_id, kTermSuffix),
                 head_of(database_id, term, FilesMessage{}), {});
}

Result<void> remove_log(const std::string& directory, uint64_t database_id) {
  const DirectoryChanges changes(directory);
  for (const std::string_view suffix : {kTermSuffix, kLogSuffix}) {
    const std::string path = path_of(directory, database_id, suffix);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return file_error("remove", path, errno);
  }
  RETURN_IF_ERROR(changes.sync());
  return {};
}

Result<std::map<uint64_t, LogStore>> load_logs(const std::string& directory) {
  std::map<uint64_t, LogStore> logs;
  std::map<uint64_t, LogTerm> terms;
  const auto paths = paths_in(directory);
  if (!paths) return paths.error();
  for (const std::string& path : *paths) {
    const bool is_log = path.ends_with(kLogSuffix);
    if (!is_log && !path.ends_with(kTermSuffix)) continue;
    uint64_t database_id = 0;
    auto log = load(path, database_id);
    if (!log.ok()) return log.error();
    if (path_of(directory, database_id, is_log ? kLogSuffix : kTermSuffix) != path) {
      return damaged_log(path, "its name is another log's");
    }
    if (is_log) {
      logs.emplace(database_id, std::move(*log));
    } else {
      terms[database_id] = log->term();
    }
  }
  for (const auto& [database_id, term] : terms) {
    const auto log = logs.find(database_id);
    if (log == logs.end()) {
      (void)remove_log(directory, database_id);  // if that fails, the next start tries again
      continue;
    }
    (void)log->second.claim(term);  // refused if it is older than the log's own term, which stands
  }
  return logs;
}

}  // namespace mneme
