// Row scope: which columns the expressions of one SELECT may name, its own and those of the queries around
// it.
//
// Invariants  a column is an expression over the frame's slots, mostly one of them. An unqualified name means
//             the innermost query that has such a column. What is taken from a query around this one becomes
//             a variable, which is set before this query runs.
// Errors      refuse_as(): a name that two tables have.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "procedures/binder/names.h"
#include "procedures/ir/ir.h"
#include "procedures/parser/syntax.h"

namespace mneme::query {

// What binds the expressions of a scope's SELECT.
class ScopeOwner {
 public:
  virtual ~ScopeOwner() = default;
  virtual ir::Expr bind_aggregate(const syntax::Expr& call) = 0;
};

class RowScope {
 public:
  struct Entry {
    std::string source;
    std::string name;
    ir::Expr expr;
    // A column of a join's USING: found by its table's name alone.
    bool hidden = false;
    // A system column, as tableoid is: found by its name, and no part of *.
    bool is_system = false;
    // On the left of a RIGHT or FULL JOIN whose right side is being bound: its rows are not there yet.
    bool is_out_of_reach = false;
  };

  // `outer`: of the query around it, or nullptr. `sees_beside`: it names the columns of `outer` itself;
  // otherwise only those that `outer` has from further out.
  RowScope(Names& names, RowScope* outer, bool sees_beside)
      : names_(names), outer_(outer), sees_beside_(sees_beside) {}
  RowScope(const RowScope&) = delete;
  RowScope& operator=(const RowScope&) = delete;

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  std::vector<Entry>& entries() { return entries_; }
  const std::vector<Entry>& entries() const { return entries_; }
  bool has_source(const std::string& source) const;
  // Whether one has just this name, of this schema.
  bool has_exactly(const std::string& source) const {
    return std::ranges::find(entries_, source, &Entry::source) != entries_.end();
  }
  // The innermost scope that has the table, of this query or of one around it; nullptr where none has.
  const RowScope* scope_of(const std::string& source) const {
    const RowScope* scope = this;
    while (scope != nullptr && !scope->has_source(source)) scope = scope->outer_;
    return scope;
  }
  // Whether this is the scope of that query, or of a part of it, as of a UNION, that sees no column of its
  // own.
  bool is_part_of(const RowScope& query) const {
    const RowScope* scope = this;
    while (scope != nullptr && scope != &query) scope = scope->sees_beside_ ? nullptr : scope->outer_;
    return scope != nullptr;
  }

  std::optional<ir::Expr> find(const std::string& qualifier, const std::string& name,
                               ir::SourceLocation where);
  // What find() has found: columns of this query, or what it takes from outside.
  struct Mentions {
    bool names_own = false;
    std::vector<VariableId> outer;
  };
  // Notes what is found while it lives.
  class Noting {
   public:
    explicit Noting(RowScope& scope) : scope_(scope), around_(std::exchange(scope.mentions_, &mentions_)) {}
    ~Noting() { scope_.mentions_ = around_; }
    Noting(const Noting&) = delete;
    Noting& operator=(const Noting&) = delete;

    const Mentions& mentions() const { return mentions_; }
    // Where what was noted is a part of what is noted around it.
    void add_to_around() {
      if (around_ == nullptr) return;
      around_->names_own |= mentions_.names_own;
      around_->outer.insert(around_->outer.end(), mentions_.outer.begin(), mentions_.outer.end());
    }

   private:
    RowScope& scope_;
    Mentions mentions_;
    Mentions* const around_;
  };
  // Looks for the column in the queries around this one, and not in this one.
  std::optional<ir::Expr> find_outside(const std::string& qualifier, const std::string& name,
                                       ir::SourceLocation where);

  // While the scope's SELECT is bound.
  void set_owner(ScopeOwner* owner) { owner_ = owner; }
  // Binds an aggregate's call that names columns of queries around this one alone, which have become the
  // variables `named`: it belongs to the innermost of those queries, and is a value from outside here.
  // `known`: what count_captured() returned before the call was bound.
  ir::Expr bind_outside(const syntax::Expr& call, const std::vector<VariableId>& named,
                        const std::vector<size_t>& known);
  // How many values this query takes from outside, and each query around it.
  std::vector<size_t> count_captured() const;

  // What is set before the query runs: the variable, from an expression of the query around it.
  const std::vector<std::pair<VariableId, ir::Expr>>& captured() const { return captured_; }
  // Whether the variable is such a one, of this query or of one around it.
  bool is_captured(VariableId variable) const {
    return std::ranges::find(captured_, variable, &std::pair<VariableId, ir::Expr>::first) !=
               captured_.end() ||
           (outer_ != nullptr && outer_->is_captured(variable));
  }

 private:
  Names& names_;
  RowScope* const outer_;
  const bool sees_beside_;
  std::vector<Entry> entries_;
  ScopeOwner* owner_ = nullptr;
  Mentions* mentions_ = nullptr;
  std::vector<std::pair<VariableId, ir::Expr>> captured_;

  bool captures_any(const std::vector<VariableId>& variables) const;
  ir::Expr capture(ir::Expr outside);
};

// Whether two expressions are the same, by their form; constants by their values.
bool same_expression(const ir::Expr& a, const ir::Expr& b);

}  // namespace mneme::query
