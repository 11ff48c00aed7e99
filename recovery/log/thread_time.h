// ThreadTime: where one thread's time went while the log was loaded and replayed: the parts of PACMAN's
// Figure 20, and two that the paper counts with others.
//
// Invariants  of each thread the parts add up to the seconds of log loading and replay.
// Units       seconds of the thread, not of the clock on the wall.
// Source      PACMAN (SIGMOD 2017), section 6.3.3.
#pragma once

namespace mneme {

struct ThreadTime {
  double data_loading_seconds = 0;  // segments read and checked, calls and changes decoded
  double parameter_checking_seconds =
      0;                        // which rows a call will touch, and so which pieces fall into which lanes
  double dispatch_seconds = 0;  // lanes' lists made and lanes woken; of logged rows: thrown to their threads
  double useful_work_seconds =
      0;  // pieces, with the look-ups ahead of them; of other schemes what changes rows
  double scheduling_seconds = 0;  // from when a task was ready until a free thread had begun it
  double waiting_seconds = 0;     // nothing was ready

  double total_seconds() const {
    return data_loading_seconds + parameter_checking_seconds + dispatch_seconds + useful_work_seconds +
           scheduling_seconds + waiting_seconds;
  }
  void add(const ThreadTime& other) {
    data_loading_seconds += other.data_loading_seconds;
    parameter_checking_seconds += other.parameter_checking_seconds;
    dispatch_seconds += other.dispatch_seconds;
    useful_work_seconds += other.useful_work_seconds;
    scheduling_seconds += other.scheduling_seconds;
    waiting_seconds += other.waiting_seconds;
  }
};

}  // namespace mneme
