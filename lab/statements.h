// Splits a script into its statements.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mneme::lab {

struct ScriptStatement {
  std::string text;   // without the semicolon
  uint32_t line = 1;  // of its first word, counted from 1

  // The laboratory's own statements.
  bool is_sync() const;        // SYNC: all that has been logged is made durable
  bool is_checkpoint() const;  // CHECKPOINT
};

// Statements end with a semicolon, and the last may end with the text. A semicolon in a string, a quoted
// name, a comment or a procedure's body ends none. What is not closed reaches to the end: the engine's parser
// will say so.
std::vector<ScriptStatement> split_script(std::string_view script);

}  // namespace mneme::lab
