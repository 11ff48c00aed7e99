// BackgroundUnits: machine code that is compiled while the program goes on, and interprets meanwhile.
//
// Flow        the constructor emits the C++ and looks for its object in the folders. Where there is none, a
//             thread has the compiler make it. result() is null until that has ended, then the units as
//             CompiledUnits has them.
// Swap        a caller asks result() between two calls and runs the next one by what it says. Nothing is
//             stopped for it: the units are written before the flag that result() reads (release, acquire)
//             and never changed, and a call that has begun by interpretation ends so. Both ways leave the
//             same rows, results and recordings (native_abi.h).
// Close       the thread owns the text and refers to no program, schema or database. stop() kills the
//             compiler with the programs that it has started; the destructor waits until they are collected
//             and their files are removed.
// Errors      as CompiledUnits: notices. After stop() the notice means nothing.
// Threads     result(), wait(), stop(): any. Construction and destruction: one. A child of fork() must
//             destroy no object of its parent's: the thread is not there to wait for.
#pragma once

#include <atomic>
#include <span>
#include <thread>

#include "procedures/native/compiled_units.h"

namespace mneme {

class BackgroundUnits {
 public:
  // Interprets.
  BackgroundUnits() : has_ended_(true) {}
  BackgroundUnits(const Program& program, const Schema& schema, std::span<const NativeUnit> units,
                  const NativeFolders& folders);
  BackgroundUnits(const BackgroundUnits&) = delete;
  BackgroundUnits& operator=(const BackgroundUnits&) = delete;

  // Null while the units are being compiled.
  const CompiledUnits* result() const {
    return has_ended_.load(std::memory_order_acquire) ? &units_ : nullptr;
  }
  const CompiledUnits& wait() const;
  void stop() { thread_.request_stop(); }

 private:
  void end_with(Result<NativeCode> code);

  CompiledUnits units_;                 // the thread's until it has ended, then constant
  std::atomic<bool> has_ended_{false};  // release: units_ is complete
  std::jthread thread_;                 // the last member: its destructor stops it and waits
};

}  // namespace mneme
