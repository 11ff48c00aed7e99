// Recursion check: whether a table of WITH RECURSIVE refers to itself, and where it must not. Private to the
// binder.
//
// Source      PostgreSQL 15, WITH queries: a recursive reference stands once, in the right side of a UNION.
#pragma once

#include <string>

#include "procedures/parser/syntax.h"

namespace mneme::query {

class RecursionCheck {
 public:
  explicit RecursionCheck(const std::string& name) : name_(name) {}

  // Returns whether the query names the table anywhere.
  bool refers(const syntax::Query& query);
  // Throws SourceError where `first`, the part that comes before UNION, names the table, or where `step`, the
  // part behind it, does so more than once or in a place that PostgreSQL refuses.
  void check(const syntax::Query& first, const syntax::Query& step);

 private:
  enum class Place { kAllowed, kFirst, kSubquery, kOuterJoin, kIntersect, kExcept };

  void walk(const syntax::Query& query, Place place);
  void walk(const syntax::QueryPart& part, Place place);
  void walk(const syntax::SelectCore& core, Place place);
  void walk(const syntax::FromItem& item, Place place);
  void walk_joins(const syntax::FromItem& item, Place place);
  void walk(const syntax::Window& window);
  void walk(const syntax::Expr& expr);
  void found(ir::SourceLocation where, Place place);

  const std::string& name_;
  bool refuses_ = false;
  size_t references_ = 0;
};

}  // namespace mneme::query
