// The version of the data directory's format, written into its manifest and into every file of the log.
#pragma once

#include <cstdint>

namespace mneme {

inline constexpr uint32_t kFormatVersion = 4;

}  // namespace mneme
