// Volatile tail: what was read of a log's segment and may be in a cache alone, made durable before anybody
// builds on it.
//
// How         it is written again, as it is, and synced. A sync alone would not do: where one failed before,
//             the kernel may take what it was to cover for clean, show it to readers, and let later syncs
//             succeed without it.
// Invariants  a block's bytes never change, so it is whole whatever a crash leaves of this.
// Errors      a sentence with the path.
#pragma once

#include <string>

#include "base/result.h"
#include "logging/record/log_contents.h"

namespace mneme {

// `segment` lies at `path`, and belongs to `log`: at least what it has above log.durable_seen is durable
// then.
Result<void> make_tail_durable(const std::string& path, const LogContents& log,
                               const LogContents::Segment& segment);

}  // namespace mneme
