// Answering process: a request of the laboratory (lab/laboratory.h), answered by this program in a process of
// its own. A request's script may never end, or take all memory: then that process ends, and the server goes
// on.
//
// Threads     any, and several at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mneme {

// A process's memory: address space, of which most is never touched.
inline constexpr uint64_t kMostAnsweringBytes = uint64_t{8} << 30;

// What the laboratory answers, or {"error": SENTENCE} if it has not answered within `limit`, or has ended
// otherwise. Fails if the system gives no process or no temporary folder.
Result<std::string> answer_apart(std::string_view request, std::chrono::milliseconds limit);

// The process's part: answers the request in `folder`, whose files answer_apart() has made and reads.
Result<void> answer_in_folder(const std::string& folder);

}  // namespace mneme
