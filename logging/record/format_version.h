// The version of the data directory's format, written into its manifest and into every file of the log.
#pragma once

#include <cstdint>

namespace mneme {

inline constexpr uint32_t kFormatVersion = 4;
// A segment has this version if its file was another segment's before (former_sectors.h). A program that
// knows only the version above would take what is left of the former segment for damage, so it refuses it.
inline constexpr uint32_t kReusedSegmentVersion = 5;

}  // namespace mneme
