// Emitter: writes procedures, and slices of them, as C++ that does what the interpreter does, only at once.
//
// Flow        the IR (ir.h) -> emit_cpp() -> native_code.h: the compiler, a shared object -> native_abi.h's
//             functions, which the interpreter calls.
// The text    one translation unit, made to be read: a namespace of column places for each table, then a
//             function template for each unit, the procedure's variables under their own names, each
//             statement under its SQL. It includes procedures/native/native_runtime.h and what that includes,
//             and is compiled with the flags of the program that loads it, -I<source root> and
//             -ffp-contract=off; undefined symbols are the program's.
// It exports  extern "C" const mneme::NativeFunctions mneme_native_units[], in the order of `units`, and
//             extern "C" const uint32_t mneme_native_unit_count.
// Invariants  the same program and units give the same text. A procedure's own body runs on a
//             Transaction and on any rows; a slice on any rows, or on replay's alone (NativeUnit).
#pragma once

#include <span>
#include <string>

#include "engine/schema/schema.h"
#include "procedures/binder/program.h"
#include "procedures/interpreter/native_abi.h"

namespace mneme {

std::string emit_cpp(const Program& program, const Schema& schema, std::span<const NativeUnit> units);

}  // namespace mneme
