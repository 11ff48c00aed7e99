// Goal: what reaches each other becomes one, nothing else does, and the order of the rest is right and always
// the same. Method: small graphs by hand, then random ones, held against the definitions.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/digraph.h"
#include "course/grading.h"

namespace mneme::course {
namespace {

using Edges = std::vector<std::pair<size_t, size_t>>;

Digraph graph_of(size_t size, const Edges& edges) {
  Digraph graph(size);
  for (const auto& [from, to] : edges) graph.add_edge(from, to);
  return graph;
}

std::string shown(const Partition& partition) {
  std::string text;
  for (const std::vector<size_t>& each : partition.classes())
    text += fmt::format("{{{}}}", fmt::join(each, " "));
  return text;
}
std::string shown(const Digraph& graph) {
  std::string text;
  for (size_t from = 0; from < graph.size(); ++from) {
    for (const size_t to : graph.successors(from)) text += fmt::format("{}->{} ", from, to);
  }
  return text + fmt::format("of {}", graph.size());
}
std::string reached(const Digraph& graph) {
  std::string text;
  const std::vector<std::vector<bool>> reaches = graph.reachability();
  for (size_t from = 0; from < graph.size(); ++from) {
    for (size_t to = 0; to < graph.size(); ++to) {
      if (reaches[from][to]) text += fmt::format("{}->{} ", from, to);
    }
  }
  return text;
}
std::string merged(size_t size, const Edges& edges, const Edges& one_already = {}) {
  Partition partition(size);
  for (const auto& [a, b] : one_already) partition.merge(a, b);
  merge_cycles(graph_of(size, edges), partition);
  return shown(partition);
}
std::string order(const Digraph& graph) {
  return fmt::format("{}", fmt::join(graph.topological_order(), " "));
}

constexpr const char* kHangs =
    "Two slices wait for each other: recovery stands still, and the database never comes back.";
constexpr const char* kTooEarly =
    "A slice runs before the one whose value it needs: it reads what isn't there yet, and the replayed state "
    "is "
    "another.";
constexpr const char* kSlow =
    "Nothing is lost, but slices that could run side by side run one after the other: recovery takes longer.";

TEST(Graph, APathMayHaveManyEdges) {
  EXPECT_EQ(reached(graph_of(4, {{0, 1}, {1, 2}, {2, 3}})), "0->1 0->2 0->3 1->2 1->3 2->3 ")
      << broken("A path may have many edges: of 0->1, 1->2, 2->3 follows 0->3.", kHangs);
}

TEST(Graph, ANodeReachesItselfByACycleAlone) {
  EXPECT_EQ(reached(graph_of(3, {{0, 1}, {1, 0}, {1, 2}})), "0->0 0->1 0->2 1->0 1->1 1->2 ")
      << broken("A node reaches itself if it is in a cycle, and only then. Here 0 and 1 do, and 2 doesn't.",
                "A slice is taken to depend on itself, or a cycle isn't seen.");
  EXPECT_EQ(reached(graph_of(2, {{1, 1}})), "1->1 ")
      << broken("An edge from a node to itself is a cycle of one node.",
                "A slice is taken not to depend on itself, though it does.");
}

TEST(Graph, WhatReachesEachOtherBecomesOne) {
  EXPECT_EQ(merged(5, {{0, 1}, {1, 2}, {2, 3}, {3, 1}, {3, 4}}), "{0}{1 2 3}{4}")
      << broken("What reaches each other becomes one. Here 1, 2 and 3 are a cycle.", kHangs);
}

TEST(Graph, NothingElseBecomesOne) {
  EXPECT_EQ(merged(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}), "{0}{1}{2}{3}") << broken(
      "What is reached in one direction alone stays apart: an edge is an order, and no reason to merge.",
      kSlow);
  EXPECT_EQ(merged(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}}), "{0 1}{2 3}")
      << broken("Two cycles with an edge from one to the other stay two.", kSlow);
}

TEST(Graph, WhatIsOneAlreadyMakesCycles) {
  EXPECT_EQ(merged(4, {{0, 1}, {1, 2}, {2, 3}}, {{0, 3}}), "{0 1 2 3}") << broken(
      "Cycles are those of the classes, not those of the elements. Here 0 and 3 are one already, so "
      "0->1->2->3 is "
      "a cycle.",
      kHangs);
  EXPECT_EQ(merged(4, {{0, 1}, {2, 3}}, {{0, 3}, {1, 2}}), "{0 1 2 3}") << broken(
      "Cycles are those of the classes. Here 0 and 3 are one, and 1 and 2: the class of 0 reaches that of 1 "
      "by "
      "0->1, and is reached from it by 2->3.",
      kHangs);
  EXPECT_EQ(merged(3, {{0, 1}}, {{1, 2}}), "{0}{1 2}")
      << broken("What is one already stays one, and takes no other with it that it only follows.", kSlow);
}

