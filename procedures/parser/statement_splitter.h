// StatementSplitter: cuts the text of a script, or of what somebody types, into statements at their
// semicolons.
//
// Rule        a semicolon ends a statement where it stands in no string, no quoted name, no comment and no
//             dollar-quoted body. Blanks and comments before a statement are dropped.
// Invariants  text is added by whole lines; the statements together are all of it but what is dropped.
// Not here    whether a statement means anything (parser.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mneme {

class StatementSplitter {
 public:
  struct Statement {
    std::string text;  // with its semicolon, but for one that finish() gave
    size_t line = 1;   // of all text added, where it begins
  };

  // Whole lines, each with its end.
  void add(std::string_view lines) { pending_.append(lines); }
  std::optional<Statement> next();
  // Returns the rest when the text has ended: a statement without its semicolon.
  std::optional<Statement> finish();

  // A statement has begun that has not ended yet.
  bool in_statement() const { return begun_; }
  // The text ends inside of a string, a quoted name, a comment or a body.
  bool in_quotes() const { return state_ != State::kPlain; }

 private:
  enum class State { kPlain, kString, kQuotedName, kLineComment, kBlockComment, kBody };

  // Steps over what stands at at_: a character, or a mark of two characters or more. True: a semicolon ended
  // there.
  bool step();
  bool at(std::string_view mark) const { return std::string_view(pending_).substr(at_, mark.size()) == mark; }
  void begin_statement();
  Statement cut(size_t end);

  std::string pending_;
  size_t at_ = 0;
  State state_ = State::kPlain;
  size_t comment_depth_ = 0;
  std::string body_quote_;  // $$ or $word$
  bool begun_ = false;
  size_t begin_ = 0;
  size_t line_ = 1;  // of at_
  size_t begin_line_ = 1;
};

}  // namespace mneme
