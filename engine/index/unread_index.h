// Unread index: stands in for an index that no thread reads until it is filled anew from its table's rows.
//
// For         replay, during which many indexes only cost: those that serve queries and the reads of
//             procedures that are never logged.
// Invariants  it takes every entry and keeps none, so inserts, replacements and erasures succeed. Looking for
//             an entry ends the process: its maker has proved that no thread does. A look-up ahead
//             (Index::find_ahead) finds nothing.
// Threads     as Index says.
#pragma once

#include <memory>

#include "engine/index/index.h"

namespace mneme {

std::unique_ptr<Index> make_unread_index(uint32_t key_words);

}  // namespace mneme
