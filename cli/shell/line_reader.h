// LineReader: reads what a person types at a terminal, a line at a time, with editing, a history of lines
// that a file keeps, and completion by TAB (libedit).
//
// Ctrl-C gives the line up. While no line is read the terminal is as it was before: Ctrl-C is a signal then.
// Waiting     next(): for the person.
// Threads     one.
#pragma once

#include <histedit.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mneme {

class LineReader {
 public:
  enum class End { kLine, kGivenUp, kInput };
  // Returns what the last word of the text may become. The words begin with it, whatever their case.
  using Completions = std::function<std::vector<std::string>(std::string_view text)>;

  // `history_file`: read now, and written again at the end. Empty: there is none.
  LineReader(std::string history_file, Completions completions);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  // Puts the next line without its end into `line`. kGivenUp: Ctrl-C ended it. kInput: there is no more.
  End next(const std::string& prompt, std::string& line);

 private:
  static LineReader& of(EditLine* editor);
  static char* prompt_of(EditLine* editor);
  static unsigned char give_up(EditLine* editor, int key);
  static unsigned char suspend(EditLine* editor, int key);
  static unsigned char complete(EditLine* editor, int key);

  const std::string history_file_;
  const Completions completions_;
  std::string prompt_;
  bool is_given_up_ = false;
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
};

// The part of `text` that completion replaces: its last word.
std::string_view last_word(std::string_view text);

// What all words have in common, character by character, whatever their case; as the first one has it.
std::string common_start(const std::vector<std::string>& words);

}  // namespace mneme
