// Goal    cycles are merged wholly and at once, and orders put predecessors first.
// Method  small graphs by hand, and random graphs checked against the definitions.
#include "analyzer/digraph.h"

#include <gtest/gtest.h>

#include <random>

namespace mneme {
namespace {

using Classes = std::vector<std::vector<size_t>>;

TEST(Digraph, MergesOnlyWhatReachesEachOther) {
  Digraph graph(6);
  graph.add_edge(0, 1);
  graph.add_edge(1, 2);
  graph.add_edge(2, 1);
  graph.add_edge(2, 3);
  graph.add_edge(4, 4);
  Partition partition(6);
  merge_cycles(graph, partition);
  EXPECT_EQ(partition.classes(), (Classes{{0}, {1, 2}, {3}, {4}, {5}}));
}

// 0 and 3 are one class from the start: 0 -> 1 -> 2 -> 3 then closes a cycle.
TEST(Digraph, ClassesMakeCyclesThatTheirElementsDoNot) {
  Digraph graph(4);
  graph.add_edge(0, 1);
  graph.add_edge(1, 2);
  graph.add_edge(2, 3);
  Partition partition(4);
  partition.merge(3, 0);
  merge_cycles(graph, partition);
  EXPECT_EQ(partition.classes(), (Classes{{0, 1, 2, 3}}));
}

TEST(Digraph, OrdersPredecessorsFirstThenByNumber) {
  Digraph graph(4);
  graph.add_edge(3, 0);
  graph.add_edge(2, 0);
  EXPECT_EQ(graph.topological_order(), (std::vector<size_t>{1, 2, 3, 0}));
}

TEST(Digraph, OnePassOfMergingLeavesNoCycle) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const size_t size = 1 + random() % 12;
    Digraph graph(size);
    Partition partition(size);
    for (size_t edges = random() % (2 * size); edges > 0; --edges)
      graph.add_edge(random() % size, random() % size);
    for (size_t merges = random() % 3; merges > 0; --merges)
      partition.merge(random() % size, random() % size);
    merge_cycles(graph, partition);
    const Digraph merged = quotient(graph, partition);
    const std::vector<std::vector<bool>> reaches = merged.reachability();
    for (size_t node = 0; node < merged.size(); ++node) EXPECT_FALSE(reaches[node][node]);
    EXPECT_EQ(merged.topological_order().size(), merged.size());
  }
}

}  // namespace
}  // namespace mneme
