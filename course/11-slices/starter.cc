// Your part of chapter 11: the graph algorithms of the static analysis: what reaches what, what must be
// merged, and in which order the rest may run. Read analyzer/digraph.h first.
//
// This starter sees single edges alone, merges nothing, and takes any order. Partition is the engine's own.
#include <algorithm>
#include <numeric>

#include "analyzer/digraph.h"
#include "base/check.h"

namespace mneme {

Partition::Partition(size_t count) : parent_(count) {
  std::iota(parent_.begin(), parent_.end(), 0);
}

size_t Partition::find(size_t element) const {
  while (parent_[element] != element) element = parent_[element];
  return element;
}

void Partition::merge(size_t a, size_t b) {
  const size_t root_a = find(a);
  const size_t root_b = find(b);
  parent_[std::max(root_a, root_b)] = std::min(root_a, root_b);
}

std::vector<std::vector<size_t>> Partition::classes() const {
  std::vector<std::vector<size_t>> by_root(parent_.size());
  for (size_t element = 0; element < parent_.size(); ++element) by_root[find(element)].push_back(element);
  std::erase_if(by_root, [](const std::vector<size_t>& members) { return members.empty(); });
  return by_root;
}

std::vector<std::vector<bool>> Digraph::reachability() const {
  std::vector<std::vector<bool>> reaches(size(), std::vector<bool>(size()));
  for (size_t from = 0; from < size(); ++from) {
    for (const size_t to : successors_[from]) reaches[from][to] = true;
  }
  return reaches;
}

std::vector<size_t> Digraph::topological_order() const {
  std::vector<size_t> order(size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

void merge_cycles(const Digraph& graph, Partition& partition) {
  (void)graph;
  (void)partition;
}

Digraph quotient(const Digraph& graph, const Partition& partition) {
  (void)graph;
  return Digraph(partition.classes().size());
}

}  // namespace mneme
