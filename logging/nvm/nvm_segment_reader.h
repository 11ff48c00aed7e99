// NVM segment reader: finds the records that a crash left in a segment of persistent memory, whatever is
// missing between them: Fang's scan for holes.
//
// Method   from each record to the line behind it; where there is none, line by line until there is one. What
//          tells a record is nvm_format.h's. Whether a hole is one that a crash can leave is log_reader.h's
//          to say.
// Threads  any, for several segments at once.
#pragma once

#include "base/file/file.h"
#include "base/result.h"
#include "logging/directory/loaded_segment.h"

namespace mneme {

// Loads the records with LSNs in [begin, end). Those that follow one another without a hole make one
// LoadedBlock.
Result<LoadedSegment> load_nvm_segment(const File& file, const SegmentHeader& header, StreamPosition begin,
                                       StreamPosition end);

}  // namespace mneme
