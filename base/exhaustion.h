// Exhaustion: no memory is left, or no thread can be made, where the program cannot do without. The process
// then prints a sentence and ends with exit status 1, as if it had been killed at that moment: all that was
// acknowledged is durable, and the log is as a crash leaves it.
//
// Where the program can do without (a row's memory, a checkpoint), a Result refuses it instead, and only that
// transaction or checkpoint fails.
#pragma once

#include <cstddef>

namespace mneme {

// `bytes`: how many were asked for; 0: unknown.
[[noreturn]] void out_of_memory(size_t bytes);

// For main(): a bad_alloc that is not caught, or a thread that the system refuses, then ends the process in
// the same way.
void end_when_exhausted();

}  // namespace mneme
