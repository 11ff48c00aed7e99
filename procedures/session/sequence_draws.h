// Sequence draws: nextval(), currval(), lastval() and setval() of one session: numbers from the database's
// counters, and the sequences' rows, which its transaction writes; and gen_random_uuid().
//
// Flow        expression.h -> apply() -> engine/transaction/number_sources.h, and the row through the
//             transaction -> committed() after its commit, or rolled_back()
// Threads     the session's.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/transaction/database.h"
#include "engine/transaction/transaction.h"
#include "procedures/values/expression.h"

namespace mneme {

// What a client has drawn, for currval() and lastval().
struct LastDrawn {
  std::map<std::string, int64_t> numbers;  // by sequence
  std::string sequence;                    // the last one
};

class SequenceDraws final : public Sequences {
 public:
  // `last`: what other transactions of the client's have drawn, too; nullptr: there are none.
  SequenceDraws(Database& database, Transaction& transaction, LastDrawn* last = nullptr)
      : database_(database), transaction_(transaction), last_(last == nullptr ? own_last_ : *last) {}
  SequenceDraws(const SequenceDraws&) = delete;
  SequenceDraws& operator=(const SequenceDraws&) = delete;

  bool apply(ir::Function function, TableId sequence, std::span<const Value> args, EvaluationContext& context,
             Value& result) override;

  // Whether a transaction that must write nothing runs: then numbers are not drawn.
  void set_read_only(bool is_read_only) { is_read_only_ = is_read_only; }

  // The transaction has ended so. What it wrote of sequences counts, or does not.
  void committed();
  void rolled_back() {
    written_.clear();
    kept_texts_.clear();
    met_conflict_ = false;
  }
  bool went_back() override;
  bool met_conflict() const override { return met_conflict_; }

  // While `numbers` is there, what is drawn is added to it; or, `again`, taken from its front, as the same
  // statement runs once more. nullptr: neither.
  void keep_numbers(std::deque<Value>* numbers, bool again = false) {
    kept_ = numbers;
    gives_again_ = again;
  }

 private:
  // Numbers that are drawn ahead of a row's next write.
  static constexpr int64_t kAhead = 32;

  struct Written {
    std::shared_ptr<NumberSource> counter;
    int64_t draws;  // of the counter, that the row covers
    TableId sequence;
    int64_t last;
    bool is_called;
  };

  bool draw(ir::Function function, TableId sequence, std::span<const Value> args, EvaluationContext& context,
            Value& result);
  bool next(TableId sequence, EvaluationContext& context, Value& result);
  bool set(TableId sequence, std::span<const Value> args, EvaluationContext& context, Value& result);
  // Reads what the row says, where nobody has yet.
  AccessStatus learn(TableId sequence, NumberSource& counter);
  AccessStatus find(TableId sequence, RowRef& row);
  AccessStatus write(TableId sequence, int64_t last, bool is_called);
  bool refuse(AccessStatus status, EvaluationContext& context);

  Database& database_;
  Transaction& transaction_;
  bool is_read_only_ = false;
  bool met_conflict_ = false;
  std::vector<Written> written_;
  std::deque<Value>* kept_ = nullptr;
  bool gives_again_ = false;
  std::deque<std::string> kept_texts_;  // of the transaction
  LastDrawn own_last_;
  LastDrawn& last_;
};

}  // namespace mneme
