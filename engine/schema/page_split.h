// Page split: which page each stretch of a tuple record is of, for a log that is partitioned by page
// (logging/layout/distributed_log.h).
//
// Page        a range of a table's row slots.
// Invariants  what holds no locations is of no page: a call, the count of changes, a logical record.
// Threads     any.
// Source      "Scalable Logging through Emerging Non-Volatile Memory" (VLDB'14), section 3: page-level log
//             space partitioning. A page there is one of the buffer pool's.
#pragma once

#include "base/result.h"
#include "logging/commit/stream_options.h"
#include "logging/record/record_content.h"

namespace mneme {

inline constexpr uint64_t kPageSlots = 256;

RecordSplitter page_splitter();

// Why a log with such records can't be partitioned by page, as a sentence for the user.
Result<void> check_pages(RecordContent content);

}  // namespace mneme
