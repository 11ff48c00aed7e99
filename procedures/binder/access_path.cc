#include "procedures/binder/access_path.h"

#include <algorithm>
#include <array>

#include "procedures/binder/evaluation_cost.h"
#include "procedures/ir/ir_walk.h"
#include "procedures/ir/source_error.h"
#include "procedures/typing/constant_folding.h"

namespace mneme {

using ir::AccessPath;
using ir::Expr;
using ir::ExprKind;
using ir::Op;
using ir::TableAccess;

namespace {

// The restriction that one condition puts on one column of a table.
struct Restriction {
  enum class Kind { kEqual, kAnyOf, kLower, kUpper };
  Kind kind;
  ColumnId column;
  std::vector<const Expr*> values;
  VariableId array;
  bool inclusive = false;
};

bool uses_source(const Expr& expr, uint8_t source) {
  bool uses = false;
  ir::walk(expr, [&](const Expr& part) { uses |= part.kind == ExprKind::kColumn && part.source == source; });
  return uses;
}

// The column that a comparison's side is, where comparing the side's values orders as the index orders the
// column.
const Expr* comparable_column(const Expr& side, uint8_t source) {
  const Expr* column = &side;
  if (side.kind == ExprKind::kCast && side.args[0].kind == ExprKind::kColumn) {
    const Type& from = side.args[0].type;
    const bool wider_integer = from.is_integer() && side.type.is_integer();
    const bool char_as_text = from.kind == TypeKind::kChar && side.type.kind == TypeKind::kVarchar;
    if (!wider_integer && !char_as_text) return nullptr;
    column = &side.args[0];
  }
  return column->kind == ExprKind::kColumn && column->source == source ? column : nullptr;
}

Op mirrored(Op op) {
  switch (op) {
    case Op::kLess:
      return Op::kGreater;
    case Op::kLessEqual:
      return Op::kGreaterEqual;
    case Op::kGreater:
      return Op::kLess;
    case Op::kGreaterEqual:
      return Op::kLessEqual;
    default:
      return op;
  }
}

std::optional<Restriction> restriction_of_binary(const Expr& part, uint8_t source) {
  for (const size_t side : {0, 1}) {
    const Expr* column = comparable_column(part.args[side], source);
    const Expr& value = part.args[1 - side];
    if (!column || uses_source(value, source)) continue;
    const auto make = [&](Restriction::Kind kind, bool inclusive) {
      return Restriction{kind, column->column, {&value}, {}, inclusive};
    };
    switch (side == 0 ? part.op : mirrored(part.op)) {
      case Op::kEqual:
        return make(Restriction::Kind::kEqual, true);
      case Op::kLess:
        return make(Restriction::Kind::kUpper, false);
      case Op::kLessEqual:
        return make(Restriction::Kind::kUpper, true);
      case Op::kGreater:
        return make(Restriction::Kind::kLower, false);
      case Op::kGreaterEqual:
        return make(Restriction::Kind::kLower, true);
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<Restriction> restriction_of(const Expr& part, uint8_t source) {
  if (part.kind == ExprKind::kBinary) return restriction_of_binary(part, source);
  if (part.kind != ExprKind::kInList && part.kind != ExprKind::kInArray) return std::nullopt;
  const Expr* column = comparable_column(part.args[0], source);
  if (!column) return std::nullopt;
  Restriction result{Restriction::Kind::kAnyOf, column->column, {}, part.variable, true};
  for (size_t i = 1; i < part.args.size(); ++i) {
    if (uses_source(part.args[i], source)) return std::nullopt;
    result.values.push_back(&part.args[i]);
  }
  if (result.values.size() == 1) result.kind = Restriction::Kind::kEqual;
  return result;
}

// A way to read one table: its path, which parts of the condition that settles, and how good it is.
struct Candidate {
  TableAccess access;
  std::vector<size_t> settled;
  int score = -1;
  bool is_lookup = false;  // a key column is fixed at least
};

class PathFinder {
 public:
  PathFinder(const Catalog& catalog, const std::vector<Expr>& parts, const ir::Operation& operation)
      : catalog_(catalog), parts_(parts), operation_(operation) {}

  // The best path to `table`, whose columns the parts call `source`; parts that use the table `hidden` don't
  // help.
  Candidate find(TableId table, uint8_t source, std::optional<uint8_t> hidden, bool single_table) const {
    std::vector<std::optional<Restriction>> restrictions(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (hidden && uses_source(parts_[i], *hidden)) continue;
      restrictions[i] = restriction_of(parts_[i], source);
    }
    Candidate best;
    for (const IndexId index : catalog_.table(table).indexes) {
      Candidate candidate = along(catalog_.index(index), restrictions);
      const bool is_primary_key = catalog_.table(table).primary_key == index;
      const bool lists_rows = is_primary_key || catalog_.index(index).columns.empty();
      if (candidate.score == 0 && !lists_rows) continue;
      if (single_table && delivers_order(candidate)) candidate.score += 2;
      if (is_primary_key) candidate.score += 1;
      if (candidate.score > best.score) best = std::move(candidate);
    }
    return best;
  }

 private:
  using Restrictions = std::vector<std::optional<Restriction>>;

  static std::optional<size_t> find_restriction(const Restrictions& restrictions, ColumnId column,
                                                Restriction::Kind kind) {
    for (size_t i = 0; i < restrictions.size(); ++i) {
      if (restrictions[i] && restrictions[i]->column == column && restrictions[i]->kind == kind) return i;
    }
    return std::nullopt;
  }

  Candidate along(const IndexDefinition& index, const Restrictions& restrictions) const {
    constexpr int kPoint = 100000;
    constexpr int kFixed = 1000;
    constexpr int kBound = 10;
    Candidate candidate;
    candidate.score = 0;
    candidate.access.table = index.table;
    AccessPath& path = candidate.access.path;
    path.index = index.id;
    bool single = true;
    size_t fixed = 0;
    for (; fixed < index.columns.size(); ++fixed) {
      auto at = find_restriction(restrictions, index.columns[fixed], Restriction::Kind::kEqual);
      if (!at) {
        at = find_restriction(restrictions, index.columns[fixed], Restriction::Kind::kAnyOf);
        if (!at) break;
        single = false;
      }
      const Restriction& restriction = *restrictions[*at];
      AccessPath::Equality equality;
      for (const Expr* value : restriction.values) equality.values.push_back(*value);
      equality.array = restriction.array;
      path.equalities.push_back(std::move(equality));
      candidate.settled.push_back(*at);
      candidate.score += kFixed;
    }
    candidate.is_lookup = fixed > 0;
    if (fixed == index.columns.size()) {
      if (index.unique && single) {
        path.kind = AccessPath::Kind::kPoint;
        candidate.score += kPoint;
      }
      return candidate;
    }
    for (const auto kind : {Restriction::Kind::kLower, Restriction::Kind::kUpper}) {
      const auto at = find_restriction(restrictions, index.columns[fixed], kind);
      if (!at) continue;
      const Restriction& restriction = *restrictions[*at];
      auto& bound = kind == Restriction::Kind::kLower ? path.lower : path.upper;
      bound = AccessPath::Bound{*restriction.values[0], restriction.inclusive};
      candidate.settled.push_back(*at);
      candidate.score += kBound;
    }
    return candidate;
  }

  bool delivers_order(const Candidate& candidate) const {
    const std::span<const TableAccess> access(&candidate.access, 1);
    const auto order = path_order(catalog_, access);
    size_t at = 0;
    for (const ir::OrderKey& key : operation_.order) {
      if (key.expr.kind != ExprKind::kColumn) return false;
      const PathColumn column{0, key.expr.column};
      if (is_fixed(catalog_, access, column)) continue;
      if (at == order.size() || order[at++] != column) return false;
    }
    return !operation_.order.empty();
  }

  const Catalog& catalog_;
  const std::vector<Expr>& parts_;
  const ir::Operation& operation_;
};

void refuse_unreachable(const Catalog& catalog, TableId table, ir::SourceLocation where) {
  refuse(where,
         "table {} has no primary key and no index that begins with a column this statement fixes or bounds; "
         "give it a "
         "primary key or such an index",
         catalog.table(table).name);
}

void exchange_sources(Expr& expr) {
  ir::walk(expr, [](Expr& part) {
    if (part.kind == ExprKind::kColumn) part.source = 1 - part.source;
  });
}

// Both candidates of a join, outer table first. Which rows of the outer table are visited matters most: the
// inner one is reached by a key for each.
struct JoinCandidates {
  Candidate outer;
  Candidate inner;

  bool possible() const { return outer.score >= 0 && inner.is_lookup; }
  bool better_than(const JoinCandidates& other) const {
    if (possible() != other.possible()) return possible();
    if (outer.score != other.outer.score) return outer.score > other.outer.score;
    return inner.score > other.inner.score;
  }
};

JoinCandidates join_candidates(const PathFinder& finder, const std::vector<TableId>& tables, uint8_t outer) {
  const uint8_t inner = 1 - outer;
  return {finder.find(tables[outer], outer, inner, false),
          finder.find(tables[inner], inner, std::nullopt, false)};
}

// The one value that the path gives the column; nullptr when there is none, or are several.
const Expr* fixing_value(const Catalog& catalog, std::span<const TableAccess> access, PathColumn column) {
  const AccessPath& path = access[column.source].path;
  const IndexDefinition& index = catalog.index(path.index);
  for (size_t i = 0; i < path.equalities.size(); ++i) {
    if (index.columns[i] == column.column && path.equalities[i].values.size() == 1) {
      return &path.equalities[i].values[0];
    }
  }
  return nullptr;
}

}  // namespace

void split_conjunction(Expr condition, std::vector<Expr>& parts) {
  const bool is_negated = condition.kind == ExprKind::kUnary && condition.op == Op::kNot;
  Expr& inner = is_negated ? condition.args[0] : condition;
  if (inner.kind == ExprKind::kBinary && inner.op == (is_negated ? Op::kOr : Op::kAnd)) {
    for (Expr& side : inner.args) {
      if (!is_negated) {
        split_conjunction(std::move(side), parts);
        continue;
      }
      Expr negation;
      negation.kind = ExprKind::kUnary;
      negation.op = Op::kNot;
      negation.type = condition.type;
      negation.where = side.where;
      negation.args.push_back(std::move(side));
      split_conjunction(std::move(negation), parts);
    }
  } else if (is_negated && inner.kind == ExprKind::kInList) {
    // NOT IN is <> for each element that names a column.
    const auto other = std::ranges::stable_partition(inner.args.begin() + 1, inner.args.end(),
                                                     [](const Expr& arg) { return !has_column(arg); });
    for (Expr& element : other) {
      Expr differs;
      differs.kind = ExprKind::kBinary;
      differs.op = Op::kNotEqual;
      differs.type = condition.type;
      differs.where = element.where;
      differs.args = {inner.args[0], std::move(element)};
      parts.push_back(std::move(differs));
    }
    inner.args.erase(other.begin(), other.end());
    if (inner.args.size() > 1) parts.push_back(std::move(condition));
  } else {
    parts.push_back(std::move(condition));
  }
}

void choose_access(const Catalog& catalog, const std::vector<TableId>& tables, std::vector<Expr> parts,
                   ir::Operation& operation) {
  const PathFinder finder(catalog, parts, operation);
  std::vector<size_t> settled;
  if (tables.size() == 1) {
    Candidate candidate = finder.find(tables[0], 0, std::nullopt, true);
    if (candidate.score < 0) refuse_unreachable(catalog, tables[0], operation.where);
    settled = std::move(candidate.settled);
    operation.access.push_back(std::move(candidate.access));
  } else {
    JoinCandidates chosen = join_candidates(finder, tables, 0);
    JoinCandidates other = join_candidates(finder, tables, 1);
    const bool exchange = other.better_than(chosen);
    if (exchange) chosen = std::move(other);
    if (!chosen.possible()) {
      refuse_as(sqlstate::kNotSupported, operation.where,
                "neither {} nor {} has an index that begins with a column fixed by the other's row; a join "
                "looks its inner "
                "table up by an index: add one, or use a FOR loop with a SELECT inside",
                catalog.table(tables[0]).name, catalog.table(tables[1]).name);
    }
    settled = std::move(chosen.outer.settled);
    settled.insert(settled.end(), chosen.inner.settled.begin(), chosen.inner.settled.end());
    operation.access.push_back(std::move(chosen.outer.access));
    operation.access.push_back(std::move(chosen.inner.access));
    if (exchange) {
      ir::for_each_expression(operation, [](Expr& expr) { exchange_sources(expr); });
      for (Expr& part : parts) exchange_sources(part);
    }
  }
  std::array<std::vector<Expr>, 2> filters;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (std::ranges::find(settled, i) != settled.end()) continue;
    filters[uses_source(parts[i], 1) ? 1 : 0].push_back(std::move(parts[i]));
  }
  for (size_t i = 0; i < operation.access.size(); ++i) {
    if (!filters[i].empty()) operation.access[i].filter = join_by_cost(std::move(filters[i]));
  }
}

std::optional<TablePath> find_path(const Catalog& catalog, TableId table, uint8_t source,
                                   const std::vector<Expr>& conditions) {
  const ir::Operation no_order;
  Candidate best = PathFinder(catalog, conditions, no_order).find(table, source, std::nullopt, false);
  if (best.score < 0) return std::nullopt;
  return TablePath{std::move(best.access.path), std::move(best.settled), best.is_lookup, best.score};
}

bool is_fixed(const Catalog& catalog, std::span<const TableAccess> access, PathColumn column) {
  return fixing_value(catalog, access, column) != nullptr;
}

bool is_constant(const Catalog& catalog, std::span<const TableAccess> access, PathColumn column) {
  const Expr* value = fixing_value(catalog, access, column);
  return value != nullptr && (column.source == 0 || !uses_source(*value, 0));
}

std::vector<PathColumn> path_order(const Catalog& catalog, std::span<const TableAccess> access) {
  std::vector<PathColumn> order;
  for (uint8_t source = 0; source < static_cast<uint8_t>(access.size()); ++source) {
    const AccessPath& path = access[source].path;
    const IndexDefinition& index = catalog.index(path.index);
    const auto add = [&](const std::vector<ColumnId>& columns) {
      for (const ColumnId column : columns) {
        const PathColumn item{source, column};
        if (!is_fixed(catalog, access, item) && std::ranges::find(order, item) == order.end())
          order.push_back(item);
      }
    };
    add(index.columns);
    const auto primary_key = catalog.table(access[source].table).primary_key;
    if (!catalog.names_rows(index) && primary_key) add(catalog.index(*primary_key).columns);
  }
  return order;
}

bool finds_one_row(std::span<const TableAccess> access) {
  return std::ranges::all_of(
      access, [](const TableAccess& each) { return each.path.kind == AccessPath::Kind::kPoint; });
}

bool identifies_rows(const Catalog& catalog, std::span<const TableAccess> access,
                     std::span<const PathColumn> ordered) {
  for (uint8_t source = 0; source < static_cast<uint8_t>(access.size()); ++source) {
    if (access[source].path.kind == AccessPath::Kind::kPoint) continue;
    const auto known = [&](ColumnId column) {
      const PathColumn item{source, column};
      return is_fixed(catalog, access, item) || std::ranges::find(ordered, item) != ordered.end();
    };
    const auto identifies = [&](IndexId id) {
      return catalog.names_rows(catalog.index(id)) && std::ranges::all_of(catalog.index(id).columns, known);
    };
    if (std::ranges::none_of(catalog.table(access[source].table).indexes, identifies)) return false;
  }
  return true;
}

}  // namespace mneme
