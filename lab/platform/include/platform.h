// Included in front of every file of the laboratory's module: what the engine asks of Linux and the C library
// of WebAssembly has not got. The engine's files come unchanged; each stand-in is here or in a header beside
// this one.
#pragma once

#ifdef __cplusplus
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

// No cache to pass by: the disk is memory.
#ifndef O_DIRECT
#define O_DIRECT 0
#endif
#ifndef O_TMPFILE
#define O_TMPFILE 0
#endif
#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030
#endif

// One process uses the disk.
#ifndef LOCK_SH
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#endif
inline int flock(int, int) {
  return 0;
}
inline int fchmod(int, mode_t) {
  return 0;
}
inline int chmod(const char*, mode_t) {
  return 0;
}
inline mode_t umask(mode_t) {
  return 022;
}
inline uid_t geteuid() {
  return 0;
}
inline uid_t getuid() {
  return 0;
}
inline gid_t getegid() {
  return 0;
}

#ifndef RWF_DSYNC
#define RWF_DSYNC 2
#endif
inline ssize_t pwritev2(int file, const iovec* parts, int count, off_t offset, int) {
  ssize_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t written = ::pwrite(file, parts[i].iov_base, parts[i].iov_len, offset + done);
    if (written < 0) return written;
    done += written;
  }
  return done;
}

#define SYNC_FILE_RANGE_WRITE 2
inline int sync_file_range(int, off_t, off_t, unsigned) {
  return 0;
}
inline ssize_t copy_file_range(int, off_t*, int, off_t*, size_t, unsigned) {
  errno = ENOSYS;
  return -1;
}

#ifndef CLOCK_THREAD_CPUTIME_ID
#define CLOCK_THREAD_CPUTIME_ID CLOCK_MONOTONIC
#endif
#ifndef CLOCK_PROCESS_CPUTIME_ID
#define CLOCK_PROCESS_CPUTIME_ID CLOCK_MONOTONIC
#endif

#define AT_EMPTY_PATH 0x1000
#define STATX_NLINK 4u
struct statx {
  unsigned stx_mask;
  unsigned stx_nlink;
};
inline int statx(int file, const char*, int, unsigned, struct statx* status) {
  struct stat all;
  if (::fstat(file, &all) != 0) return -1;
  status->stx_mask = STATX_NLINK;
  status->stx_nlink = 1;  // the disk has no links
  return 0;
}

// Nothing asks for a temporary folder but a log's servers, which there are none of.
inline char* mkdtemp(char*) {
  errno = ENOSYS;
  return nullptr;
}

inline int getcpu(unsigned* processor, unsigned* node) {
  *processor = *node = 0;
  return 0;
}
#endif
