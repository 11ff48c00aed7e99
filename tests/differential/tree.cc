#include "tests/differential/tree.h"

#include <array>

#include "base/check.h"

namespace mneme::differential {
namespace {

constexpr std::array<const char*, 13> kNames = {"SMALLINT",         "INT",     "BIGINT", "NUMERIC", "REAL",
                                                "DOUBLE PRECISION", "BOOLEAN", "CHAR",   "VARCHAR", "TEXT",
                                                "TIMESTAMP",        "DATE",    "TIME"};

std::vector<std::string> split(std::string_view pattern) {
  std::vector<std::string> pieces(1);
  for (const char c : pattern) {
    if (c == '@') {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

bool is_expression(const Node& node) {
  return node.kind == NodeKind::kExpression || node.kind == NodeKind::kLiteral;
}

void expressions_below(const Node& node, std::vector<const Node*>& found) {
  for (const Node& child : node.children) {
    if (is_expression(child)) found.push_back(&child);
  }
  for (const Node& child : node.children) expressions_below(child, found);
}

std::vector<std::string> small_literals(const SqlType& type) {
  if (type.is_array) return {"NULL"};
  switch (type.base) {
    case Base::kBoolean:
      return {"TRUE", "FALSE", "NULL"};
    case Base::kChar:
    case Base::kVarchar:
    case Base::kText:
      return {"'a'", "NULL"};
    case Base::kDate:
      return {"DATE '2000-01-01'", "NULL"};
    case Base::kTimestamp:
      return {"TIMESTAMP '2000-01-01'", "NULL"};
    case Base::kTime:
      return {"TIME '00:00'", "NULL"};
    default:
      return {"0", "1", "NULL"};
  }
}

}  // namespace

std::string SqlType::text() const {
  std::string name = kNames.at(static_cast<size_t>(base));
  if (length >= 0) {
    name += "(" + std::to_string(length);
    if (scale >= 0) name += "," + std::to_string(scale);
    name += ")";
  }
  return is_array ? name + "[]" : name;
}

void Node::append_to(std::string& result) const {
  if (kind == NodeKind::kList) {
    for (size_t i = 0; i < children.size(); ++i) {
      if (i > 0) result += pieces[0];
      children[i].append_to(result);
    }
    return;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    result += pieces[i];
    if (i < children.size()) children[i].append_to(result);
  }
}

Fixed::Fixed(std::string_view pattern, std::vector<Node> below) {
  pieces = split(pattern);
  children = std::move(below);
  CHECK(pieces.size() == children.size() + 1);
}

Expression::Expression(SqlType of, std::string_view pattern, std::vector<Node> below)
    : Node(Fixed{pattern, std::move(below)}) {
  kind = NodeKind::kExpression;
  type = of;
}

Literal::Literal(SqlType of, std::string text) {
  kind = NodeKind::kLiteral;
  type = of;
  pieces = {std::move(text)};
}

Optional::Optional(std::string_view pattern, std::vector<Node> below)
    : Node(Fixed{pattern, std::move(below)}) {
  kind = NodeKind::kOptional;
}

List::List(std::string separator, std::vector<Node> below, size_t least) {
  kind = NodeKind::kList;
  pieces = {std::move(separator)};
  children = std::move(below);
  minimum = least;
}

std::vector<Node> smaller_trees(const Node& node) {
  std::vector<Node> trees;
  if (node.kind == NodeKind::kOptional && node.text() != "") trees.push_back(Fixed{""});
  if (node.kind == NodeKind::kExpression) {
    for (const std::string& text : small_literals(node.type)) trees.push_back(Literal{node.type, text});
    std::vector<const Node*> below;
    expressions_below(node, below);
    for (const Node* inner : below) trees.push_back(*inner);
  }
  if (node.kind == NodeKind::kLiteral) {
    const std::string now = node.text();
    for (const std::string& text : small_literals(node.type)) {
      if (text.size() < now.size()) trees.push_back(Literal{node.type, text});
    }
  }
  if (node.kind == NodeKind::kList && node.children.size() > node.minimum) {
    const size_t half = node.children.size() / 2;
    if (half > 1 && node.children.size() - half >= node.minimum) {
      Node first = node;
      first.children.erase(first.children.begin(), first.children.begin() + static_cast<ptrdiff_t>(half));
      trees.push_back(std::move(first));
    }
    for (size_t i = 0; i < node.children.size(); ++i) {
      Node without = node;
      without.children.erase(without.children.begin() + static_cast<ptrdiff_t>(i));
      trees.push_back(std::move(without));
    }
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    for (Node& child : smaller_trees(node.children[i])) {
      Node changed = node;
      changed.children[i] = std::move(child);
      trees.push_back(std::move(changed));
    }
  }
  return trees;
}

}  // namespace mneme::differential
