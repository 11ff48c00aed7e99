// Marked body: statements as one run treats them, said beside the IR.
//
// What        A bound procedure performs each of its operations. The slices that replay runs perform some of
//             them, recall what others found, or tell only which rows they would touch; a query from a client
//             keeps the rows it finds. What a run is to do with a statement is its mark, which stands in a
//             table beside the statements.
// Shapes      Statement::mark is the number of the statement's mark in the table, from 1; 0 is a statement
//             that is run as it stands. A table belongs to one list of statements, bodies of loops and
//             branches included.
// Threads     constant once made.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "procedures/ir/ir.h"

namespace mneme::ir {

// How a statement of kind kOperation or kForQuery treats its operation.
enum class OperationMode : uint8_t {
  kPerform,           // on the rows; outputs go to the variables
  kPerformAndRecord,  // and outputs are kept for later slices of the same transaction
  kRecall,            // not performed: the outputs that an earlier slice recorded go to the variables
  kLocate,            // not performed: the lanes of one access's rows are reported, for dispatch at replay
  kTell,              // not performed: the key of the row is told, to be noted or checked (call_hints.h)
};

struct StatementMark {
  OperationMode mode = OperationMode::kPerform;
  // The outermost FOR loop that holds all operations that the body performs, where no iteration needs
  // another: a run may be asked for one iteration of this loop alone.
  bool iterations_apart = false;
  uint32_t access = 0;  // kLocate: which of the operation's table accesses; one statement an access
  // kLocate: the values of the lane columns, in their order. kTell: those of told_key()
  // (analyzer/lane_plan.h). Neither can fail where the operation's own key could not.
  std::vector<Expr> lane_key{};
};

// A table of marks that is owned elsewhere.
class StatementMarks {
 public:
  StatementMarks() = default;
  explicit StatementMarks(std::span<const StatementMark> marks) : marks_(marks) {}

  const StatementMark& of(const Statement& statement) const {
    DCHECK(statement.mark <= marks_.size());
    return statement.mark == 0 ? kAsItStands : marks_[statement.mark - 1];
  }

 private:
  inline static const StatementMark kAsItStands;

  std::span<const StatementMark> marks_;
};

struct MarkedBody {
  std::vector<Statement> statements;
  std::vector<StatementMark> marks;

  bool empty() const { return statements.empty(); }
  // Marks a statement that stands, or will stand, in `statements`.
  void mark(Statement& statement, StatementMark mark) {
    marks.push_back(std::move(mark));
    statement.mark = static_cast<uint32_t>(marks.size());
  }
};

// A body that is owned elsewhere: a procedure's own, which has no marks, or a marked one.
struct BodyView {
  BodyView() = default;
  BodyView(const std::vector<Statement>& body) : statements(body) {}  // NOLINT(google-explicit-constructor)
  BodyView(const MarkedBody& body)                                    // NOLINT(google-explicit-constructor)
      : statements(body.statements), marks(body.marks) {}
  BodyView(std::span<const Statement> list, StatementMarks its_marks) : statements(list), marks(its_marks) {}

  // A list of statements that stands in one of these.
  BodyView inner(const NodeList<Statement>& list) const { return {list, marks}; }

  std::span<const Statement> statements;
  StatementMarks marks;
};

}  // namespace mneme::ir
