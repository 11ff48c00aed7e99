// Plan: a figure's definition, taken to this machine: which commands are to be run, and which of them is
// which point.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/axes.h"
#include "experiments/definition.h"

namespace mneme {

struct PlannedPoint {
  std::string x;
  std::string command;
  std::string against;  // or nothing
  std::string value;
  // Where the file has the value, and the command, for errors.
  std::string place{};
  std::string command_place{};
};

struct PlannedSeries {
  std::string name;
  bool simulated = false;
  std::vector<PlannedPoint> points;
};

// A command of those that a point has: several stand in lines, each behind its name.
struct PlannedStep {
  std::string name;  // empty: the only one
  std::string command;
};

struct PlannedPanel {
  const FigurePanel* definition = nullptr;
  std::vector<std::string> xs;  // of all series, in the order of the axis
  std::vector<PlannedSeries> series;
};

struct PlannedDatabase {
  std::string name;
  std::string command;
};

struct Plan {
  const Figure* figure = nullptr;
  ExperimentScale scale;
  uint32_t rounds = 3;  // how often each command is run
  uint32_t warmup_rounds = 0;
  std::vector<PlannedPanel> panels;
  // The commands to run, each once a round, without repetitions.
  std::vector<std::string> commands;
  std::vector<PlannedDatabase> databases;

  // Those that the command recovers.
  std::vector<PlannedDatabase> databases_of(std::string_view command) const;
  // Guessed from how long the commands say that they run, and what loading takes.
  double expected_seconds() const;
};

Plan plan_of(const Figure& figure, const ExperimentScale& scale);
PlannedPanel plan_of(const Figure& figure, const FigurePanel& panel, const ExperimentScale& scale);

// The parts of a point's command, in their order.
std::vector<PlannedStep> steps_of(std::string_view command);
// As people would type it: "mneme run ...; mneme recover ...".
std::string typed_text(std::string_view command);
// All that a plan runs, the databases' first.
std::vector<std::string> typed_commands(const Plan& plan);
// The names behind the command's @.
std::vector<std::string> database_names_in(std::string_view command);
double expected_seconds(std::string_view command);

// `text` with each `from` replaced.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace mneme
