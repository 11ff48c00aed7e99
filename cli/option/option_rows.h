// What the rows of the option table are made with. Private to the table's files: option_table.cc has the rows
// that several commands share, command_options.cc those of one command.
#pragma once

#include <span>

#include "cli/option/option_checks.h"
#include "cli/option/option_table.h"

namespace mneme {

std::span<const OptionRow> rows_of_commands();
OptionWords workload_words();

inline constexpr bool kShown = true;  // the help shows the default

// The option takes these words, and no other text.
constexpr OptionRow one_of(OptionWords (*words)(), OptionRow row) {
  row.words = words;
  row.has_words_alone = true;
  return row;
}

// The option takes these words, and other texts: its command checks them.
constexpr OptionRow with(OptionWords (*words)(), OptionRow row) {
  row.words = words;
  return row;
}

constexpr OptionRow rare(OptionRow row) {
  row.is_rare = true;
  return row;
}

constexpr OptionRow in(OptionUnit unit, OptionRow row) {
  row.unit = unit;
  return row;
}

}  // namespace mneme
