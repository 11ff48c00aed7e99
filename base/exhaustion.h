// Exhaustion: no memory is left, or no thread can be made, where nothing can be done without. The process
// then ends with a sentence and exit status 1, as if it had been killed at that moment: whatever was
// acknowledged is durable, and the log is as a crash leaves it.
//
// What can be done without (a row's memory, a checkpoint) is refused by a Result instead, and costs that
// transaction or checkpoint alone.
#pragma once

#include <cstddef>

namespace mneme {

// `bytes`: how many were asked for; 0: nobody knows.
[[noreturn]] void out_of_memory(size_t bytes);

// For main(): what `new` can't give and nobody catches, and threads that the system refuses, end the process
// in that manner, too.
void end_when_exhausted();

}  // namespace mneme
