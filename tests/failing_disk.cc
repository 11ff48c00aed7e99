// A disk that fails: a library for tests to load before a program (LD_PRELOAD). One sync or write of the
// files that it is told of goes wrong; those that come after it go well again, so that a program that only
// tries once more is told that all is right. A sync that fails loses what the same thread had written before
// it: the file is then as it was, as where a kernel has dropped the pages that it could not write.
//
// MNEME_DISK_CALL     which call fails: fsync, fdatasync, pwrite or pwritev2
// MNEME_DISK_ERROR    with this number; 0: a write does no more than half of what it was to do
// MNEME_DISK_FILES    of which files, as a shell's pattern for the whole path, of directories, too
// MNEME_DISK_SPARES   so many such calls of a process go well before
// MNEME_DISK_TROUBLE  a file: only while it is there are calls counted, and fail. It gets a line for the one
//                     that failed
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace {

// The alignment that direct I/O asks of addresses and sizes, on any disk of today.
constexpr size_t kAlignment = 4096;
constexpr size_t kSectorBytes = 512;

template <typename Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

struct Disk {
  const std::string call = setting("MNEME_DISK_CALL");
  const int error = std::atoi(setting("MNEME_DISK_ERROR").c_str());
  const std::string files = setting("MNEME_DISK_FILES");
  const int64_t spares = std::atoll(setting("MNEME_DISK_SPARES").c_str());
  const std::string trouble = setting("MNEME_DISK_TROUBLE");
  // Any thread counts, and nothing else rests on it: which call is the one, and no more.
  std::atomic<int64_t> counted{0};

  bool is_about(int file, char (&path)[4096]) const {
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return ::fnmatch(files.c_str(), path, 0) == 0;
  }

  bool fails(const char* name, int file) {
    char path[4096];
    if (call != name || !is_about(file, path) || ::access(trouble.c_str(), F_OK) != 0) return false;
    if (counted.fetch_add(1, std::memory_order_relaxed) != spares) return false;
    std::FILE* const told = std::fopen(trouble.c_str(), "a");
    if (told == nullptr || std::fprintf(told, "%s %s\n", name, path) < 0 || std::fclose(told) != 0)
      std::abort();
    return true;
  }
};

Disk& disk() {
  static Disk only;
  return only;
}

// The last write of this thread to a file whose sync may fail, and what was there before.
class Replaced {
 public:
  void remember(int file, size_t size, off_t offset) {
    char path[4096];
    if (!disk().call.ends_with("sync") || !disk().is_about(file, path)) return;
    const size_t room = (size + kAlignment - 1) / kAlignment * kAlignment;
    before_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, room)));
    std::memset(before_.get(), 0, room);
    // A file that can't be read, or ended here, is as good as empty.
    [[maybe_unused]] const ssize_t bytes = ::pread(file, before_.get(), size, offset);
    file_ = file;
    size_ = size;
    offset_ = offset;
  }
  void bring_back(int file) {
    if (file != file_) return;
    static const auto kPwrite = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    if (kPwrite(file, before_.get(), size_, offset_) != static_cast<ssize_t>(size_)) std::abort();
  }

 private:
  struct Free {
    void operator()(char* bytes) const { std::free(bytes); }
  };
  int file_ = -1;
  std::unique_ptr<char, Free> before_;
  size_t size_ = 0;
  off_t offset_ = 0;
};
thread_local Replaced replaced;

int sync(int file, const char* name) {
  const auto real_sync = real<int(int)>(name);
  if (!disk().fails(name, file)) return real_sync(file);
  replaced.bring_back(file);
  errno = disk().error;
  return -1;
}

// `real_write`: of so many of the bytes.
template <typename Write>
ssize_t write(const char* name, int file, size_t size, off_t offset, const Write& real_write) {
  replaced.remember(file, size, offset);
  if (!disk().fails(name, file)) return real_write(size);
  if (disk().error == 0) return real_write(size / 2 / kSectorBytes * kSectorBytes);
  errno = disk().error;
  return -1;
}

}  // namespace

extern "C" {

int fsync(int file) {
  return sync(file, "fsync");
}

int fdatasync(int file) {
  return sync(file, "fdatasync");
}

ssize_t pwrite(int file, const void* bytes, size_t size, off_t offset) {
  static const auto kReal = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return write("pwrite", file, size, offset, [&](size_t part) { return kReal(file, bytes, part, offset); });
}

// The engine's have a single part.
ssize_t pwritev2(int file, const iovec* parts, int count, off_t offset, int flags) {
  static const auto kReal = real<ssize_t(int, const iovec*, int, off_t, int)>("pwritev2");
  if (count != 1) std::abort();
  return write("pwritev2", file, parts->iov_len, offset, [&](size_t part) {
    const iovec first{parts->iov_base, part};
    return kReal(file, &first, 1, offset, flags);
  });
}

}  // extern "C"
