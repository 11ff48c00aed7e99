// Remote recovery: fetches a log out of log servers' memories, to go on with it or to look at it.
//
// Flow        to work: claim_remote_log(): a term above all that the servers know, promised by as many that
//             no former engine gets a majority any more -> the segments that lie in memories alone are
//             brought home, into the data directory -> recovery reads files, as ever -> begin_incarnation()
//             with the term's number. to look: read_log() -> FetchedLog: the same, into a temporary
//             directory, and nothing is claimed.
// Which copy  of the servers that hold the term's log whole, the one that goes furthest. Each has what the
//             engine wrote up to some place, and copies_to_recover() of them meet every majority that has
//             acknowledged.
// Errors      too few servers answer: kFailed, to be tried again. Too few have the log whole, as they lost
//             their memory before it was saved: kDamaged; nothing is changed, and nothing is guessed. So it
//             is with an older copy of the data directory, which doesn't list all that the servers hold, or
//             lists files that they were asked to release.
// Source      SepLog, sections 4.2 and 6.1; promised terms are Paxos' and Raft's.
#pragma once

#include <cstdint>
#include <string>

#include "base/log_term.h"
#include "base/result.h"
#include "logging/commit/log_options.h"
#include "logging/directory/manifest.h"

namespace mneme {

struct RemoteClaim {
  LogTerm term;  // number 0: there was nothing to claim
};

// To be called with the directory locked for work, before its log is read. `log` says where the next
// incarnation's goes.
Result<RemoteClaim> claim_remote_log(const std::string& directory, const DurableLogOptions& log);

// Whether the servers of a log that is yet to be made can be written to, before anything else is done for it.
Result<void> check_log_servers(const DurableLogOptions& log);

// The log of a directory that stays as it is, with what is missing there in files of its own, for as long as
// this lives.
class FetchedLog {
 public:
  static Result<FetchedLog> fetch(const std::string& directory, const Manifest& manifest);
  FetchedLog(FetchedLog&& other) noexcept;
  FetchedLog& operator=(FetchedLog&&) = delete;
  ~FetchedLog();

  // Names those files by absolute paths.
  const Manifest& manifest() const { return manifest_; }

 private:
  FetchedLog(std::string folder, Manifest manifest)
      : folder_(std::move(folder)), manifest_(std::move(manifest)) {}

  std::string folder_;
  Manifest manifest_;
};

}  // namespace mneme
