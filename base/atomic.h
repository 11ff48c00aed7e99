// Atomic<T>: std::atomic<T>, for protocols of which a test checks every interleaving.
//
// The interleaving test compiles such code against another header of the same name (tests/interleaving/base).
// The Atomic<T> in that header lets a scheduler choose which thread takes the next step. So the test checks
// the same code that the engine runs, and the engine's code pays nothing for it.
#pragma once

#include <atomic>

namespace mneme {

template <typename T>
using Atomic = std::atomic<T>;

}  // namespace mneme
