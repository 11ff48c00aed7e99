// Units of option values: 10s, 500ms, 64KiB where an option counts in seconds or bytes. A number without a
// unit is in the option's own.
#pragma once

#include <cstdint>
#include <string>

namespace mneme {

enum class OptionUnit : uint8_t { kNone, kSeconds, kMicroseconds, kBytes, kMebibytes };

// Replaces a number with a unit by the number in the option's own, also behind a word ("replay:5s"). Other
// texts ("auto", "0x1000") stay as they are. `whole`: the option takes no fractions. Returns what is wrong
// with the text; empty: nothing.
std::string convert_to(OptionUnit unit, bool whole, std::string& text);

}  // namespace mneme
