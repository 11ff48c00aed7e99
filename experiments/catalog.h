// The program's own experiments, paper by paper: the files of experiments/figures, which are built into it
// (embed.cmake).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "experiments/definition.h"

namespace mneme {

// In the place of a paper, where figures are a user's.
inline constexpr std::string_view kOwnExperiments = "Own experiments";

// Those of all papers, and our own behind them.
const std::vector<Figure>& all_figures();
const Figure* find_figure(std::string_view name);

// What is built in, in the order of all_figures().
struct FigureFile {
  std::string_view name;
  std::string_view text;
};
extern const std::span<const FigureFile> kFigureFiles;

}  // namespace mneme
