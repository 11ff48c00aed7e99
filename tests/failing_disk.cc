// Failing disk: a library that tests load before a program (LD_PRELOAD). It makes one sync or write of the
// selected files fail. Later calls succeed, so a program that merely repeats the call gets a success for data
// that is lost. A failed sync undoes the same thread's last write, if that was to the same file. A kernel
// does so when it drops pages that it could not write.
//
// MNEME_DISK_CALL     the call that fails: fsync, fdatasync, pwrite or pwritev2
// MNEME_DISK_ERROR    the errno that the call fails with. 0: a write falls short, by half or more
// MNEME_DISK_FILES    the files and directories that it fails for: a shell pattern for the whole path
// MNEME_DISK_SPARED_THREAD  calls of threads of this name are not counted, and don't fail
// MNEME_DISK_SPARES   the number of such calls in a process that succeed before the one that fails
// MNEME_DISK_TROUBLE  the path of a file. Calls are counted, and fail, only while it exists. For the call
//                     that fails a line is appended to it: the call's name and the path
#include <dlfcn.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
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

// The alignment of addresses and sizes that suffices for direct I/O on all present disks.
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
  const std::string spared_thread = setting("MNEME_DISK_SPARED_THREAD");
  const int64_t spares = std::atoll(setting("MNEME_DISK_SPARES").c_str());
  const std::string trouble = setting("MNEME_DISK_TROUBLE");
  // The calls counted so far, by all threads. Relaxed: it only decides which call fails, and orders nothing.
  std::atomic<int64_t> counted{0};

  bool is_spared() const {
    char thread[16];
    return !spared_thread.empty() && ::pthread_getname_np(::pthread_self(), thread, sizeof thread) == 0 &&
           spared_thread == thread;
  }

  bool is_about(int file, char (&path)[4096]) const {
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), path, sizeof path - 1);
    if (length < 0) return false;
    path[length] = '\0';
    return ::fnmatch(files.c_str(), path, 0) == 0;
  }

  bool fails(const char* name, int file) {
    char path[4096];
    if (call != name || is_spared() || !is_about(file, path) || ::access(trouble.c_str(), F_OK) != 0)
      return false;
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

// Remembers this thread's last write to a file whose sync may fail, and the bytes that the write replaced.
class Replaced {
 public:
  void remember(int file, size_t size, off_t offset) {
    char path[4096];
    if (!disk().call.ends_with("sync") || !disk().is_about(file, path)) return;
    const size_t room = (size + kAlignment - 1) / kAlignment * kAlignment;
    before_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, room)));
    std::memset(before_.get(), 0, room);
    // Bytes that can't be read, or lie past the file's end, count as zeros.
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

// `real_write(n)` performs the real call for the first `n` bytes.
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

// Supports a single part, since the engine never passes more.
ssize_t pwritev2(int file, const iovec* parts, int count, off_t offset, int flags) {
  static const auto kReal = real<ssize_t(int, const iovec*, int, off_t, int)>("pwritev2");
  if (count != 1) std::abort();
  return write("pwritev2", file, parts->iov_len, offset, [&](size_t part) {
    const iovec first{parts->iov_base, part};
    return kReal(file, &first, 1, offset, flags);
  });
}

}  // extern "C"
