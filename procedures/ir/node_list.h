// NodeList: the children of a node of a tree. It is a vector whose destructor does not call itself, however
// deep the tree is; and the trees for chains of AND and OR, which are balanced where the chains are long.
#pragma once

#include <cstddef>
#include <iterator>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace mneme {

// Node has for_each_child_list(node, visit), found by its namespace, which calls visit(list) for each
// NodeList of it.
template <typename Node>
class NodeList : public std::vector<Node> {
 public:
  using std::vector<Node>::vector;
  NodeList() = default;
  NodeList(std::vector<Node> nodes) : std::vector<Node>(std::move(nodes)) {}
  NodeList(const NodeList&) = default;
  NodeList(NodeList&&) noexcept = default;
  NodeList& operator=(const NodeList&) = default;
  NodeList& operator=(NodeList&&) noexcept = default;
  ~NodeList() {
    std::vector<Node> pending;
    try {
      for (Node& node : *this) move_children(node, pending);
      while (!pending.empty()) {
        Node last = std::move(pending.back());
        pending.pop_back();
        move_children(last, pending);
      }
    } catch (const std::bad_alloc&) {
      // Nodes that could not be moved are destroyed in place, by recursive destructors.
    }
  }

 private:
  static void move_children(Node& node, std::vector<Node>& to) {
    for_each_child_list(node, [&](NodeList& list) {
      to.insert(to.end(), std::make_move_iterator(list.begin()), std::make_move_iterator(list.end()));
      list.clear();
    });
  }
};

// A chain a op b op c of AND or OR, as a tree whose depth is that of a balanced one. both(left, right) makes
// a node. Nodes inside of the chain are marked as `joined`, so that printing does not depend on the tree's
// shape.
template <typename Node, typename Both>
Node join_chain(std::span<Node> parts, const Both& both) {
  constexpr size_t kShort = 8;
  if (parts.size() <= kShort) {
    Node chain = std::move(parts[0]);
    for (size_t i = 1; i < parts.size(); ++i) {
      if (i > 1) chain.joined = true;
      chain = both(std::move(chain), std::move(parts[i]));
    }
    return chain;
  }
  const size_t half = parts.size() / 2;
  Node left = join_chain(parts.first(half), both);
  Node right = join_chain(parts.subspan(half), both);
  left.joined = true;
  right.joined = true;
  return both(std::move(left), std::move(right));
}

}  // namespace mneme
