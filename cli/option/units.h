// Units of option values: 10s, 500ms, 64KiB where an option counts in seconds or bytes. A number without a
// unit is in the option's own.
#pragma once

#include <cstdint>
#include <string>

namespace mneme {

enum class OptionUnit : uint8_t { kNone, kSeconds, kMicroseconds, kBytes, kMebibytes };

// Replaces a number with a unit by the number in the option's own. Other texts ("auto", "replay:5") stay as
// they are. Returns what is wrong with it; empty: nothing.
std::string convert_to(OptionUnit unit, std::string& text);

}  // namespace mneme
