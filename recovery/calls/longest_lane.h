// Longest lane: tells a user whose replay was no faster than one of its lanes which statement keeps it in
// one.
//
// Source      PACMAN (SIGMOD 2017), section 4.3: a block's work falls apart by keys, where they are known.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "analyzer/dependency_graph.h"
#include "engine/schema/catalog.h"

namespace mneme {

// `lane_seconds`: by block, how long it ran in its one lane. Returns a sentence if that was nearly all of the
// replay's time, and tables of the block can't be cut because of statements that the analysis knows.
std::optional<std::string> longest_lane_notice(const DependencyGraph& graph, const Catalog& catalog,
                                               std::span<const double> lane_seconds, double replay_seconds);

}  // namespace mneme
