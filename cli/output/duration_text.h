// A length of time as users write it: 200ns, 100us, 1.5ms, 2s.
#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace mneme {

// `option` is named in the error. A bare 0 needs no unit.
Result<std::chrono::nanoseconds> duration_of(std::string_view option, std::string_view text);

}  // namespace mneme
