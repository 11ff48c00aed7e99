// RemoteLogOptions: the servers that hold a log on other machines, and what a manifest says of them: log
// servers of our own (remote_queue.h), or a replicated log (replicated_log.h).
//
// A segment whose file in the folder `remote` is missing lies at the servers that the manifest's attributes
// name. One whose file is there was brought home by a recovery, or saved by an engine that had lost its
// servers.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "logging/directory/manifest.h"

namespace mneme {

struct RemoteLogOptions {
  // HOST:PORT, with commas between several; of our own also unix:PATH, of NATS nats://HOST:PORT
  std::string servers{};
  // An absolute path; empty: our own servers on Unix sockets, and on loopback in the clear; others as they
  // let anybody in.
  std::string key_file{};
  uint32_t files = 8;  // that the log goes round in; at least 3
  uint64_t owner = 0;  // of the term, as claim_remote_log() drew it; 0: none was claimed, so it is drawn
  std::chrono::milliseconds patience{3000};  // for each of a server's answers, while the log is opened
  // Told a sentence each time that a server is lost or is back, on the flusher's thread.
  std::function<void(const std::string&)> tell = [](const std::string&) {};
  // For a replicated log:
  std::string stream{};                       // its name there; empty: the database's own
  uint32_t replicas = 3;                      // copies of it
  std::chrono::milliseconds silence{30'000};  // so long without an acknowledgement, and the log has failed
};

inline constexpr const char* kRemoteFolder = "remote";
inline constexpr const char* kLogServersAttribute = "log_servers";
inline constexpr const char* kLogKeyAttribute = "log_key_file";
// The device whose log a manifest without kLogKindAttribute lies on.
inline constexpr const char* kLogServersKind = "remote";
// For a replicated log: "nats" or "kafka", its name there, and where the last incarnation begins in it.
inline constexpr const char* kLogKindAttribute = "log_kind";
inline constexpr const char* kLogStreamAttribute = "log_stream";
inline constexpr const char* kLogBeginAttribute = "log_stream_begin";

// How many servers must have a record before it is acknowledged: a majority.
constexpr uint32_t copies_to_acknowledge(uint32_t servers) {
  return servers / 2 + 1;
}
// How many must be heard so that one of them has all that was acknowledged, and none of the rest could
// acknowledge more.
constexpr uint32_t copies_to_recover(uint32_t servers) {
  return servers + 1 - copies_to_acknowledge(servers);
}

// The name of a database's replicated log.
std::string replicated_stream(uint64_t database_id, const RemoteLogOptions& remote);
Result<void> check_stream_name(const std::string& name);
// Empty: it has none.
std::string attribute_of(const Manifest& manifest, const char* name);

std::string remote_segment_file(uint32_t number);
// Whether the segment lies at the servers alone. An empty file of its name is not it: segments get their
// names here when they are whole, and RemoteSegments makes and removes a name to be sure that it is gone,
// which a copy of the directory may catch.
bool is_in_memories(const std::string& directory, const SegmentEntry& entry);
std::vector<SegmentEntry> segments_in_memories(const std::string& directory, const Manifest& manifest);

}  // namespace mneme
