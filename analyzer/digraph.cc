#include "analyzer/digraph.h"

#include <algorithm>
#include <numeric>

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
  for (size_t start = 0; start < size(); ++start) {
    std::vector<size_t> pending(successors_[start].begin(), successors_[start].end());
    while (!pending.empty()) {
      const size_t node = pending.back();
      pending.pop_back();
      if (reaches[start][node]) continue;
      reaches[start][node] = true;
      pending.insert(pending.end(), successors_[node].begin(), successors_[node].end());
    }
  }
  return reaches;
}

std::vector<size_t> Digraph::topological_order() const {
  std::vector<size_t> open_predecessors(size());
  for (size_t node = 0; node < size(); ++node) {
    for (size_t next : successors_[node]) open_predecessors[next] += next != node;
  }
  std::set<size_t> ready;
  for (size_t node = 0; node < size(); ++node) {
    if (open_predecessors[node] == 0) ready.insert(node);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    const size_t node = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(node);
    for (size_t next : successors_[node]) {
      if (next != node && --open_predecessors[next] == 0) ready.insert(next);
    }
  }
  CHECK(order.size() == size());
  return order;
}

void merge_cycles(const Digraph& graph, Partition& partition) {
  const Digraph classes = quotient(graph, partition);
  const std::vector<std::vector<size_t>> members = partition.classes();
  const std::vector<std::vector<bool>> reaches = classes.reachability();
  for (size_t a = 0; a < classes.size(); ++a) {
    for (size_t b = a + 1; b < classes.size(); ++b) {
      if (reaches[a][b] && reaches[b][a]) partition.merge(members[a][0], members[b][0]);
    }
  }
}

Digraph quotient(const Digraph& graph, const Partition& partition) {
  const std::vector<std::vector<size_t>> classes = partition.classes();
  std::vector<size_t> class_of(graph.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    for (size_t element : classes[i]) class_of[element] = i;
  }
  Digraph result(classes.size());
  for (size_t node = 0; node < graph.size(); ++node) {
    for (size_t next : graph.successors(node)) {
      if (class_of[node] != class_of[next]) result.add_edge(class_of[node], class_of[next]);
    }
  }
  return result;
}

}  // namespace mneme
