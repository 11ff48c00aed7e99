// Change text: the rows of a tuple record as text, for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/schema/change_codec.h"

namespace mneme {

// A line a change, as: update stock (s_w_id 1, s_i_id 17, s_quantity 31, ...); of an erased row the primary
// key, of an update that holds changed columns alone the key and those. Where the record has locations, each
// line ends with one: at slot 812, after LSN 4711 (or the erasure at LSN 4711, the checkpoint's, none).
// Returns nullopt if the bytes are no changes of this schema's tables (engine/schema/change_codec.h).
std::optional<std::vector<std::string>> print_changes(const Schema& schema, const ChangeCodec& codec,
                                                      const LoggedChanges& changes);

}  // namespace mneme