TEST(Graph, TheGraphOfClassesHasTheirEdges) {
  Partition partition(5);
  partition.merge(1, 3);
  EXPECT_EQ(shown(quotient(graph_of(5, {{0, 1}, {3, 2}, {1, 3}, {2, 4}}), partition)), "0->1 1->2 2->3 of 4")
      << broken(
             "The graph of classes has a node a class, in the order of their smallest elements, and an edge "
             "wherever an element of one has an edge to an element of the other. Here 1 and 3 are one class.",
             kTooEarly);
}

TEST(Graph, ClassesHaveNoLoops) {
  Partition partition(2);
  partition.merge(0, 1);
  EXPECT_EQ(shown(quotient(graph_of(2, {{0, 1}, {1, 1}}), partition)), "of 1")
      << broken("An edge within a class is none of the graph of classes.", kHangs);
}

TEST(Graph, WhatComesBeforeIsFirst) {
  EXPECT_EQ(order(graph_of(4, {{3, 2}, {2, 1}, {1, 0}})), "3 2 1 0")
      << broken("The order has each node behind all from which an edge leads to it.", kTooEarly);
}

TEST(Graph, TheOrderIsAlwaysTheSame) {
  EXPECT_EQ(order(graph_of(4, {{3, 0}, {2, 0}})), "1 2 3 0") << broken(
      "Of several nodes that may come next the smallest does.",
      "Two runs of the program, or a primary and its standby, number the same blocks in other ways.");
  EXPECT_EQ(order(graph_of(6, {{5, 0}, {0, 4}, {2, 3}})), "1 2 3 5 0 4") << broken(
      "Of several nodes that may come next the smallest does, also if it has become ready just now. "
      "Here 0 waits for 5, and then comes before 4.",
      "Two runs of the program, or a primary and its standby, number the same blocks in other ways.");
}

TEST(Graph, ALoopHoldsNothingBack) {
  EXPECT_EQ(order(graph_of(3, {{1, 1}, {1, 0}})), "1 0 2") << broken(
      "An edge from a node to itself holds nothing back: a slice of which two calls conflict runs all "
      "the same.",
      kHangs);
}

TEST(Graph, RandomGraphsAreMergedAsTheDefinitionSays) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const size_t size = 1 + random() % 10;
    Digraph graph(size);
    Partition found(size);
    for (size_t edges = random() % (2 * size); edges > 0; --edges)
      graph.add_edge(random() % size, random() % size);
    for (size_t merges = random() % 3; merges > 0; --merges) found.merge(random() % size, random() % size);
    // The definition, slowly: what is one is reached from each other; then the closure of that.
    std::vector<std::vector<bool>> reaches(size, std::vector<bool>(size));
    for (size_t a = 0; a < size; ++a) {
      for (size_t b = 0; b < size; ++b)
        reaches[a][b] = found.find(a) == found.find(b) || graph.has_edge(a, b);
    }
    for (size_t via = 0; via < size; ++via) {
      for (size_t a = 0; a < size; ++a) {
        for (size_t b = 0; b < size; ++b)
          reaches[a][b] = reaches[a][b] || (reaches[a][via] && reaches[via][b]);
      }
    }
    Partition expected(size);
    for (size_t a = 0; a < size; ++a) {
      for (size_t b = 0; b < a; ++b) {
        if (reaches[a][b] && reaches[b][a]) expected.merge(a, b);
      }
    }
    merge_cycles(graph, found);
    ASSERT_EQ(shown(found), shown(expected)) << broken(
        "Two elements become one if, and only if, each reaches the other, where those that are one "
        "already reach each other.",
        "Too little is merged, and recovery stands still; or too much, and it is slow.");
    const Digraph classes = quotient(graph, found);
    const std::vector<size_t> sorted = classes.topological_order();
    std::vector<size_t> place(classes.size());
    for (size_t i = 0; i < sorted.size(); ++i) place[sorted[i]] = i;
    for (size_t from = 0; from < classes.size(); ++from) {
      for (const size_t to : classes.successors(from)) {
        ASSERT_LT(place[from], place[to]) << broken(
            "Once cycles are merged, there is an order, and each edge leads forward in it.", kTooEarly);
      }
    }
  }
}

}  // namespace
}  // namespace mneme::course
