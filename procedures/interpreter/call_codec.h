// Call codec: a call as the payload of a command record, and back.
//
//     varint  procedure
//     bitmap  one bit an argument, 1 for NULL, ceil(n / 8) bytes
//     then each argument that is not NULL:
//       boolean           a byte, 0 or 1
//       integer, timestamp, numeric   zigzag varint (numeric: of the scaled integer, up to 128 bits)
//       double            8 bytes
//       string            varint length, bytes
//       array             varint 2 * count + (1 if an element is NULL), then the elements' bitmap if so, then
//                         the elements that are not NULL
//     then, where the run has noted one, the call's hint (call_hints.h)
//
// Invariants  the encoding of a call and its arguments is unique: decode refuses what encode would not have
//             written.
// Errors      Bytes from disk are the world: decode_call answers with a sentence for any bytes at all.
//             check_call says what is wrong with a client's call before anything of it runs.
#pragma once

#include "base/bytes.h"
#include "base/memory/arena.h"
#include "base/result.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/call.h"

namespace mneme {

// Checks a call against its procedure: the count of arguments, and of each that it is an array where its type
// is one, and that a statement could have given it: each value was made for the type (Value::Kind), lies in
// its range, is valid UTF-8 without zero bytes and not longer than declared. Where it is refused, `code` gets
// PostgreSQL's SQLSTATE.
Result<void> check_call(const Program& program, const Call& call, const char** code = nullptr);

// Appends the encoding of a checked call.
void encode_call(const Program& program, const Call& call, ByteBuffer& out);

// Appends a call's results (Session, Interpreter): one an INOUT parameter. Equal results have equal
// encodings.
void encode_results(const ir::Procedure& procedure, std::span<const Argument> results, ByteBuffer& out);

// Text points into `payload`; arrays and hints lie in the arena. `call`'s vector is reused.
Result<void> decode_call(const Program& program, ByteSpan payload, Arena& arena, Call& call);

// The type of argument `n`, hidden ones included; their count is argument_count().
size_t argument_count(const ir::Procedure& procedure);
const Type& argument_type(const ir::Procedure& procedure, size_t n);

}  // namespace mneme
