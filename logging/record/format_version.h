// The version of the data directory's format, written into its manifest and into every file of the log.
#pragma once

#include <cstdint>

namespace mneme {

inline constexpr uint32_t kFormatVersion = 4;
// Of a segment whose file was another segment's before (former_sectors.h): a program that takes what is left
// of that for damage must not read it.
inline constexpr uint32_t kReusedSegmentVersion = 5;

}  // namespace mneme
