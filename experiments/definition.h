// An experiment as data, as a TOML file declares it: a paper's figure (experiments/figures) or a user's own.
// docs/experiments.md explains the format; figure_file.h reads it.
//
// A series has a command line of this very program, with names in braces:
//
//     {threads}           the value of the axis of that name; {threads.index} is the value's place among all,
//                         from 0, and {threads.all} are all with commas between
//     {cores}             this machine's cores
//     {seed} {dir}        the round's seed, the point's data directory
//     {server} {servers}  the address of a log server that is started for the command, of three
//     @NAME               a database of the figure: a data directory made once, by a command of its own
//
// A value is an expression over the command's JSON, from left to right, with spaces between all its words and
// brackets where need be: "60e-9 * log_bytes / seconds". `process.` before a name stands for what the kernel
// reports of the process: context_switches, user_seconds, system_seconds, wall_seconds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measurement/toml/file_place.h"

namespace mneme {

enum class Chart {
  kLines,      // over a number
  kBars,       // beside each other, over a name
  kStack,      // bars of stages
  kQuantiles,  // of a latency, on a logarithmic scale
  kTimeline,   // over the seconds of a run, with its checkpoints
};

// By the enumerator: the names in files and results.
inline constexpr std::string_view kChartNames[] = {"lines", "bars", "stack", "quantiles", "timeline"};

// A value of an axis: its name, and what stands for it in command lines.
struct AxisValue {
  std::string label{};
  std::string text{};
};

// Its values may be "1..cores" or "1..4cores": powers of two up to so many.
struct FigureAxis {
  std::string name{};
  std::vector<AxisValue> values{};
  std::vector<AxisValue> quick{};  // with --quick, where they are others
  bool has_names = false;          // the values are different things, and not points along a scale
  FilePlace place{};
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
  std::string x_axis{};    // where it isn't the panel's
  bool simulated = false;  // no clock ran: the replay's schedule on more cores than are here
  // Where the file declares the series' value and each part of its command; for errors.
  FilePlace place{};
  std::vector<FilePlace> command_places{};
};

// A number that a paper gives, at an x that need not be ours.
struct PaperValue {
  std::string series{};
  std::string x{};
  double value = 0;
};

struct FigurePanel {
  std::string name{};  // short: of files and claims
  std::string title{};
  Chart chart = Chart::kBars;
  std::string x{};  // what the axis is, in words
  std::string unit{};
  bool log_y = false;
  std::string x_axis{};                        // none: a timeline
  std::string series_axis{};                   // each of its values, if there is one, is drawn by each series
  std::map<std::string, std::string> where{};  // axis and the label of its value, where others have several
  std::vector<FigureSeries> series{};
  std::vector<PaperValue> paper{};
  FilePlace place{};
};

// A point of a series. x: a value's label, "{cores}", "first", "last", or "each": all that both sides have.
struct FigureCell {
  std::string series{};  // "*": every other one
  std::string x = "last";
};

// An ordering that the author expects, compared with our medians.
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

struct FigureDatabase {
  std::string name{};
  std::string command{};
  FilePlace place{};
};

struct Figure {
  std::string name{};  // pacman-figure-11
  std::string paper{};
  std::string title{};
  std::vector<std::string> paper_says{};  // the paper's text about the figure
  std::string asks{};                     // what the author of one's own wants to know
  std::string scaled{};                   // how it is scaled to this machine, and what differs
  std::vector<FigureAxis> axes{};
  std::vector<FigureDatabase> databases{};
  std::vector<FigurePanel> panels{};
  std::vector<FigureClaim> claims{};
  bool in_tour = false;
  std::string not_here{};          // why it can't be measured; there are no panels then
  uint32_t repeats = 3;            // rounds, where the command line doesn't say
  uint32_t warmup_rounds = 0;      // before them, not kept
  std::optional<uint64_t> seed{};  // of the first round; each further one's is the next number
  std::string file{};              // none: it is the program's own
  std::string declaration{};       // the file's text
};

}  // namespace mneme
