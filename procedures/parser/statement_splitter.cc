#include "procedures/parser/statement_splitter.h"

#include <algorithm>

#include "base/ascii.h"

namespace mneme {

namespace {

bool is_word(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_';
}

// The dollar quote at the front of `text`; empty: there is none.
std::string_view dollar_quote(std::string_view text) {
  if (text.empty() || text[0] != '$') return {};
  size_t end = 1;
  while (end < text.size() && is_word(text[end])) ++end;
  const bool begins_with_digit = text.size() > 1 && is_ascii_digit(text[1]);
  if (end == text.size() || text[end] != '$' || begins_with_digit) return {};
  return text.substr(0, end + 1);
}

}  // namespace

void StatementSplitter::begin_statement() {
  if (begun_) return;
  begun_ = true;
  begin_ = at_;
  begin_line_ = line_;
}

bool StatementSplitter::step() {
  const char c = pending_[at_];
  size_t length = 1;
  bool ends = false;
  switch (state_) {
    case State::kPlain:
      if (at("--")) {
        state_ = State::kLineComment;
      } else if (at("/*")) {
        state_ = State::kBlockComment;
        comment_depth_ = 1;
        length = 2;
      } else if (!is_ascii_blank(c)) {
        begin_statement();
        ends = c == ';';
        if (c == '\'') state_ = State::kString;
        if (c == '"') state_ = State::kQuotedName;
        const std::string_view quote = dollar_quote(std::string_view(pending_).substr(at_));
        if (!quote.empty() && (at_ == 0 || !is_word(pending_[at_ - 1]))) {
          state_ = State::kBody;
          body_quote_ = quote;
          length = quote.size();
        }
      }
      break;
    case State::kString:
      if (c == '\'') state_ = State::kPlain;  // a doubled quote opens the string again
      break;
    case State::kQuotedName:
      if (c == '"') state_ = State::kPlain;
      break;
    case State::kLineComment:
      if (c == '\n') state_ = State::kPlain;
      break;
    case State::kBlockComment:
      if (at("/*")) {
        ++comment_depth_;
        length = 2;
      } else if (at("*/")) {
        if (--comment_depth_ == 0) state_ = State::kPlain;
        length = 2;
      }
      break;
    case State::kBody:
      if (at(body_quote_)) {
        state_ = State::kPlain;
        length = body_quote_.size();
      }
      break;
  }
  if (c == '\n') ++line_;
  at_ += length;
  return ends;
}

std::optional<StatementSplitter::Statement> StatementSplitter::next() {
  while (at_ < pending_.size()) {
    if (step()) return cut(at_);
  }
  return std::nullopt;
}

std::optional<StatementSplitter::Statement> StatementSplitter::finish() {
  if (!begun_) return std::nullopt;
  state_ = State::kPlain;
  return cut(pending_.size());
}

StatementSplitter::Statement StatementSplitter::cut(size_t end) {
  Statement statement{pending_.substr(begin_, end - begin_), begin_line_};
  at_ = end;
  begun_ = false;
  // Not for each statement of a long text: what has been read is moved over once it is the larger part.
  if (at_ > pending_.size() / 2) {
    pending_.erase(0, at_);
    at_ = 0;
  }
  return statement;
}

}  // namespace mneme
