// A random statement as a tree, so that it can be made smaller by its grammar and not by its characters.
//
// Invariants  a node's text is its pieces with its children between; a list's is its children with its
//             separator between.
// Threads     values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mneme::differential {

enum class Base {
  kSmallInt,
  kInt,
  kBigInt,
  kNumeric,
  kReal,
  kDouble,
  kBoolean,
  kChar,
  kVarchar,
  kText,
  kTimestamp,
  kDate,
  kTime
};

struct SqlType {
  Base base = Base::kInt;
  int length = -1;  // of CHAR, VARCHAR; NUMERIC's precision; negative: not written
  int scale = -1;
  bool is_array = false;

  std::string text() const;
  bool is_number() const { return !is_array && base <= Base::kDouble; }
  bool is_text() const {
    return !is_array && (base == Base::kChar || base == Base::kVarchar || base == Base::kText);
  }
};

enum class NodeKind {
  kFixed,       // stays
  kExpression,  // any expression below it, or a literal, may stand in its place
  kLiteral,     // an expression that is small already
  kOptional,    // may be left out
  kList,        // any child may be left out, but `minimum`
};

struct Node {
  NodeKind kind = NodeKind::kFixed;
  SqlType type;                     // of an expression
  std::vector<std::string> pieces;  // one more than children; of a list: the separator
  std::vector<Node> children;
  size_t minimum = 1;

  std::string text() const {
    std::string result;
    append_to(result);
    return result;
  }
  void append_to(std::string& result) const;
};

// Nodes of each kind. They are made in braces, whose parts every compiler draws from the left on, so that a
// seed means the same everywhere. The pattern's each @ stands for a child.
struct Fixed : Node {
  explicit Fixed(std::string_view pattern, std::vector<Node> children = {});
};
struct Expression : Node {
  Expression(SqlType type, std::string_view pattern, std::vector<Node> children);
};
struct Literal : Node {
  Literal(SqlType type, std::string text);
};
struct Optional : Node {
  explicit Optional(std::string_view pattern, std::vector<Node> children = {});
};
struct List : Node {
  List(std::string separator, std::vector<Node> children, size_t minimum = 1);
};

// All trees that are `node` with one thing left out or replaced, largest step first.
std::vector<Node> smaller_trees(const Node& node);

}  // namespace mneme::differential
