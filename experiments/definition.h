// An experiment as data: a figure or table of a paper. `pacman_figures.cc` and its siblings hold
// them all.
//
// A series has a command line of this very program. In command lines and in the names of values
//
//     $x $xs $index   the point of the axis, all of them with commas between, and the point's place among
//                     them
//     $cores          of this machine
//     $seconds $long $short    how long a run lasts: a setting, one of many seconds to be drawn over time, a
//                              log buffer alone
//     $every          so many seconds lie between two checkpoints
//     $calls          so many transactions make a log that is recovered
//     $W              TPC-C's warehouses
//     @NAME           a data directory that `database_command` makes, shared by all that recover it
//     $server $servers   the address of a log server that is started for the run; of three
//
// A figure of a file has axes by name in their place, {threads}, with {cores}, {seed} and {dir}, the data
// directory of the point.
//
// A value is an expression over the command's JSON, from left to right, with spaces between all its words and
// brackets where need be: "60e-9 * log_bytes / seconds". `process.` before a name stands for what the kernel
// tells of the process: context_switches, user_seconds, system_seconds, wall_seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/file_place.h"

namespace mneme {

enum class Chart {
  kLines,      // over a number
  kBars,       // beside each other, over a name
  kStack,      // bars of stages
  kQuantiles,  // of a latency, on a logarithmic scale
  kTimeline,   // over the seconds of a run, with its checkpoints
};

// A value of an axis: its name, and what stands for it in command lines.
struct AxisValue {
  std::string label{};
  std::string text{};
};

// An axis of a figure that is declared in a file (figure_file.h). Its values may be "1..cores", as a panel's.
struct FigureAxis {
  std::string name{};
  std::vector<AxisValue> values{};
  std::vector<AxisValue> quick{};  // with --quick, where they are others
};

struct FigureSeries {
  std::string name{};
  // Several in one data directory stand in lines, each behind its name:
  //     run: run tpcc
  //     recover: recover {dir}
  // Their JSON is then one object, with each one's under its name.
  std::string command{};
  std::string value{};
  // Another command line, in turns with the first: the value is then the quotient of both, round by round.
  std::string against{};
  bool simulated = false;         // no clock ran: the replay's schedule on more cores than are here
  std::vector<std::string> xs{};  // where they are not the panel's
  // Where a file declares the series' value and each part of its command; for errors.
  FilePlace place{};
  std::vector<FilePlace> command_places{};
};

struct PaperValue {
  std::string series{};
  std::string x{};
  double value = 0;
};

struct FigurePanel {
  std::string name{};  // short: of files and claims
  std::string title{};
  Chart chart = Chart::kBars;
  std::string x{};  // what the axis is
  // Values, or "1..cores", "1..4cores": powers of two up to so many.
  std::vector<std::string> xs{};
  // Where the points' commands differ in more than $x: one for each point, of all series.
  std::vector<std::string> commands{};
  std::string unit{};
  bool log_y = false;
  std::vector<FigureSeries> series{};
  std::vector<PaperValue> paper{};  // the paper's own numbers, where its text gives them
  std::string paper_unit{};         // where it isn't ours
  // A figure that a file declares names axes. Each value of `series_axis`, if it has one, is drawn by each
  // series.
  std::string x_axis{};
  std::string series_axis{};
  std::map<std::string, std::string> where{};  // axis and the label of its value, where others have several
};

// A point of a series. x: a value, "$cores", "$first", "$last", or "*": all that both sides have.
struct FigureCell {
  std::string series{};  // "*": every other one
  std::string x = "$last";
};

// An ordering that the paper states, compared with our medians.
struct FigureClaim {
  enum class Relation { kAbove, kBelow };

  std::string says{};
  std::string panel{};
  FigureCell left{};
  Relation relation = Relation::kAbove;
  double times = 1;  // of the right side; without a right side the number itself
  FigureCell right{};
  std::string reason{};  // why it may not hold here
};

struct Figure {
  std::string name{};  // pacman-figure-11
  std::string paper{};
  std::string title{};
  std::vector<std::string> paper_says{};  // the paper's text about the figure
  std::string scaled{};                   // how it is scaled to this machine, and what differs
  std::vector<FigurePanel> panels{};
  std::vector<FigureClaim> claims{};
  bool in_tour = false;
  std::string not_here{};  // why it can't be reproduced; there are no panels then
  // Only a figure that a file declares has these:
  std::string asks{};  // what its author wants to know
  std::vector<FigureAxis> axes{};
  uint32_t repeats = 0;            // rounds, where the command line doesn't say; 0: as it says
  uint32_t warmup_rounds = 0;      // before them, not kept
  std::optional<uint64_t> seed{};  // of the first round; each further one's is the next number
  std::string file{};
  std::string declaration{};  // the file's text
};

std::string_view name_of(Chart chart);

}  // namespace mneme
