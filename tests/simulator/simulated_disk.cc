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
#include "logging/record/block_format.h"
#include "tests/simulator/disk_changes.h"
#include "tests/simulator/real_calls.h"
#include "tests/simulator/simulated_threads.h"

namespace mneme::simulator {

namespace {

constexpr uint64_t kLongestSyncNs = 3'000'000;
constexpr uint64_t kLongestWriteNs = 50'000;
constexpr uint64_t kSlowSyncNs = 50'000'000;

class Disk {
 public:
  Disk(DiskRules rules, DiskCounts& counts) : rules_(std::move(rules)), counts_(counts) {
    if (exists(cache_path())) load_cache();
  }

  bool has(std::string_view path) const {
    return path.starts_with(rules_.folder) && path.size() > rules_.folder.size() &&
           path[rules_.folder.size()] == '/';
  }

  int open(const char* path, int flags, mode_t mode) {
    step();
    const bool is_new = (flags & O_CREAT) != 0 && !exists(path);
    if (is_new && fails(Kind::kRoom)) return fail_with(ENOSPC);
    if (is_new && fails(Kind::kEntry)) return fail_with(EIO);
    const int clean = flags & ~(O_DIRECT | O_TRUNC);
    const auto descriptor = static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, clean, mode));
    if (descriptor < 0) return descriptor;
    if (is_new) entries_[parent(path)].push_back({++ids_, EntryChange::Kind::kMade, path});
    opened_.insert(identity(descriptor));
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

