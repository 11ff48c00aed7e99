// The RemoteHolder of log servers of our own.
//
// Which copy  of the servers that hold the term's log whole, the one that goes furthest. Each has what the
//             engine wrote up to some place, and copies_to_recover() of them meet every majority that has
//             acknowledged. A server that says that an older term's is the last that it had whole counts as
//             one of them: it was never given this one whole, so it has acknowledged nothing of it; one that
//             was and has forgotten says so.
#include "logging/remote/server_holder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/file/file.h"
#include "logging/record/block_format.h"
#include "logging/remote/log_servers.h"
#include "network/log_connection.h"

namespace mneme {

namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;

// Servers, and the key that opens them.
struct Servers {
  std::vector<ServerAddress> addresses;
  std::shared_ptr<const PreSharedKey> key;
  std::chrono::milliseconds patience;  // for each of their answers
};

Result<Servers> servers_of(const std::string& addresses, const std::string& key_file,
                           std::chrono::milliseconds patience) {
  auto parsed = log_server_addresses(addresses);
  if (!parsed.ok()) return parsed.error();
  Servers servers{std::move(*parsed), nullptr, patience};
  if (key_file.empty()) return servers;
  auto key = read_key_file(key_file);
  if (!key.ok()) return key.error();
  servers.key = std::move(*key);
  return servers;
}

HelloMessage hello_of(const Manifest& manifest, LogRole role = LogRole::kReader, const LogTerm& term = {}) {
  HelloMessage hello;
  hello.database_id = manifest.database_id;
  hello.role = role;
  hello.term = term;
  return hello;
}

// Those of the servers that answer.
struct Answers {
  std::vector<LogConnection> connections;
  std::string silence;  // why another doesn't: a sentence; empty: all do
};

Answers ask(const Servers& servers, const HelloMessage& hello) {
  Answers answers;
  for (const ServerAddress& address : servers.addresses) {
    auto connection = LogConnection::open(address, servers.key, hello, servers.patience);
    if (!connection.ok()) {
      answers.silence = connection.error().message;
      continue;
    }
    const auto same = std::ranges::find(answers.connections, connection->welcome().server,
                                        [](const LogConnection& each) { return each.welcome().server; });
    if (same == answers.connections.end()) {
      answers.connections.push_back(std::move(*connection));
    } else {
      answers.silence = same_server_text(address, same->address());
    }
  }
  return answers;
}

// How far a copy goes: its last file, and how much of that is written. Not how much it holds: one that was
// away when a checkpoint passed segments may hold these yet, and lack the newest records.
std::pair<uint32_t, uint64_t> reach(const FilesMessage& files, uint32_t term) {
  std::pair<uint32_t, uint64_t> furthest{0, 0};
  for (const LogFileInfo& each : files.files) {
    if (each.term == term) furthest = std::max(furthest, {each.number, each.end});
  }
  return furthest;
}

// A copy of the log that is whole.
struct Copy {
  LogConnection* connection;
  FilesMessage files;
};

// Whether a server has a segment that this manifest never listed. The engine lists one before it has servers
// make it.
bool is_ahead_of(const FilesMessage& files, const Manifest& manifest, uint32_t term) {
  uint32_t last = 0;
  for (const SegmentEntry& each : manifest.segments) {
    if (each.incarnation == term) last = std::max(last, each.number);
  }
  return reach(files, term).first > last;
}

// Whether a copy has let go of a segment that is wanted. The engine unlists one before it has servers let go
// of it, and has them make segments in their order.
bool has_let_go_of(const FilesMessage& files, const std::vector<SegmentEntry>& missing, uint32_t term) {
  const uint32_t last = reach(files, term).first;
  return std::ranges::any_of(missing, [&](const SegmentEntry& wanted) {
    return wanted.number < last && std::ranges::none_of(files.files, [&](const LogFileInfo& each) {
             return each.term == term && each.number == wanted.number;
           });
  });
}

// The longest of the whole copies, if there are as many as it takes, and the manifest is as new as they are.
Result<Copy> longest_copy(const Servers& servers, Answers& answers, const Manifest& manifest,
                          const std::vector<SegmentEntry>& missing) {
  const uint32_t term = missing.front().incarnation;
  const auto needed = copies_to_recover(static_cast<uint32_t>(servers.addresses.size()));
  size_t silent = servers.addresses.size() - answers.connections.size();
  uint32_t whole = 0;
  uint32_t never_had_it = 0;
  std::optional<Copy> longest;
  for (LogConnection& each : answers.connections) {
    auto files = each.list();
    if (!files.ok()) {
      answers.silence = files.error().message;
      ++silent;
      continue;
    }
    if (is_ahead_of(*files, manifest, term)) return older_than_log();
    if (files->whole_term != term) {
      never_had_it += files->whole_term != 0 && files->whole_term < term ? 1 : 0;
      continue;
    }
    ++whole;
    if (!longest || reach(*files, term) > reach(longest->files, term)) {
      longest = Copy{&each, std::move(*files)};
    }
  }
  if (whole > 0 && whole + never_had_it >= needed) {
    if (has_let_go_of(longest->files, missing, term)) return older_than_log();
    return std::move(*longest);
  }
  if (whole + never_had_it + silent >= needed) {
    return failed(
        "the log lies in the memories of {} log servers, of which {} must have it, and {} answers with it: "
        "{}; start the "
        "others and try again; nothing was changed",
        servers.addresses.size(), needed, whole, answers.silence);
  }
  return damaged(
      "the log is lost: of {} log servers {} must still have it, and {} has; the others ended without saving "
      "it, or have been "
      "given to a later engine. Restore the data directory from a backup; nothing was changed",
      servers.addresses.size(), needed, whole);
}

Result<void> write_content(const File& file, LogConnection& connection, const LogFileInfo& info) {
  std::vector<std::byte> piece;
  for (uint64_t at = 0; at < info.end; at += kPieceBytes) {
    piece.resize(std::min<uint64_t>(kPieceBytes, info.end - at));
    RETURN_IF_ERROR(connection.read(info.number, at, piece));
    RETURN_IF_ERROR(file.write_at(piece, at));
  }
  if (::ftruncate(file.descriptor(), static_cast<off_t>(info.bytes)) == 0) return {};
  return file_error("enlarge", file.path(), errno);
}

// Writes the segment into the file, durably, so that a crash leaves the whole of it or none.
Result<void> bring_segment(const Manifest& manifest, const SegmentEntry& entry, const Copy& copy,
                           const std::string& path) {
  const std::string incoming = path + ".tmp";
  auto file = File::make(incoming, O_WRONLY);
  if (!file.ok()) return file.error();
  const auto info = std::ranges::find_if(copy.files.files, [&](const LogFileInfo& each) {
    return each.number == entry.number && each.term == entry.incarnation && each.end >= kSegmentHeaderBytes;
  });
  RETURN_IF_ERROR(info == copy.files.files.end() ? write_empty_segment(*file, manifest, entry)
                                                 : write_content(*file, *copy.connection, *info));
  RETURN_IF_ERROR(file->sync_data());
  if (std::rename(incoming.c_str(), path.c_str()) != 0) return file_error("put in place", path, errno);
  return {};
}

// The highest term that those servers have heard of.
uint32_t highest_term(const Answers& answers) {
  uint32_t highest = 0;
  for (const LogConnection& each : answers.connections) {
    highest = std::max(highest, each.welcome().term.number);
  }
  return highest;
}

// Whether as many answer as an engine needs to write to them.
Result<void> enough_answer(const Servers& servers, const Answers& answers) {
  const auto needed = copies_to_acknowledge(static_cast<uint32_t>(servers.addresses.size()));
  if (answers.connections.size() >= needed) return {};
  return failed("{} of {} log servers answer, and {} are needed: {}", answers.connections.size(),
                servers.addresses.size(), needed, answers.silence);
}

class ServerHolder : public RemoteHolder {
 public:
  explicit ServerHolder(Servers servers) : servers_(std::move(servers)) {}

