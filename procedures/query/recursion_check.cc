#include "procedures/query/recursion_check.h"

#include <algorithm>

#include "procedures/ir/source_error.h"

namespace mneme::query {

using syntax::FromItem;
using syntax::JoinKind;
using syntax::Query;

bool RecursionCheck::refers(const Query& query) {
  refuses_ = false;
  references_ = 0;
  walk(query, Place::kAllowed);
  return references_ > 0;
}

void RecursionCheck::check(const Query& first, const Query& step) {
  refuses_ = true;
  references_ = 0;
  walk(first, Place::kFirst);
  walk(step, Place::kAllowed);
}

void RecursionCheck::found(ir::SourceLocation where, Place place) {
  ++references_;
  if (!refuses_) return;
  const auto refuse_reference = [&](std::string_view why) {
    refuse_as(sqlstate::kInvalidRecursion, where, "recursive reference to query \"{}\" must not appear {}",
              name_, why);
  };
  switch (place) {
    case Place::kAllowed:
      if (references_ > 1) refuse_reference("more than once");
      return;
    case Place::kFirst:
      return refuse_reference("within its non-recursive term");
    case Place::kSubquery:
      return refuse_reference("within a subquery");
    case Place::kOuterJoin:
      return refuse_reference("within an outer join");
    case Place::kIntersect:
      return refuse_reference("within INTERSECT");
    case Place::kExcept:
      return refuse_reference("within EXCEPT");
  }
}

void RecursionCheck::walk(const Query& query, Place place) {
  bool hidden = false;  // by a table of the query's own WITH
  for (const Query::CommonTable& table : query.with) {
    hidden |= query.recursive && table.name.text == name_;
    if (!hidden && table.query) walk(*table.query, place);
    hidden |= table.name.text == name_;
  }
  if (hidden) return;
  // In a chain of set operations, what stands before EXCEPT ALL or beside INTERSECT ALL.
  const auto place_of = [&](size_t operand) {
    if (place != Place::kAllowed) return place;
    for (size_t i = 0; i < query.more.size(); ++i) {
      const Query::More& more = query.more[i];
      const bool is_beside = operand == i || operand == i + 1;
      if (more.set == Query::Set::kIntersect && more.all && is_beside) return Place::kIntersect;
      if (more.set == Query::Set::kExcept && (operand == i + 1 || (more.all && operand <= i)))
        return Place::kExcept;
    }
    return place;
  };
  walk(query.first, place_of(0));
  for (size_t i = 0; i < query.more.size(); ++i) walk(query.more[i].part, place_of(i + 1));
  for (const syntax::OrderItem& item : query.order) walk(item.expr);
  if (query.limit) walk(*query.limit);
  if (query.offset) walk(*query.offset);
}

void RecursionCheck::walk(const syntax::QueryPart& part, Place place) {
  if (part.select) walk(*part.select, place);
  if (part.query) walk(*part.query, place);
  for (const std::vector<syntax::Expr>& row : part.rows) {
    for (const syntax::Expr& value : row) walk(value);
  }
}

void RecursionCheck::walk(const syntax::SelectCore& core, Place place) {
  for (const FromItem& item : core.from) walk(item, place);
  for (const syntax::SelectItem& item : core.items) walk(item.expr);
  for (const syntax::Expr& expr : core.distinct_on) walk(expr);
  if (core.condition) walk(*core.condition);
  for (const auto& set : core.grouping_sets) {
    for (const syntax::Expr& expr : set) walk(expr);
  }
  if (core.having) walk(*core.having);
  for (const syntax::NamedWindow& window : core.windows) walk(window.window);
}

void RecursionCheck::walk(const FromItem& item, Place place) {
  switch (item.kind) {
    case FromItem::Kind::kTable:
      if (item.schema.empty() && item.name.text == name_) found(item.where, place);
      return;
    case FromItem::Kind::kQuery:
      return walk(*item.query, place);
    case FromItem::Kind::kFunction:
      for (const syntax::Expr& arg : item.args) walk(arg);
      return;
    case FromItem::Kind::kJoins:
      return walk_joins(item, place);
  }
}

void RecursionCheck::walk_joins(const FromItem& item, Place place) {
  const auto is_any = [](JoinKind kind, JoinKind one) { return kind == one || kind == JoinKind::kFull; };
  // Item 0 is the first one, and item i + 1 that of join i.
  const auto place_of = [&](size_t number) {
    if (place != Place::kAllowed) return place;
    if (number > 0 && is_any(item.joins[number - 1].kind, JoinKind::kLeft)) return Place::kOuterJoin;
    for (size_t i = number; i < item.joins.size(); ++i) {
      if (is_any(item.joins[i].kind, JoinKind::kRight)) return Place::kOuterJoin;
    }
    return place;
  };
  walk(item.first[0], place_of(0));
  for (size_t i = 0; i < item.joins.size(); ++i) {
    walk(item.joins[i].item, place_of(i + 1));
    if (item.joins[i].on) walk(*item.joins[i].on);
  }
}

void RecursionCheck::walk(const syntax::Window& window) {
  for (const syntax::Expr& expr : window.partition) walk(expr);
  for (const syntax::OrderItem& item : window.order) walk(item.expr);
  if (!window.frame) return;
  if (window.frame->start.offset) walk(*window.frame->start.offset);
  if (window.frame->end.offset) walk(*window.frame->end.offset);
}

void RecursionCheck::walk(const syntax::Expr& expr) {
  for (const syntax::Expr& arg : expr.args) walk(arg);
  if (expr.query) walk(*expr.query, Place::kSubquery);
  if (expr.filter) walk(*expr.filter);
  if (expr.order) {
    for (const syntax::OrderItem& item : *expr.order) walk(item.expr);
  }
  if (expr.window) walk(*expr.window);
}

}  // namespace mneme::query
