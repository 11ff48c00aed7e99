// Value format: values as PostgreSQL's protocol carries them, in text and in binary.
//
// Text        as PostgreSQL's output and input functions have it (procedures/values/value_text.h).
// Binary      as its send and receive functions have it: integers in network order; numeric as digits to the
//             base 10,000; a timestamp as microseconds since 2000; arrays of one dimension.
// Errors      bytes from clients: any bytes at all give a value of the type, or an SqlError.
#pragma once

#include <cstdint>

#include "base/bytes.h"
#include "base/memory/arena.h"
#include "engine/schema/type.h"
#include "procedures/interpreter/call.h"
#include "procedures/ir/sql_error.h"
#include "server/protocol/wire.h"

namespace mneme {

enum class ValueFormat : uint8_t { kText, kBinary };

// Appends the length and the bytes of a value; of NULL the length -1.
void write_value(const Type& type, const Argument& value, ValueFormat format, MessageWriter& out);

// Reads the bytes of a value that is not NULL. Text and arrays lie in the arena. A numeric is read with all
// of its digits after the point: `scale` gets the number of them, or the type's where that is more, and
// the value has it.
[[nodiscard]] bool read_value(const Type& type, ByteSpan bytes, ValueFormat format, Arena& arena,
                              Argument& value, uint8_t& scale, SqlError& error);

}  // namespace mneme