  Result<uint32_t> look(const Manifest& manifest, const std::vector<SegmentEntry>& missing) override {
    Answers answers = ask(servers_, hello_of(manifest));
    const auto copy = longest_copy(servers_, answers, manifest, missing);
    if (!copy.ok()) return copy.error();
    return highest_term(answers);
  }

  Result<uint32_t> look_to_write(const Manifest& manifest) override {
    const Answers answers = ask(servers_, hello_of(manifest));
    RETURN_IF_ERROR(enough_answer(servers_, answers));
    return highest_term(answers);
  }

  Result<void> claim(const Manifest& manifest, const LogTerm& term) override {
    return enough_answer(servers_, ask(servers_, hello_of(manifest, LogRole::kClaimant, term)));
  }

  Result<void> bring(const Manifest& manifest, const std::vector<SegmentEntry>& missing,
                     const std::string& folder, const std::optional<LogTerm>& term) override {
    const HelloMessage hello = term ? hello_of(manifest, LogRole::kClaimant, *term) : hello_of(manifest);
    Answers answers = ask(servers_, hello);
    const auto copy = longest_copy(servers_, answers, manifest, missing);
    if (!copy.ok()) return copy.error();
    const DirectoryChanges changes(folder);
    for (const SegmentEntry& each : missing) {
      RETURN_IF_ERROR(bring_segment(manifest, each, *copy, path_of(folder, each)));
    }
    return keep_brought(changes, folder, missing);
  }

 private:
  const Servers servers_;
};

}  // namespace

Result<std::unique_ptr<RemoteHolder>> make_server_holder(LogDeviceKind, const RemoteLogOptions& remote) {
  auto servers = servers_of(remote.servers, remote.key_file, remote.patience);
  if (!servers.ok()) return servers.error();
  return std::unique_ptr<RemoteHolder>(std::make_unique<ServerHolder>(std::move(*servers)));
}

}  // namespace mneme
