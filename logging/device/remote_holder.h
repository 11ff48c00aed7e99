// RemoteHolder: the servers that hold a log on other machines, as recovery sees them: log servers of our own,
// or a replicated log.
//
// Flow        look() and look_to_write() change nothing -> claim(), with a term above all that they reported
//             -> bring()
// Threads     one at a time.
// Errors      as remote_recovery.h says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file/directory.h"
#include "base/file/file.h"
#include "base/log_term.h"
#include "base/result.h"
#include "logging/directory/manifest.h"

namespace mneme {

class RemoteHolder {
 public:
  virtual ~RemoteHolder() = default;

  // Whether the missing segments seem to be there whole, and nothing besides that the manifest should know.
  // The highest term that is known there.
  virtual Result<uint32_t> look(const Manifest& manifest, const std::vector<SegmentEntry>& missing) = 0;
  // Whether an engine could write its log there; of a manifest without an id, a database that is yet to be
  // made. Known terms as above.
  virtual Result<uint32_t> look_to_write(const Manifest& manifest) = 0;
  // Begins the term, for the next engine to write.
  virtual Result<void> claim(const Manifest& manifest, const LogTerm& term) = 0;
  // Writes the missing segments into that folder, durably, each whole or not at all. With a term no engine
  // with a lower one can have written what isn't there then.
  virtual Result<void> bring(const Manifest& manifest, const std::vector<SegmentEntry>& missing,
                             const std::string& folder, const std::optional<LogTerm>& term) = 0;
};

// Where bring() writes a segment.
std::string path_of(const std::string& folder, const SegmentEntry& entry);
// Makes their names in the folder durable. Those that can't be are removed: a later opening would take the
// files for brought home, and no later sync is known to cover them.
Result<void> keep_brought(const DirectoryChanges& changes, const std::string& folder,
                          const std::vector<SegmentEntry>& segments);
// Writes one that was never begun, and that no server knows.
Result<void> write_empty_segment(const File& file, const Manifest& manifest, const SegmentEntry& entry);
Error older_than_log();

}  // namespace mneme
