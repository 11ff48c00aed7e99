#include "procedures/parser/keywords.h"

#include <algorithm>

#include "procedures/parser/tree_reader.h"

namespace mneme {

std::vector<std::string> keywords() {
  std::vector<std::string> words;
  antlr4::ANTLRInputStream empty;
  const MnemeLexer names(&empty);
  const antlr4::dfa::Vocabulary& vocabulary = names.getVocabulary();
  for (size_t type = 0; type <= vocabulary.getMaxTokenType(); ++type) {
    // A keyword's token has the word for its name, with an underscore where C++ has the word too.
    std::string word(vocabulary.getSymbolicName(type));
    if (word.ends_with('_')) word.pop_back();
    antlr4::ANTLRInputStream input(word);
    MnemeLexer lexer(&input);
    lexer.removeErrorListeners();
    if (!word.empty() && lexer.nextToken()->getType() == type) words.push_back(std::move(word));
  }
  std::ranges::sort(words);
  return words;
}

}  // namespace mneme
