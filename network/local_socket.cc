#include "network/local_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>
#include <utility>

namespace mneme {

namespace {

constexpr int kWaitingEngines = 128;
constexpr std::chrono::milliseconds kQueueInterval{10};

struct Place {
  File directory;
  std::string name;
};

Result<Place> place_of(const std::string& path, int flags) {
  const std::filesystem::path whole(path);
  auto directory = File::open(whole.parent_path().string(), flags | O_DIRECTORY);
  if (!directory.ok()) return directory.error();
  return Place{std::move(*directory), whole.filename().string()};
}

// Returns the socket's address, by way of the open directory's descriptor. So a link or another directory
// that is put in the directory's place has no effect, and the directory's path may be long.
Result<sockaddr_un> address_in(const Place& place, const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = fmt::format("/proc/self/fd/{}/{}", place.directory.descriptor(), place.name);
  if (place.name.empty() || text.size() >= sizeof address.sun_path)
    return file_error("use the socket", path, ENAMETOOLONG);
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

Result<void> remove_left_behind(const Place& place, const std::string& path) {
  struct stat found {};
  if (::fstatat(place.directory.descriptor(), place.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Result<void>() : file_error("examine", path, errno);
  }
  if (!S_ISSOCK(found.st_mode)) {
    return invalid_argument(
        "{} is no socket, and stays as it is: name another place with --socket, or move it away", path);
  }
  if (::unlinkat(place.directory.descriptor(), place.name.c_str(), 0) == 0) return {};
  return file_error("remove the socket", path, errno);
}

int connected_socket(const sockaddr_un& address, std::chrono::milliseconds patience) {
  const int descriptor = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    const int reason = errno;
    if (reason == EINTR) continue;
    // The server's queue is full. The kernel does not report when it has room again, so this polls.
    if (reason == EAGAIN && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kQueueInterval);
      continue;
    }
    ::close(descriptor);
    errno = reason;
    return -1;
  }
  return descriptor;
}

bool is_trusted(uid_t server, const File& directory) {
  const uid_t own = ::geteuid();
  if (server == own || server == 0) return true;
  struct stat found {};
  return own == 0 && ::fstat(directory.descriptor(), &found) == 0 && found.st_uid == server;
}

}  // namespace

std::optional<uid_t> peer_user(int descriptor) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || bytes != sizeof peer)
    return std::nullopt;
  return peer.uid;
}

Result<void> check_directory_is_own(const std::string& directory, int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return file_error("examine", directory, errno);
  if (found.st_uid != ::geteuid()) {
    return invalid_argument(
        "the directory {} belongs to the user {}: name one of the user's who runs the log server", directory,
        found.st_uid);
  }
  if ((found.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  return invalid_argument(
      "the directory {} can be written by others than its owner, who could put what they like there: chmod "
      "go-w it",
      directory);
}

Result<LocalSocket> LocalSocket::listen(const std::string& path) {
  auto place = place_of(path, O_RDONLY);
  if (!place.ok()) return place.error();
  RETURN_IF_ERROR(check_directory_is_own(place->directory.path(), place->directory.descriptor()));
  const auto address = address_in(*place, path);
  if (!address.ok()) return address.error();
  LocalSocket made;
  auto lock = File::open(fmt::format("/proc/self/fd/{}/{}.lock", place->directory.descriptor(), place->name),
                         O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!lock.ok()) return file_error("open", path + ".lock", errno);
  if (::flock(lock->descriptor(), LOCK_EX | LOCK_NB) != 0) {
    return invalid_argument("another log server listens on unix:{}: give this one another --socket", path);
  }
  RETURN_IF_ERROR(remove_left_behind(*place, path));
  made.descriptor_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct stat file {};
  // bind() gives the file the socket's mode, so the file is never open to other users.
  const bool listens =
      made.descriptor_ >= 0 && ::fchmod(made.descriptor_, 0600) == 0 &&
      ::bind(made.descriptor_, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0 &&
      ::fstatat(place->directory.descriptor(), place->name.c_str(), &file, AT_SYMLINK_NOFOLLOW) == 0 &&
      ::listen(made.descriptor_, kWaitingEngines) == 0;
  if (!listens) return file_error("listen on the socket", path, errno);
  made.file_ = file.st_ino;
  made.directory_ = std::move(place->directory);
  made.name_ = std::move(place->name);
  made.lock_ = std::move(*lock);
  return made;
}

LocalSocket::LocalSocket(LocalSocket&& other) noexcept
    : directory_(std::move(other.directory_)),
      lock_(std::move(other.lock_)),
      name_(std::exchange(other.name_, "")),
      descriptor_(std::exchange(other.descriptor_, -1)),
      file_(other.file_) {}

LocalSocket& LocalSocket::operator=(LocalSocket&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(lock_, other.lock_);
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(file_, other.file_);
  return *this;
}

LocalSocket::~LocalSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
  struct stat found {};
  if (!directory_.is_open() ||
      ::fstatat(directory_.descriptor(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0)
    return;
  if (found.st_ino == file_) ::unlinkat(directory_.descriptor(), name_.c_str(), 0);
}

int LocalSocket::take_descriptor() {
  return std::exchange(descriptor_, -1);
}

Result<int> connect_local(const std::string& path, std::chrono::milliseconds patience) {
  auto place = place_of(path, O_PATH);
  const auto address = place.ok() ? address_in(*place, path) : Result<sockaddr_un>(place.error());
  if (!address.ok())
    return failed("cannot connect to the log server unix:{}: {}", path, address.error().message);
  const int descriptor = connected_socket(*address, patience);
  if (descriptor < 0) return failed("cannot connect to the log server unix:{}: {}", path, reason_text(errno));
  const auto server = peer_user(descriptor);
  if (server && is_trusted(*server, place->directory)) return descriptor;
  ::close(descriptor);
  return failed(
      "the log server unix:{} is run by the user {}, whom this one does not trust with a log: nothing was "
      "sent there",
      path, server ? std::to_string(*server) : "nobody knows");
}

}  // namespace mneme
