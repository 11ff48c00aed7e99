#include "measurement/machine/command_line.h"

#include <fstream>

namespace mneme {
namespace {

constexpr std::string_view kPlainCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./,:=@%+";

}  // namespace

std::string command_line_text(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ' ';
    if (!word.empty() && word.find_first_not_of(kPlainCharacters) == std::string::npos) {
      text += word;
      continue;
    }
    text += '\'';
    for (const char each : word) text += each == '\'' ? std::string("'\\''") : std::string(1, each);
    text += '\'';
  }
  return text;
}

std::vector<std::string> command_line_words(std::string_view text) {
  std::vector<std::string> words;
  bool is_in_word = false;
  bool is_quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ' && !is_quoted) {
      is_in_word = false;
      continue;
    }
    if (!is_in_word) words.emplace_back();
    is_in_word = true;
    if (text[i] == '\'') {
      is_quoted = !is_quoted;
    } else if (text[i] == '\\' && !is_quoted && i + 1 < text.size()) {
      words.back() += text[++i];
    } else {
      words.back() += text[i];
    }
  }
  return words;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace mneme