  // Returns nullopt if it is not a file of this disk.
  std::optional<ssize_t> write(int descriptor, const void* bytes, size_t count, off_t offset,
                               bool may_end_early) {
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
    take_syncs_time();
    const bool is_failure = fails(Kind::kSync);
    if (rules_.fault == Fault::kForgetsSyncs) return 0;
    for (Change& each : content->changes) {
      if (each.id <= last && is_failure) each.is_doomed = true;
    }
    if (is_failure) return fail_with(EIO);
    // A durable change that lies over a doomed one takes its place for good.
    std::erase_if(content->changes, [&](const Change& doomed) {
      return doomed.is_doomed && std::ranges::any_of(content->changes, [&](const Change& each) {
               return !each.is_doomed && each.id <= last && each.offset < doomed.end() &&
                      doomed.offset < each.end();
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
    if (fails(Kind::kEntry)) return fail_with(EIO);
    EntryChange change{++ids_, EntryChange::Kind::kRenamed, to, from, keep(to)};
    const auto done = static_cast<int>(system_call(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
    if (done == 0) entries_[parent(to)].push_back(std::move(change));
    return done;
  }

  int link(const char* from, const char* to) {
    step();
    if (fails(Kind::kEntry)) return fail_with(EIO);
    const auto done = static_cast<int>(system_call(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
    if (done == 0) entries_[parent(to)].push_back({++ids_, EntryChange::Kind::kMade, to});
    return done;
  }

  int mkdir(const char* path, mode_t mode) {
    step();
    if (fails(Kind::kRoom)) return fail_with(ENOSPC);
    if (fails(Kind::kEntry)) return fail_with(EIO);
    const auto done = static_cast<int>(system_call(SYS_mkdirat, AT_FDCWD, path, mode));
    if (done == 0) entries_[parent(path)].push_back({++ids_, EntryChange::Kind::kMade, path});
    return done;
  }

  // An entry that no sync has made durable was never there. The removal of others is durable at once.
  int rmdir(const char* path) {
    step();
    const auto done = static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
    if (done == 0)
      std::erase_if(entries_[parent(path)], [&](const EntryChange& each) { return each.path == path; });
    return done;
  }

  bool fails_to_read(int descriptor) {
    return rules_.fault == Fault::kReadFails && opened_.contains(identity(descriptor)) && fails(Kind::kRead);
  }

  int unlink(const char* path) {
    step();
    if (fails(Kind::kEntry)) return fail_with(EIO);
    EntryChange change{++ids_, EntryChange::Kind::kRemoved, path, {}, keep(path)};
    const auto done = static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, 0));
    if (done == 0) entries_[parent(path)].push_back(std::move(change));
    return done;
  }

  void fail_power() {
    // Some failures lose all that can be lost, some lose nothing, most lose this and that.
    const uint64_t manner = draw(8);
    for (Content& content : contents_) {
      std::vector<Change>& changes = content.changes;
      for (auto each = changes.rbegin(); each != changes.rend(); ++each)
        put(content, each->offset, each->before, each->size_before);
      for (const Change& each : changes) {
        if (manner == 0 || (manner != 1 && (each.is_doomed || draw(2) == 0))) continue;
        keep_some(content, each, manner == 1 ? 1 : 1 + draw(2));
      }
    }
    const uint64_t one_in = 2 + draw(8);
    for (auto& [directory, changes] : entries_) {
      // In any order, but that nothing stays which rests upon what goes. Or one alone, which others may hide
      // otherwise.
      std::set<std::string> lost_paths;
      std::vector<EntryChange> lost;
      const uint64_t the_one = manner == 2 && !changes.empty() ? changes[draw(changes.size())].id : 0;
      for (const EntryChange& each : changes) {
        const bool is_drawn = manner == 2 ? each.id == the_one : manner != 1 && draw(one_in) == 0;
        const bool is_lost = manner == 0 || (each.is_doomed && manner != 1) || is_drawn ||
                             lost_paths.contains(each.path) || lost_paths.contains(each.from);
        if (!is_lost) continue;
        lost_paths.insert(each.path);
        if (!each.from.empty()) lost_paths.insert(each.from);
        lost.push_back(each);
      }
      // Whole directories may have gone, with those above them.
      for (auto each = lost.rbegin(); each != lost.rend() && exists(directory); ++each) undo(*each);
    }
  }

  void keep_cache() {
    CacheWriter cache(cache_path());
    cache.put(ids_);
    const auto has_names = [](const Content& content) {
      struct stat found {};
      CHECK(::fstat(content.descriptor, &found) == 0);
      return found.st_nlink > 0;
    };
    cache.put(static_cast<uint64_t>(std::ranges::count_if(contents_, has_names)));
    for (const Content& content : contents_) {
      if (!has_names(content)) continue;
      const std::string name = fmt::format("{}/{}", rules_.trash, ++ids_);
      const std::string opened = fmt::format("/proc/self/fd/{}", content.descriptor);
      CHECK(system_call(SYS_linkat, AT_FDCWD, opened.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
            0);
      cache.put_text(name);
      cache.put(content.changes.size());
      for (const Change& each : content.changes) each.put(cache);
    }
    cache.put(entries_.size());
    for (const auto& [directory, changes] : entries_) {
      cache.put_text(directory);
      cache.put(changes.size());
      for (const EntryChange& each : changes) each.put(cache);
    }
  }

 private:
  enum class Kind : uint8_t { kWrite, kWholeWrite, kSync, kRoom, kEntry, kRead };
  using Identity = std::pair<dev_t, ino_t>;

  static int fail_with(int number) {
    errno = number;
    return -1;
  }
  bool fails(Kind kind) {
    const auto is_due = [&](bool from_then_on) {
      ++counted_;
      if (counted_ == rules_.fault_at) ++counts_.faults[static_cast<size_t>(rules_.fault)];
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
      case Fault::kEntryFails:
        return kind == Kind::kEntry && is_due(false);
      case Fault::kReadFails:
        return kind == Kind::kRead && is_due(false);
      default:
        return false;
    }
  }

  static bool exists(const std::string& path) {
    return system_call(SYS_faccessat, AT_FDCWD, path.c_str(), F_OK) == 0;
  }
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
    const std::string path =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor)).string();
    if (path != rules_.folder && !has(path)) return std::nullopt;
    return path;
  }
  void take_syncs_time() {
    const uint64_t ns = 1 + draw(kLongestSyncNs * rules_.slowness);
    counts_.slow_syncs += ns > kSlowSyncNs ? 1 : 0;
    pass(ns);
  }
  int sync_directory(const std::string& path) {
    const uint64_t last = ids_;
    take_syncs_time();
    std::vector<EntryChange>& changes = entries_[path];
    if (fails(Kind::kSync)) {
      for (EntryChange& each : changes) each.is_doomed = each.is_doomed || each.id <= last;
      return fail_with(EIO);
    }
    if (rules_.fault == Fault::kForgetsSyncs) return 0;
    // A later change of a path takes the place of a doomed one.
    const auto is_over = [&](const EntryChange& doomed) {
      return std::ranges::any_of(changes, [&](const EntryChange& each) {
        return !each.is_doomed && each.id > doomed.id && each.id <= last && each.path == doomed.path;
      });
    };
    std::set<uint64_t> covered;
    for (const EntryChange& each : changes) {
      if (each.id <= last && (!each.is_doomed || is_over(each))) covered.insert(each.id);
    }
    std::erase_if(changes, [&](const EntryChange& each) {
      if (!covered.contains(each.id)) return false;
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
        const long done = system_call(SYS_pwrite64, content.descriptor, change.after.data() + at, count,
                                      change.offset + at);
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
        if (std::filesystem::is_directory(change.path)) {
          std::filesystem::remove_all(change.path);
        } else {
          system_call(SYS_unlinkat, AT_FDCWD, change.path.c_str(), 0);
        }
        break;
      case EntryChange::Kind::kRenamed:
        system_call(SYS_renameat, AT_FDCWD, change.path.c_str(), AT_FDCWD, change.from.c_str());
        break;
    }
    if (!change.kept.empty())
      CHECK(system_call(SYS_renameat, AT_FDCWD, change.kept.c_str(), AT_FDCWD, change.path.c_str()) == 0);
  }

  std::string cache_path() const { return rules_.trash + "/cache"; }
  void load_cache() {
    CacheReader cache(cache_path());
    ids_ = cache.get();
    for (uint64_t left = cache.get(); left > 0; --left) {
      const auto name = cache.get_text<std::string>();
      Content content;
      content.descriptor =
          static_cast<int>(system_call(SYS_openat, AT_FDCWD, name.c_str(), O_RDWR | O_CLOEXEC, 0));
      CHECK(content.descriptor >= 0);
      system_call(SYS_unlinkat, AT_FDCWD, name.c_str(), 0);
      for (uint64_t changes = cache.get(); changes > 0; --changes)
        content.changes.push_back(Change::get(cache));
      numbers_.emplace(identity(content.descriptor), contents_.size());
      contents_.push_back(std::move(content));
    }
    for (uint64_t left = cache.get(); left > 0; --left) {
      std::vector<EntryChange>& entries = entries_[cache.get_text<std::string>()];
      for (uint64_t changes = cache.get(); changes > 0; --changes) entries.push_back(EntryChange::get(cache));
    }
    system_call(SYS_unlinkat, AT_FDCWD, cache_path().c_str(), 0);
  }

  const DiskRules rules_;
  DiskCounts& counts_;
  // In the order in which they were opened: what an inode's number is, is chance.
  std::deque<Content> contents_;
  std::map<Identity, size_t> numbers_;
  std::set<Identity> opened_;
  std::map<std::string, std::vector<EntryChange>> entries_;  // by directory
  uint64_t ids_ = 0;
  uint64_t counted_ = 0;  // calls that could have failed as the rules say
};

Disk* disk = nullptr;

bool is_on_disk(const char* path) {
  return is_simulated() && disk != nullptr && disk->has(path);
}
bool is_disk_there() {
  return is_simulated() && disk != nullptr;
}

int open_file(const char* path, int flags, mode_t mode) {
  if (is_on_disk(path) && (flags & O_DIRECTORY) == 0) return disk->open(path, flags, mode);
  return static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

std::string_view name_of(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kNames = {"none",        "write fails", "short write",
                                                            "sync fails",  "syncs fail",  "disk full",
                                                            "entry fails", "read fails",  "forgets syncs"};
  return kNames[static_cast<size_t>(fault)];
}

DiskCounts& DiskCounts::operator+=(const DiskCounts& other) {
  for (size_t i = 0; i < kFaults; ++i) faults[i] += other.faults[i];
  slow_syncs += other.slow_syncs;
  return *this;
}

void insert_disk(DiskRules rules, DiskCounts& counts) {
  CHECK(disk == nullptr);
  disk = new Disk(std::move(rules), counts);
}

// Each takes the disk out first, so that its own calls are no longer simulated.
void fail_power() {
  std::exchange(disk, nullptr)->fail_power();
}
void keep_cache() {
  std::exchange(disk, nullptr)->keep_cache();
}

}  // namespace mneme::simulator

// These take the place of the C library's calls.

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

ssize_t pread(int descriptor, void* bytes, size_t count, off_t offset) {
  if (is_disk_there() && disk->fails_to_read(descriptor)) {
    errno = EIO;
    return -1;
  }
  return system_call(SYS_pread64, descriptor, bytes, count, offset);
}

ssize_t pread64(int descriptor, void* bytes, size_t count, off64_t offset) {
  return pread(descriptor, bytes, count, offset);
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

// Simulated for one buffer, as the log writes.
ssize_t pwritev2(int descriptor, const iovec* vectors, int count, off_t offset, int flags) {
  if (is_disk_there() && count == 1) {
    if (const auto done =
            disk->write(descriptor, vectors->iov_base, vectors->iov_len, offset, /*may_end_early=*/false)) {
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

int mkdir(const char* path, mode_t mode) noexcept {
  if (is_on_disk(path)) return disk->mkdir(path, mode);
  return static_cast<int>(system_call(SYS_mkdirat, AT_FDCWD, path, mode));
}

int rmdir(const char* path) noexcept {
  if (is_on_disk(path)) return disk->rmdir(path);
  return static_cast<int>(system_call(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
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
