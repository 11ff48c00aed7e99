// All experiments, paper by paper, and the databases that they recover.
#pragma once

#include <string_view>
#include <vector>

#include "experiments/definition.h"

namespace mneme {

// In the place of a paper, where figures are of files.
inline constexpr std::string_view kOwnExperiments = "Own experiments";

std::vector<Figure> pacman_figures();
std::vector<Figure> eleda_figures();
std::vector<Figure> aether_figures();
std::vector<Figure> nvm_figures();
std::vector<Figure> seplog_figures();
std::vector<Figure> mneme_figures();

// Those of all papers, and our own behind them.
const std::vector<Figure>& all_figures();
const Figure* find_figure(std::string_view name);

// The `run` that makes the data directory @NAME, or nothing where there is none of that name.
std::string_view database_command(std::string_view name);

}  // namespace mneme
