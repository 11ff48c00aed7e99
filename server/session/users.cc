#include "server/session/users.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "base/file/file.h"
#include "base/random_number.h"

namespace mneme {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

Result<std::string> read_private_file(const std::string& path) {
  // The file that is examined is the one that is read, and opening it never waits.
  auto file = File::open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return file.error();
  struct stat status;
  if (::fstat(file->descriptor(), &status) != 0) return file_error("read the users of", path, errno);
  const uid_t own = ::geteuid();
  if (!S_ISREG(status.st_mode) || (own != 0 && status.st_uid != own && status.st_uid != 0) ||
      (status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return invalid_argument(
        "{} holds passwords, and must be a file of your own that no other user may read: chmod 600 it", path);
  }
  std::string text(kMostBytes + 1, '\0');
  const auto count = file->read_at(std::as_writable_bytes(std::span(text)), 0);
  if (!count) return count.error();
  if (*count > kMostBytes) return invalid_argument("{} has more than {} bytes of users", path, kMostBytes);
  text.resize(*count);
  return text;
}

}  // namespace

Result<Users> Users::read(const std::string& path) {
  const Result<std::string> text = read_private_file(path);
  if (!text) return text.error();
  Users users;
  users.secret_ = fmt::format("{:016x}{:016x}", unforeseen_number(), unforeseen_number());
  std::istringstream lines(*text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty() || line.starts_with('#')) continue;
    const size_t blank = line.find(' ');
    if (blank == 0 || blank == line.npos || blank + 1 == line.size())
      return invalid_argument("{}:{}: a line of users is NAME SECRET", path, number);
    const std::string secret = line.substr(blank + 1);
    ScramVerifier verifier;
    if (secret.starts_with("SCRAM-SHA-256$")) {
      Result<ScramVerifier> parsed = ScramVerifier::parse(secret);
      if (!parsed)
        return Error{ErrorKind::kInvalidArgument,
                     fmt::format("{}:{}: {}", path, number, parsed.error().message)};
      verifier = *std::move(parsed);
    } else {
      const std::string salt = fmt::format("{:016x}", unforeseen_number());
      verifier = ScramVerifier::of_password(secret, salt);
    }
    if (!users.verifiers_.emplace(line.substr(0, blank), std::move(verifier)).second)
      return invalid_argument("{}:{}: the user {} stands in an earlier line", path, number,
                              line.substr(0, blank));
  }
  if (users.verifiers_.empty()) return invalid_argument("{} names no user", path);
  return users;
}

ScramVerifier Users::verifier(std::string_view name) const {
  const auto found = verifiers_.find(name);
  return found == verifiers_.end() ? ScramVerifier::of_nobody(name, secret_) : found->second;
}

}  // namespace mneme
