// PACMAN's figures: what the files of its figures share, and those of logging. pacman_figures() lists them
// all, in the paper's order.
#pragma once

#include <string>

#include "experiments/catalog.h"

namespace mneme::pacman {

inline constexpr const char* kPaper = "PACMAN, SIGMOD'17";
inline const std::string kTpcc = "run tpcc --warehouses $W --threads $cores";

// pacman_logging_figures.cc
Figure figure_11();
Figure figure_12();
Figure table_1();
Figure table_2();
Figure table_3();

}  // namespace mneme::pacman
