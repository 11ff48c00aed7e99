// Digraph: strongly connected components and topological order of small graphs of dense nodes.
//
// Sizes are a procedure's operations or a program's slices: tens to a few hundred, so plain loops over
// adjacency lists.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace mneme {

// A partition of 0 .. n-1 that only grows coarser.
class Partition {
 public:
  explicit Partition(size_t count);

  size_t find(size_t element) const;
  void merge(size_t a, size_t b);  // the class keeps its smallest element as its name

  // Every class with its elements ascending; classes by smallest element.
  std::vector<std::vector<size_t>> classes() const;

 private:
  std::vector<size_t> parent_;
};

class Digraph {
 public:
  explicit Digraph(size_t count) : successors_(count) {}

  size_t size() const { return successors_.size(); }
  void add_edge(size_t from, size_t to) { successors_[from].insert(to); }
  bool has_edge(size_t from, size_t to) const { return successors_[from].contains(to); }
  const std::set<size_t>& successors(size_t node) const { return successors_[node]; }

  // reaches[a][b]: a path of one or more edges leads from a to b.
  std::vector<std::vector<bool>> reachability() const;

  // Predecessors first; of several ready nodes the smallest. The graph has no cycle but loops of one node.
  std::vector<size_t> topological_order() const;

 private:
  std::vector<std::set<size_t>> successors_;
};

// Merges the classes of the partition whose elements reach each other, so that the graph of classes has no
// cycle.
void merge_cycles(const Digraph& graph, Partition& partition);

// The graph whose nodes are the partition's classes, in the order of Partition::classes(); without loops of
// one node.
Digraph quotient(const Digraph& graph, const Partition& partition);

}  // namespace mneme
