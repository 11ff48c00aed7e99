// RecoveryScheme: a way to make a database of a checkpoint and a log, as a line of the table of them all
// (recovery/database/recovery_schemes.cc).
//
// Invariants  the members are all that the rest of the program asks about a scheme: no other file names one.
// Threads     constant.
// Source      PACMAN (SIGMOD 2017), section 6.2, which names the schemes.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

namespace mneme {

class Replayer;
struct ReplayerSetting;

// The part of a transaction's record that a scheme reads.
enum class Replays : uint8_t {
  kCalls,        // the procedure call, or the rows of an ad-hoc transaction
  kKeyedRows,    // the changed rows, which it finds by their primary keys
  kLocatedRows,  // the changed rows, which it puts into the slots that the log names
};

struct RecoveryScheme {
  std::string_view name;     // as the command line and the reports give it
  std::string_view summary;  // what it does, for the command line's help
  Replays replays;
  // The newest image of a row wins, whatever the order: an image of some columns alone would lose the others.
  bool needs_whole_images = false;
  bool is_parallel = true;  // it uses as many threads as it is given
  // It analyses the procedures and runs parts of calls side by side: levels, lanes and graphs are its own.
  bool cuts_calls = false;
  bool shows_calls = false;  // RecoverOptions::visit sees each call with its results
  // The tables are restored first, and all indexes are built from them at the end. Otherwise indexes are
  // built from the checkpoint's rows, and replay maintains them.
  bool builds_indexes_last = false;
  std::unique_ptr<Replayer> (*make)(const ReplayerSetting& setting) = nullptr;

  bool replays_calls() const { return replays == Replays::kCalls; }
};

}  // namespace mneme
