#include "tests/simulator/simulated_disk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "tests/simulator/real_calls.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

constexpr size_t kSectorBytes = 512;
constexpr uint64_t kLongestSyncNs = 3'000'000;
constexpr uint64_t kLongestWriteNs = 50'000;

// Below the C library, so that nobody is called back.
template <typename... Arguments>
long system_call(long number, Arguments... arguments) {
  return REAL(syscall)(number, arguments...);
}

using Bytes = std::vector<char>;

// A change of a file's content that no sync has covered.
struct Change {
  uint64_t id;
  uint64_t offset;
  Bytes before;
  Bytes after;
  uint64_t size_before;
  uint64_t size_after;
  bool is_doomed = false;  // a sync that should have covered it failed

  uint64_t end() const { return offset + std::max(before.size(), after.size()); }
};

struct Content {
  int descriptor = -1;  // of our own
  std::vector<Change> changes;
};

// A change of a directory's entries that no sync has covered.
struct EntryChange {
  enum class Kind : uint8_t { kMade, kRenamed, kRemoved };
  uint64_t id;
  Kind kind;
  std::string path;
  std::string from{};  // kRenamed
  std::string kept{};  // what had the path before, in the trash
};

class Disk {
 public:
  explicit Disk(DiskRules rules) : rules_(std::move(rules)) {}

  bool has(std::string_view path) const {
    return path.starts_with(rules_.folder) && path.size() > rules_.folder.size() && path[rules_.folder.size()] == '/';
  }

