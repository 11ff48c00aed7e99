// Atomic<T>: std::atomic<T>, under a name of ours where every interleaving of a protocol is to be checked.
//
// The interleaving test compiles such code against a header of the same name whose Atomic<T> lets a scheduler
// choose which thread takes the next step. So the code that is checked is the code that runs, and pays
// nothing for it.
#pragma once

#include <atomic>

namespace mneme {

template <typename T>
using Atomic = std::atomic<T>;

}  // namespace mneme
