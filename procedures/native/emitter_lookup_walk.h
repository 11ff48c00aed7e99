// Lookup walk: one way through a procedure's or a slice's statements, for the lookups function of one round
// (emitter_lookups.h).
//
// Flow        emit() walks the statements, keeping account of what is known in which round, and writes of
//             them what this round can do: evaluate, peek at rows that earlier rounds named
//             (emitter_lookup_rows.cc), name rows.
// Invariants  the walk takes the same decisions in every round; only what it writes differs.
#pragma once

#include <array>
#include <compare>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/transaction/prefetcher.h"
#include "procedures/interpreter/native_abi.h"
#include "procedures/native/emitter_access.h"

namespace mneme {

// Returns whether generated code evaluates the expression in line, without memory of its own; `over_row`: a
// row's columns are at hand besides.
bool is_inline(const ir::Expr& expr, bool over_row = false);
// Whether keys are made of such values without the KeyCodec.
bool has_key_words(const ir::Expr& expr);

using Variables = std::set<uint32_t>;

// How many rounds there are, and what is read from rows for a later one to tell what else to look up.
struct LookupRounds {
  uint32_t count = 0;
  Variables peeked;
};

class LookupWalk {
 public:
  // `rounds`: nullptr where they are still to be found out.
  LookupWalk(const Schema& schema, const NativeUnit& unit, uint32_t round, const LookupRounds* rounds);

  std::string emit(const std::string& name);
  // After emit().
  LookupRounds rounds() const;
  bool names_at_once() const { return named_in_round_[0] > 0; }

 private:
  // kSometimes: where the flag known_NAME is set.
  enum class State : uint8_t { kUnknown, kSometimes, kKnown };
  struct Knowledge {
    State state = State::kUnknown;
    uint32_t round = 0;  // the first in which it is known
  };

  // A key that is looked up in an index: its values, each as a C++ expression.
  struct PlannedKey {
    IndexId index;
    std::vector<std::string> values;

    auto operator<=>(const PlannedKey&) const = default;
  };
  struct PlannedLookup {
    PlannedKey key;
    Variables variables;             // that the key is made of
    std::vector<std::string> parts;  // each that a statement reads of the row
  };

  PlannedKey key_of(IndexId index, std::span<const ir::Expr* const> values);
  std::string declarations();
  void emit_block(std::span<const ir::Statement> statements);
  void emit(const ir::Statement& statement);
  void emit_assign(const ir::Statement& statement);
  void emit_if(const ir::Statement& statement);
  void emit_for_range(const ir::Statement& statement);
  void emit_operation(const ir::Statement& statement);
  void emit_insert(const ir::Operation& operation);
  void emit_recall(const ir::Statement& statement);
  // The variables that the operation sets from the first row that it finds.
  Variables peekable(const ir::Operation& operation, uint32_t round) const;
  bool is_peekable(const ir::Operation& operation, const ir::Expr& expr, uint32_t round,
                   bool of_old_row) const;
  void emit_peek(const ir::Operation& operation, std::span<const ir::Expr* const> values, uint32_t round,
                 const Variables& peeked);
  void write_row(const ir::Operation& operation, const Variables& peeked, const std::string& image);
  // Returns false if it is named already.
  bool write_lookup(const ir::Operation& operation, IndexId index, std::span<const ir::Expr* const> values,
                    const AccessEmitter::WantedParts& parts, bool is_watched = false);
  bool emit_place_of_loop(const ir::Operation& operation, IndexId index,
                          std::span<const ir::Expr* const> known);
  void write_place(const ir::Operation& operation, IndexId index, std::span<const ir::Expr* const> values);
  // `lookup`: nullptr for a place.
  void write_entry(const ir::Operation& operation, IndexId index, std::span<const ir::Expr* const> values,
                   const PlannedLookup* lookup, bool is_watched);

  // Wider keys are not looked up ahead.
  bool has_usual_key(IndexId index) const;
  bool can_evaluate(const ir::Expr& expr) const;
  // The first round in which the expressions, and the way to the statement at hand, are known.
  uint32_t round_of(std::span<const ir::Expr* const> exprs) const;
  uint32_t round_of(const ir::Expr& expr) const;
  bool is_sometimes(const ir::Expr& expr) const;
  // Whether it has one value from the procedure's beginning to its end.
  bool is_constant(const ir::Expr& expr) const;
  // Whether it may have another value in each iteration of the outermost loop.
  bool is_of_loop(const ir::Expr& expr) const;
  // Something that is looked up depends on them.
  void note_use(std::span<const ir::Expr* const> exprs);
  // Opens a block for what rests on the expressions' variables.
  void open_if_known(std::span<const ir::Expr* const> exprs);
  void learn(uint32_t variable, Knowledge knowledge);
  void forget(std::span<const ir::Statement> statements);
  // Makes the branch at hand agree with the other on what is known after both.
  void settle(const std::vector<Knowledge>& mine, const std::vector<Knowledge>& others);
  std::string flag(uint32_t variable) {
    flags_.insert(variable);
    return "known_" + identifier_of(scope_.procedure.variables[variable].name) + fmt::format("_{}", variable);
  }

  UnitScope scope_;
  const std::span<const ir::Statement> body_;
  FunctionText& text_;
  ExpressionEmitter expressions_;
  AccessEmitter access_;
  const uint32_t round_;
  const LookupRounds* const rounds_;
  uint32_t way_round_ = 0;       // the first in which the way to the statement at hand is known
  uint32_t loops_ = 0;           // around the statement at hand
  std::string iteration_ = "0";  // of the outermost of them
  size_t lookups_ = 0;           // statements that look something up, in whatever round
  std::array<size_t, Prefetcher::kMaxRounds> named_in_round_{};  // at most; in a loop, each counts as two
  std::vector<Knowledge> known_;
  std::map<uint32_t, Variables> sources_;  // by variable: what it was assigned from
  Variables used_;
  Variables flags_;
  // All look-ups, and those that have been named on every way to the statement at hand. A look-up is printed
  // last, when all statements that read its row have added their parts.
  std::deque<PlannedLookup> plan_;
  std::vector<PlannedLookup*> named_;
  size_t written_ = 0;  // look-ups, places of loops and peeks in the text at hand
  // Where inserts will go. Loops insert in one place mostly, so these come before all else.
  std::set<PlannedKey> named_places_;
  std::vector<FunctionText::Part> places_;
  Variables assigned_;       // the variables that the procedure sets anywhere
  Variables loop_assigned_;  // ... in the outermost loop at hand, or as its variable
};

}  // namespace mneme