  int open(const char* path, int flags, mode_t mode) {
    step();
    const bool is_new = (flags & O_CREAT) != 0 && !exists(path);
    if (is_new && fails(Kind::kRoom)) return fail_with(ENOSPC);
    const int clean = flags & ~(O_DIRECT | O_TRUNC);
    const auto descriptor = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, clean, mode));
    if (descriptor < 0) return descriptor;
    if (is_new) entries_[parent(path)].push_back({++ids_, EntryChange::Kind::kMade, path});
    if ((flags & O_ACCMODE) != O_RDONLY) {
      const auto [at, is_first] = numbers_.try_emplace(identity(descriptor), contents_.size());
      if (is_first) contents_.emplace_back();
      Content& content = contents_[at->second];
      if (content.descriptor < 0)
        content.descriptor = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0));
      CHECK(content.descriptor >= 0);
      if ((flags & O_TRUNC) != 0) CHECK(resize(content, 0));
    }
    return descriptor;
  }

  // Nothing: not a file of this disk.
  std::optional<ssize_t> write(int descriptor, const void* bytes, size_t count, off_t offset, bool may_end_early) {
    Content* const content = find(descriptor);
    if (content == nullptr) return std::nullopt;
    pass(1 + draw(kLongestWriteNs));
    if (fails(Kind::kWrite)) return fail_with(EIO);
    const uint64_t begin = static_cast<uint64_t>(offset);
    if (begin + count > size(*content) && fails(Kind::kRoom)) return fail_with(ENOSPC);
    const bool is_cut = may_end_early ? draw(16) == 0 : fails(Kind::kWholeWrite);
    if (is_cut && count >= 2 * kSectorBytes) count = (1 + draw(count / kSectorBytes - 1)) * kSectorBytes;
    const auto* from = static_cast<const char*>(bytes);
    change(*content, begin, Bytes(from, from + count), std::max(size(*content), begin + count));
    return static_cast<ssize_t>(count);
  }

  std::optional<int> truncate(int descriptor, off_t bytes) {
    Content* const content = find(descriptor);
    if (content == nullptr) return std::nullopt;
    step();
    const auto wanted = static_cast<uint64_t>(bytes);
    if (wanted > size(*content) && fails(Kind::kRoom)) return fail_with(ENOSPC);
    CHECK(resize(*content, wanted));
    return 0;
  }

  std::optional<int> sync(int descriptor) {
    if (const auto directory = directory_of(descriptor)) return sync_directory(*directory);
    Content* const content = find(descriptor);
    if (content == nullptr) return std::nullopt;
    const uint64_t last = ids_;
    pass(1 + draw(kLongestSyncNs * rules_.slowness));
    const bool is_failure = fails(Kind::kSync);
    if (rules_.fault == Fault::kForgetsSyncs) return 0;
    for (Change& each : content->changes) {
      if (each.id <= last && is_failure) each.is_doomed = true;
    }
    if (is_failure) return fail_with(EIO);
    // What lies over a doomed change takes its place for good.
    std::erase_if(content->changes, [&](const Change& doomed) {
      return doomed.is_doomed && std::ranges::any_of(content->changes, [&](const Change& each) {
               return !each.is_doomed && each.id <= last && each.offset < doomed.end() && doomed.offset < each.end();
             });
    });
    std::optional<uint64_t> durable_size;
    std::erase_if(content->changes, [&](const Change& each) {
      if (each.id > last || each.is_doomed) return false;
      durable_size = each.size_after;
      return true;
    });
    // A file's size is one, whatever became of its bytes.
    for (Change& each : content->changes) {
      if (each.is_doomed && durable_size) each.size_before = each.size_after = *durable_size;
    }
    return 0;
  }

  int rename(const char* from, const char* to) {
    step();
    EntryChange change{++ids_, EntryChange::Kind::kRenamed, to, from, keep(to)};
    const auto done = static_cast<int>(system_call(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
    if (done == 0) entries_[parent(to)].push_back(std::move(change));
    return done;
  }

  int link(const char* from, const char* to) {
    step();
    const auto done = static_cast<int>(system_call(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
    if (done == 0) entries_[parent(to)].push_back({++ids_, EntryChange::Kind::kMade, to});
    return done;
  }

  int unlink(const char* path) {
    step();
    EntryChange change{++ids_, EntryChange::Kind::kRemoved, path, {}, keep(path)};
    const auto done = static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, 0));
    if (done == 0) entries_[parent(path)].push_back(std::move(change));
    return done;
  }

  void fail_power() {
    // Of some failures all is lost that can be, of some nothing, of most this and that.
    const uint64_t manner = draw(8);
    for (Content& content : contents_) {
      std::vector<Change>& changes = content.changes;
      for (auto each = changes.rbegin(); each != changes.rend(); ++each) put(content, each->offset, each->before, each->size_before);
      for (const Change& each : changes) {
        if (manner == 0 || (manner != 1 && (each.is_doomed || draw(2) == 0))) continue;
        keep_some(content, each, manner == 1 ? 1 : 1 + draw(2));
      }
    }
    const uint64_t one_in = 2 + draw(8);
    for (auto& [directory, changes] : entries_) {
      // In any order, but that nothing stays which rests upon what goes. Or one alone, which others may hide otherwise.
      std::set<std::string> lost_paths;
      std::vector<EntryChange> lost;
      const uint64_t the_one = manner == 2 && !changes.empty() ? changes[draw(changes.size())].id : 0;
      for (const EntryChange& each : changes) {
        const bool is_drawn = manner == 2 ? each.id == the_one : manner != 1 && draw(one_in) == 0;
        const bool is_lost = manner == 0 || is_drawn || lost_paths.contains(each.path) || lost_paths.contains(each.from);
        if (!is_lost) continue;
        lost_paths.insert(each.path);
        if (!each.from.empty()) lost_paths.insert(each.from);
        lost.push_back(each);
      }
      for (auto each = lost.rbegin(); each != lost.rend(); ++each) undo(*each);
    }
  }

 private:
  enum class Kind : uint8_t { kWrite, kWholeWrite, kSync, kRoom };
  using Identity = std::pair<dev_t, ino_t>;

  static int fail_with(int number) {
    errno = number;
    return -1;
  }
  bool fails(Kind kind) {
    const auto is_due = [&](bool from_then_on) {
      ++counted_;
      return from_then_on ? counted_ >= rules_.fault_at : counted_ == rules_.fault_at;
    };
    switch (rules_.fault) {
      case Fault::kWriteFails:
        return kind == Kind::kWrite && is_due(false);
      case Fault::kShortWrite:
        return kind == Kind::kWholeWrite && is_due(false);
      case Fault::kSyncFails:
        return kind == Kind::kSync && is_due(false);
      case Fault::kSyncsFail:
        return kind == Kind::kSync && is_due(true);
      case Fault::kDiskFull:
        return kind == Kind::kRoom && is_due(true);
      default:
        return false;
    }
  }

  static bool exists(const std::string& path) { return system_call(SYS_faccessat, AT_FDCWD, path.c_str(), F_OK) == 0; }
  static std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }
  static Identity identity(int descriptor) {
    struct stat found {};
    CHECK(::fstat(descriptor, &found) == 0);
    return {found.st_dev, found.st_ino};
  }
  static uint64_t size(const Content& content) {
    struct stat found {};
    CHECK(::fstat(content.descriptor, &found) == 0);
    return static_cast<uint64_t>(found.st_size);
  }
  Content* find(int descriptor) {
    const auto found = numbers_.find(identity(descriptor));
    return found == numbers_.end() ? nullptr : &contents_[found->second];
  }
  std::optional<std::string> directory_of(int descriptor) const {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0 || !S_ISDIR(found.st_mode)) return std::nullopt;
    const std::string path = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor)).string();
    if (path != rules_.folder && !has(path)) return std::nullopt;
    return path;
  }
  int sync_directory(const std::string& path) {
    const uint64_t last = ids_;
    pass(1 + draw(kLongestSyncNs * rules_.slowness));
    if (fails(Kind::kSync)) return fail_with(EIO);
    if (rules_.fault == Fault::kForgetsSyncs) return 0;
    std::erase_if(entries_[path], [&](const EntryChange& each) {
      if (each.id > last) return false;
      if (!each.kept.empty()) system_call(SYS_unlinkat, AT_FDCWD, each.kept.c_str(), 0);
      return true;
    });
    return 0;
  }

  static Bytes read(const Content& content, uint64_t offset, size_t count) {
    Bytes bytes(count);
    const long got = system_call(SYS_pread64, content.descriptor, bytes.data(), count, offset);
    CHECK(got >= 0);
    bytes.resize(static_cast<size_t>(got));
    return bytes;
  }
  static void put(const Content& content, uint64_t offset, const Bytes& bytes, uint64_t file_size) {
    if (!bytes.empty()) {
      const long done = system_call(SYS_pwrite64, content.descriptor, bytes.data(), bytes.size(), offset);
      CHECK(done == static_cast<long>(bytes.size()));
    }
    CHECK(system_call(SYS_ftruncate, content.descriptor, file_size) == 0);
  }
  void change(Content& content, uint64_t offset, Bytes after, uint64_t size_after) {
    const uint64_t before = size(content);
    Change change{++ids_, offset, read(content, offset, after.size()), std::move(after), before, size_after};
    put(content, offset, change.after, size_after);
    content.changes.push_back(std::move(change));
  }
  bool resize(Content& content, uint64_t wanted) {
    const uint64_t before = size(content);
    Bytes cut;
    if (wanted < before) cut = read(content, wanted, before - wanted);
    content.changes.push_back({++ids_, wanted, std::move(cut), {}, before, wanted});
    put(content, 0, {}, wanted);
    return true;
  }
  // All of a change, or some of its sectors.
  static void keep_some(const Content& content, const Change& change, uint64_t one_in) {
    const uint64_t now = size(content);
    const bool shrinks = change.size_after < change.size_before;
    put(content, 0, {}, shrinks ? change.size_after : std::max(now, change.size_after));
    for (uint64_t at = 0; at < change.after.size();) {
      const uint64_t to_boundary = kSectorBytes - (change.offset + at) % kSectorBytes;
      const uint64_t count = std::min<uint64_t>(to_boundary, change.after.size() - at);
      if (draw(one_in) == 0) {
        const long done =
            system_call(SYS_pwrite64, content.descriptor, change.after.data() + at, count, change.offset + at);
        CHECK(done == static_cast<long>(count));
      }
      at += count;
    }
  }

  std::string keep(const char* path) {
    if (!exists(path)) return {};
    std::string kept = fmt::format("{}/{}", rules_.trash, ++ids_);
    CHECK(system_call(SYS_linkat, AT_FDCWD, path, AT_FDCWD, kept.c_str(), 0) == 0);
    return kept;
  }
  static void undo(const EntryChange& change) {
    switch (change.kind) {
      case EntryChange::Kind::kMade:
      case EntryChange::Kind::kRemoved:
        system_call(SYS_unlinkat, AT_FDCWD, change.path.c_str(), 0);
        break;
      case EntryChange::Kind::kRenamed:
        system_call(SYS_renameat, AT_FDCWD, change.path.c_str(), AT_FDCWD, change.from.c_str());
        break;
    }
    if (!change.kept.empty())
      CHECK(system_call(SYS_renameat, AT_FDCWD, change.kept.c_str(), AT_FDCWD, change.path.c_str()) == 0);
  }

  const DiskRules rules_;
  // In the order in which they were opened: what an inode's number is, is chance.
  std::deque<Content> contents_;
  std::map<Identity, size_t> numbers_;
  std::map<std::string, std::vector<EntryChange>> entries_;  // by directory
  uint64_t ids_ = 0;
  uint64_t counted_ = 0;  // calls that could have failed as the rules say
};

