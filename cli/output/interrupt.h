// Interrupt: Ctrl-C ends a command's work, and not the command: it reports what it has so far, marked
// "partial", and its exit status is 130, as of a program that SIGINT ended.
//
// While one lives, the first SIGINT is noted; a second one ends the process at once, as it does at any other
// time. Where the parent ignores SIGINT, as a shell does for a command in the background, it stays ignored.
//
// Threads     any may ask. One Interrupt at a time.
#pragma once

#include <csignal>

namespace mneme {

class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Whether SIGINT has come, to this Interrupt or an earlier one.
  static bool has_come();

 private:
  struct sigaction former_ {};
};

constexpr int kInterruptedStatus = 130;

}  // namespace mneme
