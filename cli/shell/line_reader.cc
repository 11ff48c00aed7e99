#include "cli/shell/line_reader.h"

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/ascii.h"

namespace mneme {

namespace {

constexpr int kLinesKept = 1000;

bool is_of_word(char c) {
  return is_ascii_letter(c) || is_ascii_digit(c) || c == '_' || c == '\\' || (c & 0x80) != 0;
}

}  // namespace

std::string_view last_word(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && is_of_word(text[begin - 1])) --begin;
  return text.substr(begin);
}

std::string common_start(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  std::string start = words.front();
  for (const std::string& word : words) {
    const auto differs = [](char a, char b) { return ascii_lower(a) == ascii_lower(b); };
    const auto end = std::ranges::mismatch(start, word, differs).in1;
    start.erase(end, start.end());
  }
  return start;
}

LineReader::LineReader(std::string history_file, Completions completions)
    : history_file_(std::move(history_file)), completions_(std::move(completions)) {
  // What is typed is UTF-8, as all text is.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  editor_ = el_init("mneme", stdin, stderr, stderr);
  history_ = history_init();
  HistEvent event;
  history(history_, &event, H_SETSIZE, kLinesKept);
  history(history_, &event, H_SETUNIQUE, 1);
  if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
  if (editor_ == nullptr) return;
  el_set(editor_, EL_CLIENTDATA, this);
  el_set(editor_, EL_PROMPT, &LineReader::prompt_of);
  el_set(editor_, EL_EDITOR, "emacs");
  el_set(editor_, EL_HIST, history, history_);
  // As the line is edited Ctrl-C and Ctrl-Z are keys, so that no signal meets the editor.
  el_set(editor_, EL_SETTY, "-d", "-isig", nullptr);
  el_set(editor_, EL_ADDFN, "mneme-give-up", "Gives the line up", &LineReader::give_up);
  el_set(editor_, EL_BIND, "^C", "mneme-give-up", nullptr);
  el_set(editor_, EL_ADDFN, "mneme-suspend", "Suspends the program", &LineReader::suspend);
  el_set(editor_, EL_BIND, "^Z", "mneme-suspend", nullptr);
  el_set(editor_, EL_ADDFN, "mneme-complete", "Completes the word", &LineReader::complete);
  el_set(editor_, EL_BIND, "^I", "mneme-complete", nullptr);
  el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
}

LineReader::~LineReader() {
  HistEvent event;
  if (!history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
  history_end(history_);
  if (editor_ != nullptr) el_end(editor_);
}

LineReader::End LineReader::next(const std::string& prompt, std::string& line) {
  if (editor_ == nullptr) return End::kInput;
  prompt_ = prompt;
  is_given_up_ = false;
  // Ctrl-C and Ctrl-D must be keys before the user sees the prompt and types. el_gets() makes them keys only
  // after it has printed the prompt.
  el_set(editor_, EL_PREP_TERM, 1);
  int length = 0;
  const char* const text = el_gets(editor_, &length);
  if (is_given_up_) {
    std::fputs("^C\n", stderr);
    return End::kGivenUp;
  }
  if (text == nullptr || length <= 0) return End::kInput;
  line.assign(text, static_cast<size_t>(length));
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (line.find_first_not_of(" \t") != line.npos) {
    HistEvent event;
    history(history_, &event, H_ENTER, line.c_str());
  }
  return End::kLine;
}

LineReader& LineReader::of(EditLine* editor) {
  void* reader = nullptr;
  el_get(editor, EL_CLIENTDATA, &reader);
  return *static_cast<LineReader*>(reader);
}

char* LineReader::prompt_of(EditLine* editor) {
  return of(editor).prompt_.data();
}

unsigned char LineReader::give_up(EditLine* editor, int) {
  of(editor).is_given_up_ = true;
  return CC_EOF;
}

unsigned char LineReader::suspend(EditLine* editor, int) {
  el_set(editor, EL_PREP_TERM, 0);
  std::raise(SIGTSTP);
  el_set(editor, EL_PREP_TERM, 1);
  return CC_REDISPLAY;
}

unsigned char LineReader::complete(EditLine* editor, int) {
  const LineInfo* const info = el_line(editor);
  const std::string_view text(info->buffer, static_cast<size_t>(info->cursor - info->buffer));
  const std::vector<std::string> words = of(editor).completions_(text);
  if (words.empty()) return CC_REFRESH_BEEP;
  const size_t typed = last_word(text).size();
  std::string more = common_start(words).substr(typed);
  if (words.size() == 1) more += " ";
  if (!more.empty()) return el_insertstr(editor, more.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  std::string all = "\n";
  for (const std::string& word : words) all += word + "\n";
  std::fputs(all.c_str(), stderr);
  return CC_REDISPLAY;
}

}  // namespace mneme