Disk* disk = nullptr;

bool is_on_disk(const char* path) { return is_simulated() && disk != nullptr && disk->has(path); }
bool is_disk_there() { return is_simulated() && disk != nullptr; }

int open_file(const char* path, int flags, mode_t mode) {
  if (is_on_disk(path) && (flags & O_DIRECTORY) == 0) return disk->open(path, flags, mode);
  return static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

void insert_disk(DiskRules rules) {
  CHECK(disk == nullptr);
  disk = new Disk(std::move(rules));
}

void fail_power() { disk->fail_power(); }

}  // namespace mneme::simulator

// What takes the C library's place.

using namespace mneme::simulator;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open_file(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  return open_file(path, flags, mode);
}

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  if (is_disk_there()) {
    if (const auto done = disk->write(descriptor, bytes, count, offset, /*may_end_early=*/true)) return *done;
  }
  return system_call(SYS_pwrite64, descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

// Of one buffer, as the log writes.
ssize_t pwritev2(int descriptor, const iovec* vectors, int count, off_t offset, int flags) {
  if (is_disk_there() && count == 1) {
    if (const auto done = disk->write(descriptor, vectors->iov_base, vectors->iov_len, offset, /*may_end_early=*/false)) {
      CHECK(flags == 0 && "a write-through is not simulated");
      return *done;
    }
  }
  return REAL(pwritev2)(descriptor, vectors, count, offset, flags);
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  if (is_disk_there()) {
    if (const auto done = disk->truncate(descriptor, bytes)) return *done;
  }
  return static_cast<int>(system_call(SYS_ftruncate, descriptor, bytes));
}

int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  if (is_disk_there()) {
    struct stat found {};
    if (::fstat(descriptor, &found) != 0) return errno;
    if (found.st_size >= offset + bytes) return 0;
    if (const auto done = disk->truncate(descriptor, offset + bytes)) return *done == 0 ? 0 : errno;
  }
  return REAL(posix_fallocate)(descriptor, offset, bytes);
}

int fsync(int descriptor) {
  if (is_disk_there()) {
    if (const auto done = disk->sync(descriptor)) return *done;
  }
  return static_cast<int>(system_call(SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  if (is_disk_there()) {
    if (const auto done = disk->sync(descriptor)) return *done;
  }
  return static_cast<int>(system_call(SYS_fdatasync, descriptor));
}

int rename(const char* from, const char* to) noexcept {
  if (is_on_disk(to)) return disk->rename(from, to);
  return static_cast<int>(system_call(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

int link(const char* from, const char* to) noexcept {
  if (is_on_disk(to)) return disk->link(from, to);
  return static_cast<int>(system_call(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}

int unlink(const char* path) noexcept {
  if (is_on_disk(path)) return disk->unlink(path);
  return static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, 0));
}

int remove(const char* path) noexcept {
  const int removed = unlink(path);
  if (removed == 0 || errno != EISDIR) return removed;
  return static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"
