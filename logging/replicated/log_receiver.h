// Log receiver: brings a replicated log to a standby: reads piece after piece, has them kept
// (received_log.h), and hands on the whole records that they add; and knows how much of the log is yet to
// come, and since when.
//
// Flow        thread: read() -> ReceivedLog::take() -> batch -> owner: take() ... replayed() ... stop()
//             to take the log over: stop() -> fence -> receive_until(the fence's position) -> take()
// Invariants  batches come in the log's order, and together hold every record once. no more than
//             kMostWaitingBytes of records wait, unless one reading brings more: then the thread waits.
// Durable     every kSyncInterval, while something comes, what came is synced.
// Lag         A message is behind from when the standby first knew of it, by asking for the log's end each
//             ask_interval, until the round with it has been replayed. What was there before the standby
//             asked first is behind since then. Positions need not be dense: once several readings bring
//             nothing, there is nothing up to the end.
// Threads     one of its own. lag(): any; the rest: the owner.
// Errors      servers that don't answer are asked again, as long as it takes; lag() says so. Any other error
//             ends the thread, and take() reports it, once all batches before have been taken.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "logging/replicated/received_log.h"
#include "logging/replicated/replicated_log.h"

namespace mneme {

struct ReceivedBatch {
  ReceivedRecords records;
  uint64_t end_position = 0;  // of the piece behind its last
};

struct ReceivedLag {
  Lsn received;          // the log's end, as far as it has come, in whole records
  uint64_t records = 0;  // that have come so far
  uint64_t unread = 0;   // messages of the log, at most, that have not come yet
  double seconds = 0;    // since when something is behind; 0: nothing is
  std::string trouble;   // why nothing comes; empty: it does, or there is nothing
};

class LogReceiver {
 public:
  static constexpr uint64_t kMostWaitingBytes = uint64_t{64} << 20;

  // `from`: the position of the first piece to be read. Both outlive this.
  LogReceiver(ReplicatedReader& reader, ReceivedLog& log, uint64_t from,
              std::chrono::milliseconds ask_interval = std::chrono::milliseconds(200));
  ~LogReceiver() { stop(); }
  LogReceiver(const LogReceiver&) = delete;
  LogReceiver& operator=(const LogReceiver&) = delete;

  // All batches that wait; none: the time is over.
  Result<std::vector<ReceivedBatch>> take(std::chrono::milliseconds limit);
  // Everything before this position has been replayed.
  void replayed(uint64_t position);
  ReceivedLag lag() const;
  // Whether so long, while the servers answered, nothing has come, and nothing is left to come; but something
  // has come before.
  bool is_silent(std::chrono::milliseconds limit) const;

  // Ends the thread. What has come can be taken yet.
  void stop();
  // After stop(): begins the thread again.
  void go_on();
  // After stop(): one reading more. Whether it brought something.
  Result<bool> receive(std::chrono::milliseconds limit);
  // After stop(): until the piece at the position has come. kFailed: not within the limit.
  Result<void> receive_through(uint64_t position, std::chrono::milliseconds limit);

 private:
  using Clock = std::chrono::steady_clock;
  // The log's end when it was last asked for.
  struct Seen {
    Clock::time_point at;
    uint64_t end;
  };

  void run();
  Result<void> receive_in_turn();
  Result<void> ask_if_due();
  Result<void> sync_if_due();
  bool wait_for_room();
  void forget_replayed();  // with mutex_ held

  ReplicatedReader& reader_;
  ReceivedLog& log_;
  const std::chrono::milliseconds ask_interval_;
  // The thread's, until stop().
  uint64_t position_;
  Clock::time_point asked_at_{};
  Clock::time_point synced_at_ = Clock::now();

  mutable std::mutex mutex_;  // guards those below but thread_
  std::condition_variable changed_;
  std::deque<ReceivedBatch> waiting_;
  uint64_t waiting_bytes_ = 0;
  Lsn received_;
  uint64_t records_ = 0;
  uint64_t next_position_;                    // as position_
  uint64_t replayed_;                         // a position
  uint64_t end_position_ = 0;                 // of the log, as far as anybody has heard
  uint32_t idle_reads_ = 0;                   // in a row, that brought nothing
  std::optional<Clock::time_point> came_at_;  // the last piece
  Clock::time_point answered_at_{};           // the servers, where the log ends
  std::deque<Seen> seen_;                     // those that are behind
  std::string trouble_;
  std::optional<Error> error_;
  bool ends_ = false;

  std::thread thread_;
};

}  // namespace mneme
