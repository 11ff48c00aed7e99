// Opens the log that options name: a buffer, a flusher and a device put together (durable_log.h), records
// that each worker hardens in persistent memory by itself (nvm_log.h), several loggers (epoch_log.h), or
// several such logs as streams (distributed_log.h).
#pragma once

#include <memory>

#include "base/result.h"
#include "logging/commit/directory_log.h"
#include "logging/layout/durable_log.h"

namespace mneme {

// Which layout it is the manifest says; the options' is refused where it is another. The directory must be
// locked for work, and begin_incarnation() done since its log was read. Then the first segment is made, and
// the log accepts records from the incarnation's begin on. `manifest` outlives the log.
Result<std::unique_ptr<DirectoryLog>> open_directory_log(ManifestFile& manifest,
                                                         const DurableLogOptions& options);

}  // namespace mneme
